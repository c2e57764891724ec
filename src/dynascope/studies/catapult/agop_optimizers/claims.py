"""The rank correlation over optimisers, on every task."""

from dynascope.core.sources import zhu2024
from dynascope.studies.catapult.agop_multiple.claims import listed
from dynascope.studies.catapult.agop_optimizers import runs
from dynascope.studies.catapult.agop_optimizers.runs import RATES, study
from dynascope.studies.catapult.feature_tables import PICTURES, correlation
from dynascope.studies.comparisons import at_least
from dynascope.studies.nodes import case

for _name, _least in zip(RATES, (0.8, 0.7, 0.7), strict=True):
    study.claim(
        f"{_name}-follows",
        f"Over the seven optimisers the alignment on the {_name} target ranks as the test loss "
        f"does, the other way round: their rank correlation is at least {_least:g}.",
        zhu2024("Fig. 4.11, Table C.1", how="derived; puts a number to"), correlation,
        at_least(_least, "ours"), on=runs.tables[_name],
        fails_on=case("planted: the alignment falls with the test loss", runs.made["opposite"]),
        holds_on=case("planted: seven rows that follow", runs.made["follows"]),
        note=lambda table: listed(table).replace("number of raises", "optimiser"),
    )  # fmt: skip

for _name, _panel in {"svhn": "c", "celeba": "d"}.items():
    study.claim(
        f"{_name}-follows",
        f"Over the seven optimisers the alignment on {PICTURES[_name][0]} ranks as the test error "
        "does, the other way round: their rank correlation is at least 0.7.",
        zhu2024(f"Fig. 4.11 {_panel}, Table C.1", how="derived; puts a number to"), correlation,
        at_least(0.7, "ours"), on=runs.on_pictures[_name]["alignment"],
        fails_on=case("planted: the alignment falls with the test loss", runs.made["opposite"]),
        holds_on=case("planted: seven rows that follow", runs.made["follows"]),
    )  # fmt: skip

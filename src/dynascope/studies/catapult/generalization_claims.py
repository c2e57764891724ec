"""The claims that are made panel by panel or group by group, and what decides them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dynascope.core.records import Measured
from dynascope.data import absence, there
from dynascope.studies.base import Study, claim
from dynascope.studies.catapult.generalization_gains import (
    comparable,
    difference,
    gains,
    linear_gain,
    table,
    value,
)
from dynascope.studies.catapult.generalization_runs import Panel
from dynascope.studies.catapult.generalization_settings import PANELS, change_of
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    compare,
    not_applicable,
    single,
)

S = TypeVar("S", bound=Study)
Found = Mapping[str, Panel]
GAIN = 0.02  # what counts as better, 004 Fig. 3.4 read as a share of the test loss
RANGE = 1.5  # in units of the critical rate
AGREE = 0.03  # between the three models below the critical rate, at width 2,000
GAINED = (
    "some rate from 1 to 1.5 times the critical one lowers the best test loss of network and "
    "quadratic model by 2 % or more"
)
TOO_NARROW = "the seeds' critical rates differ too much for common rates: widen the network"
LEFT_OUT = "this scale leaves it out: use --scale laptop"


def with_gain_claims(study: type[S]) -> type[S]:
    """A class decorator: one claim for each panel that is shown, `gain-` and its name."""
    for panel, (where, source) in PANELS.items():
        setattr(study, f"gain_{panel.replace('-', '_')}", _gain_claim(panel, where, source))
    return study


def _gain_claim(panel: str, where: str, source: str) -> Callable:
    @claim(f"gain-{panel.replace('_', '-')}", f"{where}, {GAINED}.", source)
    def gain(study: Any, found: Found) -> Evidence:
        if panel in found:
            return _gain(found[panel])
        data = study.setting(panel).data
        return not_applicable(LEFT_OUT if data is None or there(data) else absence(data))

    return gain


def _gain(panel: Panel) -> Evidence:
    """The smaller of the two models' best gains; the linear model must have none."""
    if not comparable(panel):
        return not_applicable(TOO_NARROW)
    past = (panel.ratio.min(axis=1) > 1) & (panel.ratio.max(axis=1) <= RANGE)
    best = [
        max((g for _, g in gains(panel, kind, past)), key=value, default=Measured(None))
        for kind in ("network", "quadratic")
    ]
    control = ("the linear model", linear_gain(panel))
    return compare(at_least(GAIN), min(best, key=value), control, table(panel))


def same_claim(change: str, slug: str, words: str, source: str) -> Callable:
    """The claim that the three models agree below critical, over the panels with one change."""

    @claim(slug, words, source)
    def same(study: Any, found: Found) -> Evidence:
        here = {name: panel for name, panel in found.items() if change_of(name) == change}
        return _same(here) if here else not_applicable("no panel of this kind is among the panels")

    return same


def _same(found: Found) -> Evidence:
    """Largest difference over panels and rates; above the critical rate it must be larger."""
    some = [panel for panel in found.values() if comparable(panel)]
    if not some:
        return not_applicable(TOO_NARROW)
    below = [difference(p, p.ratio.max(axis=1) < 1) for p in some]
    above = [difference(p, p.ratio.min(axis=1) > 1) for p in some]
    shown = "; ".join(f"{p.title} {v:.2%}" for p, v in zip(some, below, strict=True))
    control = ("above the critical rate", single(max(above)))
    return compare(at_most(AGREE), single(max(below)), control, f"{shown}.")

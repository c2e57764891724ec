"""The page of contradicted statements: only what a document says, with numbers and control."""

from dataclasses import replace

from dynascope.core.records import Claim, Control, Measured
from dynascope.core.sources import documents
from dynascope.report.contradicted import contradicted, contradicted_page

from .example import example

PRINTED = Claim(
    "swing-by/rare", "It is rare | with four.", "yang2025 Fig. 5", Measured(0.5, 0.1, 8, 0.4, 0.6),
    {"low": None, "high": 0.2}, "fails", Control("no clusters", Measured(0.9, None, 8), "fails"),
    positive=Control("a planted curve", Measured(0.1, None, 8), "holds"), origin="printed",
    quantity="Share of seeds.",
)  # fmt: skip


def page(*claims):
    return contradicted_page([replace(example(), claims=claims)], documents)


def test_a_row_has_statement_numbers_and_the_case_in_which_it_holds():
    said = page(PRINTED)
    assert said.startswith("# Contradicted statements")
    (row,) = [line for line in said.splitlines() if "swing-by/rare" in line]
    for part in (
        r"It is rare \| with four.", "yang2025 Fig. 5", "Share of seeds. 0.50", "≤ 0.2",
        "a planted curve: 0.1", "scale laptop",
    ):  # fmt: skip
        assert part in row
    assert "(yang2025)" in said and said.endswith("1 studies: `swing-by` (laptop).\n")


def test_only_what_a_document_says_and_is_refuted():
    others = (
        replace(PRINTED, verdict="holds"), replace(PRINTED, verdict="undecided"),
        replace(PRINTED, exploratory=True), replace(PRINTED, origin="ours"),
    )  # fmt: skip
    assert not contradicted([replace(example(), claims=others)])
    assert "rare" not in page(replace(PRINTED, source="corrects yang2025 Fig. 5"))


def test_an_earlier_page_speaks_for_the_studies_that_have_no_result():
    earlier = page(PRINTED, replace(PRINTED, id="swing-by/other"))
    assert contradicted_page([], documents, earlier) == earlier
    found = replace(example(), study="polyak", claims=(replace(PRINTED, id="polyak/rare"),))
    both = contradicted_page([found], documents, earlier)
    assert [both.count(f"`{id_}`") for id_ in ("swing-by/rare", "polyak/rare")] == [1, 1]
    assert both.endswith("2 studies: `polyak` (laptop), `swing-by` (laptop).\n")
    anew = contradicted_page([replace(example(), claims=(PRINTED,))], documents, earlier)
    assert anew == page(PRINTED)  # what fails no more is gone

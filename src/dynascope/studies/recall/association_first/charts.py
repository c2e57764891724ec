"""Probabilities of name, subject and "the" along training, and the rank of "the"."""

from dynascope.core.charts import Chart, Line, Panel
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.recall.association_first import runs
from dynascope.studies.recall.association_first.claims import said
from dynascope.studies.recall.association_first.runs import Settings, study
from dynascope.studies.recall.drawing import LOG_STEP, log_steps


@study.chart(runs.english, headline=True)
def headline(s: Settings, run: Run) -> Chart:
    """p("the") and p(name) at prompts of indirect objects."""
    return headline_chart(
        'Stand-in: p("the") where a name is asked for', ("step", run["step"].values),
        ("probability", said(run, "held_out", "the").mean(0)),
        ("the name", said(run, "held_out", "answer").mean(0)), note='measured: "the"',
    )  # fmt: skip


@study.chart(runs.english)
def order(s: Settings, run: Run) -> Chart:
    """Figs. 4.13 and C.1, on the stand-in."""
    steps = log_steps(run)

    def line(prompt: str, part: str, label: str, group: int) -> Line:
        values = said(run, prompt, part)
        return Line(
            steps, values.mean(0), label, group=group, low=values.min(0), high=values.max(0)
        )

    objects = (
        line("held_out", "answer", "indirect object", 0),
        line("subjects", "answer", "subject", 1),
        line("held_out", "the", '"the"', 2),
    )
    facts = (line("facts", "answer", "country", 0), line("facts", "the", '"the"', 2))
    rank = (line("prepositions", "rank_of_the", "", 2),)
    return Chart(
        "order", 'When "the" and names are learned: a stand-in trained here',
        "Generated English, means over seeds with smallest and largest. Left: prompts of indirect "
        'objects. Middle: facts. Right: rank of "the" after prepositions; 1 is the top.',
        (Panel(objects, "Indirect objects", LOG_STEP, "probability", "log"),
         Panel(facts, "Facts", LOG_STEP, "probability", "log"),
         Panel(rank, "After prepositions", LOG_STEP, 'rank of "the"', "log", "log")),
    )  # fmt: skip

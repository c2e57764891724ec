"""The race of the logarithms with the predicted lines over it, and how the limit is reached."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.studies.headlines import headline_chart
from dynascope.studies.rank_increase.rank_proof import runs
from dynascope.studies.rank_increase.rank_proof.phases import Race, Traced, parts
from dynascope.studies.rank_increase.rank_proof.runs import Settings, sizes, study
from dynascope.studies.rank_increase.rank_proof.smoothness import DISTANCES, Quotients
from dynascope.studies.rank_increase.rank_proof.technical import part_b
from dynascope.theories import Stages

TIME = "t / log(1 / alpha)"
SHOWN = 8  # coordinates of a panel


def predicted(stages: Stages, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Corners of b of a coordinate."""
    return np.concatenate([[0.0], stages.times]), stages.log_weights[:, i]


Draws = dict[int, Race]


def _shown(draws: Draws) -> tuple[int, Race]:
    """The draw that is shown, with its seed."""
    return next(iter(draws.items()))


@study.chart(runs.toy, headline=True)
def headline(s: Settings, draws: Draws) -> Chart:
    """The winner of the first stage of the first draw."""
    seed, toy = _shown(draws)
    flow, i = toy.flows[-1], int(toy.stages.order[0])
    until = toy.stages.times[-1]
    rows = flow.times <= until
    times = flow.times[rows]
    return headline_chart(
        f"log_alpha of u + v of the first winner, from a start of size {flow.alpha:g}, seed {seed}",
        (TIME, times), ("log_alpha(u + v)", flow.log_sum[rows, i] / np.log(flow.alpha)),
        ("Algorithm 1", np.interp(times, *predicted(toy.stages, i))),
        note="It goes straight from 1 to an end of the race, 0 or 2, and stays.",
    )  # fmt: skip


def _race(flow: Traced, stages: Stages) -> Panel:
    """Logarithms of the winners and of some losers."""
    losers = [i for i in range(flow.log_sum.shape[1]) if i not in set(stages.order)]
    chosen = [*dict.fromkeys(stages.order.tolist()), *losers][:SHOWN]
    marks: list = []
    for group, i in enumerate(chosen):
        seen = flow.log_sum[:, i] / np.log(flow.alpha)
        marks.append(Line(flow.times, seen, f"{i}", group=group))
        marks.append(Line(*predicted(stages, i), "", "theory", group))
    ends = (Reference("y", 0.0, "u = v of size 1"), Reference("y", 2.0, "u = -v of size 1"))
    title = f"start of size {flow.alpha:g}"
    return Panel((*marks, *ends), title, TIME, "log_alpha(u + v)")


@study.chart(runs.toy)
def logarithms(s: Settings, draws: Draws) -> Chart:
    """Lemma C.6: the race of the first draw at the largest scale and at the smallest."""
    seed, toy = _shown(draws)
    return Chart(
        "race", "All weights race to size one, and one arrives",
        "Logarithms of u + v to the base alpha, with the b of Algorithm 1 (dashed): straight "
        "lines from 1 that turn where a winner reaches 0 or 2. The larger the start, the more "
        f"the weights' own sizes blur them. Seed {seed}.",
        (_race(toy.flows[0], toy.stages), _race(toy.flows[-1], toy.stages)),
    )  # fmt: skip


def _size_of_others(race: Race) -> list[tuple[float, float]]:
    """log(1 / alpha) and the largest losing weight as the first part A ends, in log10."""
    rows = []
    for flow in race.flows:
        found = parts(flow, race.stages)
        if not found:
            continue
        first = found[0]
        off = race.stages.products[first.k] == 0
        off[race.stages.order[first.k]] = False
        last = first.rows[-1]
        rows.append((flow.length, float((sizes(flow)[last][off] * np.log10(flow.alpha)).max())))
    return rows


def _errors(toy: Race) -> list[tuple[float, float]]:
    """log(1 / alpha) and the largest relative error of an escape time."""
    found = [(flow, parts(flow, toy.stages)) for flow in toy.flows]
    return [(flow.length, max(abs(p.ends / toy.stages.times[p.k] - 1) for p in own))
            for flow, own in found if own]  # fmt: skip


def _lengths(toy: Race) -> list[tuple[float, float]]:
    """log(1 / alpha) and the largest length of a part B."""
    waits = [(flow, part_b(flow, toy.stages)) for flow in toy.flows]
    return [(flow.length, max((b - a) * flow.length for a, b in own.values()))
            for flow, own in waits if own]  # fmt: skip


def _lines(rows: list[list[tuple[float, float]]]) -> list[Line]:
    """A line for each draw."""
    drawn = [one for one in rows if one]
    return [Line([x for x, _ in one], [y for _, y in one], "" if k else "one draw", group=0)
            for k, one in enumerate(drawn)]  # fmt: skip


@study.chart(runs.toy)
def limits(s: Settings, draws: Draws) -> Chart:
    """Lemmas C.7 to C.10: errors and lengths against log(1 / alpha), in all draws."""
    races = [one for one in draws.values() if parts(one.flows[-1], one.stages)]
    error, loser, length = (
        _lines([numbers(one) for one in races]) for numbers in (_errors, _size_of_others, _lengths)
    )
    x = "log(1 / alpha)"
    return Chart(
        "limits", "What the proof says of small starts",
        "A line for each draw. Left: the error of escape times falls like 1 / log(1 / alpha). "
        "Middle: the largest weight that loses the first race is a power of alpha: a straight line "
        "down. Right: the time from a new weight of size rho to the next plateau stays what it is.",
        (Panel(tuple(error), "Error of escape times", x, "relative error", "log", "log"),
         Panel(tuple(loser), "Largest losing weight", x, "log10 of its size"),
         Panel((*length, Reference("y", 0.0)), "Length of part B", x, "true time")),
    )  # fmt: skip


@study.chart(runs.quotients)
def smooth(s: Settings, draws: dict[str, dict[int, Quotients]]) -> Chart:
    """Lemmas D.5 to D.7: quotients against the distance."""
    found = {name: next(iter(one.values())) for name, one in draws.items()}
    seed, panels = next(iter(draws["squared error"])), []
    for title, names in (
        ("Losses of the output", ("squared error", "cross-entropy", "absolute error")),
        ("Networks", ("attention head", "linear network", "rectified unit")),
        ("Objectives", ("toy problem", "linear problem", "absolute deviation")),
    ):
        lines = [
            Line(DISTANCES, found[name].largest.max(axis=0), name,
                 "control" if k == 2 else "measured", None if k == 2 else k)
            for k, name in enumerate(names)
        ]  # fmt: skip
        panels.append(Panel(tuple(lines), title, "distance", "largest quotient", "log", "log"))
    return Chart(
        "smoothness", "Bounded quotients, but for kinks",
        "The largest difference quotient of a function and its derivatives over pairs of points "
        "at a distance. What is smooth stays level; what has a kink (grey) grows to the left. "
        f"Seed {seed}.",
        tuple(panels),
    )  # fmt: skip

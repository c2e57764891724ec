"""The trajectory in space, who is late, true traps, and how far the weakest entry falls."""

import numpy as np

from dynascope.core.charts import Bars, Chart, Line, Mark, Panel, Path, Points, Reference, Role
from dynascope.core.run import Run
from dynascope.studies.headlines import headline_chart
from dynascope.studies.measures import share
from dynascope.studies.swing_by import drawing
from dynascope.studies.swing_by.drawing import curve, loss_panel, over_log_time
from dynascope.studies.swing_by.events import Shown
from dynascope.studies.swing_by.sim_failure import runs
from dynascope.studies.swing_by.sim_failure.claims import below_half, run_on, text
from dynascope.studies.swing_by.sim_failure.runs import Settings, study

MOST_POINTS = 300


@study.chart(runs.shown, runs.figure, headline=True)
def headline(s: Settings, shown: Shown, figure: dict[str, Run]) -> Chart:
    """The shown seed, through the end of the figure and on."""
    times, loss = shown.run["time"].values, shown.run["test_loss"].values[0]
    drawn = (times <= 2.5 * s.end) & (loss < 0.5)
    stuck, still = (below_half(figure[n]).mean() for n in ("program", "program, run on"))
    return headline_chart(
        f"Test loss, Fig. 10, seed {shown.seed}; the figure ends at {s.end:g}",
        ("gradient-flow time", times[drawn]), ("test loss", loss[drawn]),
        ("theory", shown.theory["test_loss"].values[0][drawn]),
        note=f"{stuck:.0%} of {s.seeds} starts seem stuck when the figure ends, {still:.0%} at "
        f"{s.longer} times that length (the loss starts at {loss[0]:.2g}; shown below 0.5)",
    )  # fmt: skip


@study.chart(runs.shown, text)
def trajectory(s: Settings, shown: Shown, text: Run) -> Chart:
    """Fig. 10: the output of the shown seed in space, and its loss, to the end and beyond."""
    run, theory, means = shown.run.isel(seed=0), shown.theory.isel(seed=0), s.task.means
    end = int(np.searchsorted(run["time"].values, s.end, side="right"))
    output = run["output_at"].values
    places = (
        _path(output[:end], "as far as the figure goes", 0, arrows=True),
        _path(output[end - 1 :], "run on", 1, arrows=True),
        _path(theory["output_at"].values, "theory", None, "theory"),
        _path(np.array([(0.0, *means[1:])]), "false corner (0, mu2, mu3)", 2),
        _path(np.array([means]), "test point", 3),
        *(_path(corner[None], "training clusters", 4) for corner in np.diag(means)),
    )
    losses = (
        curve(run["test_loss"][:end], "as far as the figure goes", group=0),
        curve(run["test_loss"][end - 1 :], "run on", group=1),
        curve(theory["test_loss"], "theory", role="theory"),
        curve(text["test_loss"][shown.seed], "with A", role="control"),
        Reference("x", s.end, "the figure ends"),
        Reference("y", means[0] ** 2 / 2, "false corner"),
    )
    return Chart(
        "trajectory", "The weakest concept is late, not lost",
        f"Seed {shown.seed}, A squared. The output rests at the false corner, where the first "
        "coordinate is missing, and has hardly left it when the figure ends; run on, it moves to "
        "the test point. The loss stays near half the square of the first mean, then falls to "
        "zero, as theory says. With A (grey) nothing is late.",
        (Panel(places, "Output at the test point", "output 1", "output 2"),
         over_log_time(loss_panel(losses, "Test loss"))),
    )  # fmt: skip


def _path(
    points: np.ndarray, label: str, group: int | None, role: Role = "measured", arrows: bool = False
) -> Path:
    """A path in space, or a single point."""
    x, y, z = (drawing.evenly_spaced(points, 120) if len(points) > 1 else points).T
    return Path(x, y, z, label, role, group, arrows)


@study.chart(runs.figure, runs.half)
def late(s: Settings, figure: dict[str, Run], half: dict[str, np.ndarray]) -> Chart:
    """Share of starts that seem stuck, and measured against predicted times."""
    shares = [share(below_half(r)) for r in figure.values()]
    bars = drawing.shares_as(Bars, ("A", "A squared", "A squared, run on"), shares, group=0)
    seen = np.flatnonzero(np.isfinite(half["measured"]))[:MOST_POINTS]
    measured, schur, naive = (half[k][seen] for k in ("measured", "schur", "naive"))
    marks: tuple[Mark, ...] = (
        Points(naive, measured, "naive estimate", role="control"),
        Points(schur, measured, "Schur law", group=0),
        Line(np.sort(measured), np.sort(measured), "measured = predicted", role="theory"),
        Reference("y", s.end, "the figure ends"),
    )
    return Chart(
        "late", "Who is late, and that the start tells",
        "Left: share of starts with w11 below one half at the end. Right: each point is a start; "
        "the Schur law lies on the diagonal, and tells who is past the figure's end (dotted). "
        "The naive estimate, which looks at w11 alone, expects nearly all of them in time.",
        (Panel((bars,), "Weakest concept not learned", y_label="share"),
         Panel(marks, "When w11 passes one half", "predicted time", "measured time", "log", "log")),
    )  # fmt: skip


@study.chart(runs.narrow, runs.rank_one, runs.laws["strongest"])
def traps(s: Settings, narrow: Run, rank_one: Run, left: np.ndarray) -> Chart:
    """Losses of narrow models and of rank-one starts, with the bottleneck law."""
    laws = left[1].tolist()  # of the second means
    losses = narrow["test_loss"].isel({"task.means": 1})
    bundles: list[Mark] = []
    for place, (width, law) in enumerate(zip(runs.WIDTHS, laws, strict=True)):
        for seed in range(min(4, losses.sizes["seed"])):
            loss = losses.isel({"model.width": place, "seed": seed})
            bundles.append(curve(loss, "" if seed else f"width {width}", group=place))
        bundles.append(Reference("y", law, f"law: {law:.4g}"))
    trapped, freed = rank_one["test_loss"].isel(seed=0)
    lines = (
        curve(trapped, "rank one"),
        curve(freed, "rank one and a thousandth", role="control", group=1),
        Reference("y", laws[0], f"law of width 1: {laws[0]:.4g}"),
    )
    return Chart(
        "traps", "What a true trap looks like",
        "Left: with fewer columns than concepts the weakest ones are never learned and the loss "
        "ends on the dotted lines, half the squared means that are missed. Right: a wide model "
        "that starts with rank one ends like width 1; a thousandth on the diagonal frees it.",
        (over_log_time(loss_panel(bundles, "Too few columns")),
         over_log_time(loss_panel(lines, "Missing rank"))),
    )  # fmt: skip


@study.chart(run_on, runs.own, runs.lowest)
def below(s: Settings, run: Run, owns: np.ndarray, lows: np.ndarray) -> Chart:
    """Leaving the initial phase from below (E.3): w11 against what is its own at the start."""
    major, times = run["input_jacobian"].values[:, :, 0, 0], run["time"].values[1:]
    own, lowest = owns[:, 0], lows[:, 0]
    order = np.argsort(own)
    curves: list[Mark] = []
    for group, quantile in enumerate((0.1, 0.5, 0.9)):
        seed = order[int(quantile * (len(order) - 1))]
        y, share_ = major[seed, 1:] / major[seed, 0], own[seed]
        curves.append(Line(times, y, f"own share {share_:.3f}", group=group))
        curves.append(Line(times[[0, -1]], (share_, share_), "", role="theory", group=group))
    some = slice(None, None, max(1, -(-len(order) // MOST_POINTS)))
    ends = (float(own.min()), 1.0)
    points = (
        Points(own[some], lowest[some], "starts", group=0),
        Line(ends, ends, "floor: the own share", role="theory"),
    )
    return Chart(
        "below", "Leaving the initial phase from below",
        "Left: the weakest major entry falls while stronger concepts are learned, almost to the "
        "share of its start that is its own (dashed), and grows from there. Right: the lowest "
        "value of every start lies above that floor.",
        (Panel(tuple(curves), "Three starts", "gradient-flow time", "w11 / its start", "log",
               "log"),
         Panel(points, "All starts", "S1 / w11 at the start", "lowest w11 / its start", "log",
               "log")),
    )  # fmt: skip

"""Training points with the path over them, how many are near, how far paths are apart."""

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference, Role
from dynascope.core.run import Run
from dynascope.probes import bump
from dynascope.studies.headlines import headline_chart
from dynascope.studies.swing_by.drawing import loss_panel, thin, trajectory
from dynascope.studies.swing_by.sim_separation import claims, runs
from dynascope.studies.swing_by.sim_separation.runs import Cloud, Settings, study

RADII = np.linspace(0.1, 1.5, 57)  # around the test point
SHOWN = 1500  # training points in a drawing


def counts(cloud: Cloud) -> np.ndarray:
    """Average number of points within each of RADII of the test point."""
    return np.array([(claims.distances(cloud) <= r).sum(axis=1).mean() for r in RADII])


@study.chart(claims.whole["variances"], claims.truncated["variances"], headline=True)
def headline(s: Settings, cloud: Cloud, cut: Cloud) -> Chart:
    """How many training points lie within a distance of the test point."""
    return headline_chart(
        "Training points near the test point, means (1, 2), variances 0.05",
        ("distance to the test point", RADII), ("points within it", counts(cloud)),
        ("theory", claims.expected_counts(cloud.task, RADII)),
        note=f"{claims.drawn_again(cloud, cut).value:.1f} of {3 * s.samples_per_cluster} are "
        "drawn again when points within 0.5 are cut out",
    )  # fmt: skip


@study.chart(claims.narrow, claims.narrow_cut, runs.clouds)
def points(s: Settings, whole: Run, cut: Run, clouds: dict[bool, dict[str, Cloud]]) -> Chart:
    """Figs. 15 and 16: training points and trajectory, whole and truncated."""
    centre, angle = np.array(s.means), np.linspace(0, 2 * np.pi, 100)
    circle = min(s.means) / 2 * np.array([np.cos(angle), np.sin(angle)]) + centre[:, None]
    drawn = len(clouds[False]["variances"].points)
    seed = int(np.argmax(bump(whole["test_loss"].values)[:drawn]))

    def panel(title: str, run: Run, cloud: Cloud) -> Panel:
        order = np.argsort(claims.distances(cloud)[seed])
        # The nearest are all there; the rest only hints at the clusters.
        keep = np.concatenate([order[:100], order[100 :: len(order) // SHOWN]])
        x, y = cloud.points[seed][keep].T
        marks = (
            Points(x, y, "training points", role="control"),
            trajectory(run["output_at"][seed], "output"),
            Line(circle[0], circle[1], "half the smallest mean", role="reference"),
            Points(centre[:1], centre[1:], "test point", role="theory"),
        )
        return Panel(marks, title, "coordinate 1", "coordinate 2", equal=True)

    return Chart(
        "points", "The path does not need the points near the target",
        f"Training points of seed {seed} (some of them) and the output of the narrow network. "
        "Right: points inside the circle around the test point are drawn again; the path is "
        "the same.",
        (panel("Whole", whole, clouds[False]["variances"]),
         panel("Truncated", cut, clouds[True]["variances"])),
    )  # fmt: skip


@study.chart(claims.whole)
def points_near(s: Settings, clouds: dict[str, Cloud]) -> Chart:
    """How many training points lie within a distance, measured and predicted."""
    marks: list[Mark] = []
    for group, (points, task) in enumerate(clouds.values()):
        seen, predicted = counts(Cloud(points, task)), claims.expected_counts(task, RADII)
        label = f"means {task.means}, variance {task.scales[0]:g}"
        theory = "normal distribution" if group == 2 else ""
        shown = np.where(predicted > 0.5 / len(RADII), predicted, np.nan)
        marks += [Points(RADII, np.where(seen > 0, seen, np.nan), label, group=group),
                  Line(RADII, shown, theory, "theory", group)]  # fmt: skip
    edge = Reference("x", min(s.means) / 2, "half the smallest mean (1)")
    panel = Panel((*marks, edge), "Points near the test point", "distance", "points within it",
                  y_scale="log")  # fmt: skip
    return Chart(
        "counts", "Only one reading has points to discard",
        "Training points within a distance of the test point, average per seed of "
        f"{3 * s.samples_per_cluster}, with the prediction. Only means (1, 2) with "
        "variances of 0.05 have any within half the smallest mean.", (panel,),
    )  # fmt: skip


@study.chart(runs.networks, runs.rolled)
def paths_apart(s: Settings, networks: dict[str, Run], rolled: dict[str, Run]) -> Chart:
    """Distance between the trajectories over time, and between different seeds."""

    def panel(title: str, kind: str) -> Panel:
        whole, cut = networks[f"{kind}, whole"], networks[f"{kind}, truncated"]
        times = whole["time"].values[1:]  # at first they are one
        keep = thin(times)

        def line(label: str, distances: np.ndarray, role: Role) -> Line:
            low, middle, high = np.quantile(distances[:, 1:], (0.1, 0.5, 0.9), axis=0)[:, keep]
            return Line(times[keep], middle, label, role, None, low, high)

        lines = (line("with and without truncation", claims.apart(whole, cut), "measured"),
                 line("different seeds", claims.apart(whole, rolled[kind]), "control"))  # fmt: skip
        return loss_panel(lines, title, "distance", "log")

    return Chart(
        "apart", "Truncation moves the path far less than another seed does",
        "Distance between two trajectories at equal times, median and middle 80 % over seeds.",
        (panel("Narrow network", "narrow"), panel("Wide network", "wide")),
    )  # fmt: skip

"""The order by ratio of the means beside the identity task's, paths, error, bound, samples."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel, Path, Points, Reference
from dynascope.core.run import Run
from dynascope.studies.diffusion import drawing
from dynascope.studies.diffusion.vector_diffusion import runs
from dynascope.studies.diffusion.vector_diffusion.runs import Generations, Settings, study


def _theory_ratio(s: Settings, ratio: float) -> float:
    """Log of the half-times' ratio of one layer: a_p = spread^2 + mean_p^2 / 3 decides each."""
    means = s.task.means[0] * np.array([1.0, ratio])
    a = s.task.spread**2 + means**2 / 3
    return float(np.log(a[1] / a[0]))


@study.chart(runs.generations, headline=True)
def headline(s: Settings, generations: dict[float, Generations]) -> Chart:
    """The order of the two concepts against the ratio of their means."""
    paths = {r: g.paths._replace(concepts=g.paths.concepts[..., ::-1])
             for r, g in generations.items()}  # fmt: skip
    ratios, mean, error = drawing.order_points(paths)
    curve = Line(ratios, mean, "diffusion model", group=0, low=mean - error, high=mean + error)
    closed = [_theory_ratio(s, r) for r in ratios]
    panel = Panel(
        (curve, Points(ratios, mean, group=0),
         Line(ratios, closed, "identity task, one layer", "theory", group=0),
         Reference("y", 0.0, "both at once")),
        "", "second mean / first mean", "log(step of first / step of second)", x_scale="log",
    )  # fmt: skip
    return Chart(
        "headline", "Which concept is learned first, by the ratio of the means",
        "Above 0 the second concept is first. The identity task's ratio is that of its signals "
        "under gradient flow; the diffusion model is trained with Adam, which is none.", (panel,),
    )  # fmt: skip


@study.chart(runs.generations, runs.theory)
def plane(s: Settings, generations: dict[float, Generations], theory: dict) -> Chart:
    """Paths in the plane of the two concepts, with the identity task's beside them."""
    panels = []
    for ratio, found in generations.items():
        closed = theory[ratio]
        marks = (
            *drawing.clusters(), drawing.mean_path(found.paths, "diffusion model", 0),
            drawing.swing_mark(found.paths, 0),
            Path(closed[:, 0], closed[:, 1], label="identity task, one layer", role="theory",
                 group=0),
        )  # fmt: skip
        panels.append(
            Panel(marks, f"means 1 and {ratio:g}", "first concept", "second concept", equal=True)
        )
    return Chart(
        "plane", "Where generated vectors are when the fourth corner is asked for",
        "Mean of generated vectors over the target, mean over seeds, along training. Paths bend to "
        "the concept with the larger mean; a step back of the weaker one is the swing.",
        tuple(panels),
    )  # fmt: skip


@study.chart(runs.generations)
def curves(s: Settings, generations: dict[float, Generations]) -> Chart:
    """Concept error and speed."""
    paths = {f"ratio {r:g}": g.paths for r, g in generations.items()}
    return Chart(
        "curves", "Error and speed along training",
        "The concept error is 1 where neither concept is there. A second descent would be a rise "
        "in between. Bands are one standard error over seeds.",
        (drawing.error_panel(paths), drawing.speed_panel(paths)),
    )  # fmt: skip


@study.chart(runs.generations)
def clouds(s: Settings, generations: dict[float, Generations]) -> Chart:
    """Generated vectors of seed 0 at a few checkpoints, largest ratio."""
    found = generations[s.ratios[-1]]
    count = len(found.paths.steps)
    panels = []
    for i in np.unique(np.linspace(1, count - 1, 6).round().astype(int)):
        x, y = found.samples[0, i].T
        marks = (*drawing.clusters(), Points(x, y, "generated", group=0))
        title = f"step {found.paths.steps[i]:.0f}"
        panels.append(Panel(marks, title, "first concept", "second concept"))
    return Chart(
        "clouds", f"Generated vectors along training, means 1 and {s.ratios[-1]:g}",
        "Seed 0. The cloud comes from all over, goes towards the strong cluster, then to the "
        "corner that was never seen.", tuple(panels),
    )  # fmt: skip


@study.chart(runs.trained)
def bound(s: Settings, trained: Run) -> Chart:
    """The training objective in its parts."""
    panel = drawing.bound_panel(trained.isel(**{"task.means": -1}), "")
    return Chart(
        "bound", "The variational bound in its three parts, largest ratio",
        "Reconstruction hangs on the learned schedule alone: its first level falls towards the "
        "data noise. Diffusion is what the network learns.", (panel,),
    )  # fmt: skip

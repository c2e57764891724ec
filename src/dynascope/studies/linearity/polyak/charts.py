"""The PL* constant along gradient descent, and the gradient at the start by depth."""

import numpy as np

from dynascope.core.charts import Chart, Line, Mark, Panel, Points
from dynascope.studies.headlines import headline_chart
from dynascope.studies.linearity.polyak import runs
from dynascope.studies.linearity.polyak.claims import connected
from dynascope.studies.linearity.polyak.draws import GradientNorms
from dynascope.studies.linearity.polyak.runs import Settings, Trained, study


@study.chart(connected, headline=True)
def headline(s: Settings, trained: Trained) -> Chart:
    """The PL* constant along the path of the widest network."""
    constant = trained[max(trained)][0].smallest
    return headline_chart(
        f"Smallest eigenvalue of the tangent kernel in training, width {s.widths[-1]}",
        ("step", s.recorded), ("lambda_min", constant),
        ("a linear model", np.full(len(constant), constant[0])),
        note="a linear model keeps its value at the start",
    )  # fmt: skip


@study.chart(connected, runs.trained[runs.REPEATED])
def path(s: Settings, trained: Trained, repeated: Trained) -> Chart:
    """The PL* constant along the path, and the loss under its bound."""
    steps, last = s.recorded, len(s.widths) - 1
    constant: list[Mark] = []
    for group, i in enumerate((0, len(s.widths) // 2, last)):
        shares = np.array([r.smallest / r.smallest[0] for r in trained[s.widths[i]]])
        constant.append(Line(steps, shares.mean(axis=0), f"width {s.widths[i]}", group=group,
                             low=shares.min(axis=0), high=shares.max(axis=0)))  # fmt: skip
    run, stuck = trained[max(trained)][0], repeated[max(repeated)][0]
    bound = (1 - run.smallest.min() / np.linalg.norm(run.kernels[0], 2)) ** steps
    loss: tuple[Mark, ...] = (
        Line(steps, run.loss / run.loss[0], f"width {s.widths[-1]}", group=2),
        Line(steps, bound, "(1 - eta mu)^t", "theory"),
        Line(steps, stuck.loss / stuck.loss[0], "an input with two labels", "control"),
    )
    return Chart(
        "path", "The PL* constant along gradient descent",
        "Left: the smallest eigenvalue over its first value, mean and range over seeds; the "
        "wider, the less it moves. Right: the loss stays under the rate that the constant "
        "promises.",
        (Panel(tuple(constant), "lambda_min(K_t) / lambda_min(K_0)", "step", "share"),
         Panel(loss, "Loss over its first value", "step", "share", y_scale="log")),
    )  # fmt: skip


@study.chart(runs.gradients)
def gradient(s: Settings, gradients: dict[int, GradientNorms]) -> Chart:
    """Proposition 2.4.4: what is measured, printed and proved, by depth."""
    depths = np.array(list(gradients), float)
    squares = [norms.whole**2 for norms in gradients.values()]
    last = [norms.last for norms in gradients.values()]
    marks: tuple[Mark, ...] = (
        Points(depths, [v.mean() for v in squares], "mean square, all layers", group=0),
        Points(depths, [(v**2).mean() for v in last], "mean square, last layer", group=1),
        Points(depths, [v.mean() ** 2 for v in last], "squared mean, last layer", group=2),
        Line(depths, 2.0 ** (1 - depths), "2^(1 - L), proved", "theory"),
    )
    return Chart(
        "gradient", "The gradient at the start is bounded away from zero",
        "ReLU networks of width 64. The squared mean of the last layer lies below the proved "
        "line: the printed step from squares to norms goes the wrong way.",
        (Panel(marks, "", "depth L", "squared norm of the gradient", y_scale="log"),),
    )  # fmt: skip

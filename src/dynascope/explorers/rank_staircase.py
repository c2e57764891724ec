"""From a small start a network of products learns its entries one by one, in stages."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Panel, Reference
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work
from dynascope.explorers.explorer import Explored, explorer
from dynascope.explorers.moves import Slider
from dynascope.numerics.log_flow import log_flow
from dynascope.theories.rank_increase.diagonal_linear import diagonal_half_times

POINTS = 161
U, V = np.array([1.0, 0.8, 1.2]), np.array([0.1, -0.2, 0.3])  # the start, before it is scaled


@dataclass(frozen=True)
class Settings(Spec, tag="explorers.rank-staircase"):
    """Three entries to be learned, and how small the start is, in powers of ten."""

    strengths: tuple[float, float, float] = (2.0, 1.2, 0.7)
    decades: float = 8.0


def _loss(z: jax.Array, target: jax.Array) -> jax.Array:
    """That of f(x) = sum u_i v_i x_i with white inputs."""
    return 0.5 * jnp.sum((z - target) ** 2)


@explorer(
    "rank-staircase",
    title="The staircase of ranks",
    about="A network whose weights enter as products u v learns from a start of size "
    "10^-decades. In time over log(1 / start), each entry waits, then appears at once: the "
    "smaller the start, the sharper the stairs. Dashed is the limit of a vanishing start, in "
    "which entry i appears at 1 / strength; dotted, the closed form at this start.",
    phenomenon="rank-increase",
    settings=Settings,
    moves=(
        Slider("decades", "size of the start", 0.5, 60.0, "log", "powers of ten"),
        Slider("strengths[0]", "strength of the first entry", 0.3, 4.0),
        Slider("strengths[1]", "strength of the second entry", 0.3, 4.0),
        Slider("strengths[2]", "strength of the third entry", 0.3, 4.0),
    ),
    studies=("rank-staircase", "rank-proof"),
    work=lambda s: Work(POINTS, size=2 * len(s.strengths)),
)
def rank_staircase(s: Settings) -> Explored:
    """Each entry over time, and the loss as a staircase."""
    target, alpha = np.array(s.strengths), 10.0**-s.decades
    times = np.linspace(0, 1.3 / target.min(), POINTS)
    flow = log_flow(_loss, U, V, [alpha], times, parameters=(target,))
    half = diagonal_half_times(target, U, V, alpha)
    learned = times[:, None] >= 1 / target
    stairs = 0.5 * np.sum(np.where(learned, 0.0, target) ** 2, axis=1)
    entries: list = []
    for i, strength in enumerate(target):
        entries += [Line(times, flow.products[0, :, i], f"entry of strength {strength:.3g}",
                         group=i),
                    Line(times, np.where(learned[:, i], strength, 0.0), "" if i else "limit",
                         "theory", i)]  # fmt: skip
    marks = [Reference("x", float(t), "half learned" if i == 0 else "") for i, t in enumerate(half)]
    words = (
        "Half learned at " + ", ".join(f"{t:.3g}" for t in half) + "; in the limit of a "
        "vanishing start at " + ", ".join(f"{1 / b:.3g}" for b in target) + ".",
    )
    chart = Chart(
        "rank-staircase", "Entries and loss", words[0],
        (Panel((*entries, *marks), "entries", "time / log(1 / start)", "u v"),
         Panel((Line(times, flow.losses[0], "loss", group=0),
                Line(times, stairs, "limit", "theory", 0)),
               "loss", "time / log(1 / start)", "loss")),
    )  # fmt: skip
    data = xr.Dataset(
        {"product": (("time", "entry"), flow.products[0]), "loss": ("time", flow.losses[0]),
         "staircase": ("time", stairs)}, {"time": times}, {"half_times": half.tolist()},
    )  # fmt: skip
    return Explored(data, chart, words)

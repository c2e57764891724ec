"""Deep linear networks on the identity mapping, as the program behind the figures trains them."""

from __future__ import annotations

from dynascope.dynamics import SGD, Dynamics, GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import MLP
from dynascope.probes import Loss, OutputAt, TestLoss
from dynascope.tasks import IdentityMapping

FOUR, THREE, DEEP = MLP(4, 4, "linear"), MLP(3, 3, "linear"), MLP(4, 64, "linear")
ONE = MLP(1, 1, "linear", init_scale=0.3)
PRINTED_MEANS, PROGRAM_MEANS = (1.0, 2.0), (2.0, 4.0)
EPOCHS = 4720  # steps: 40 epochs of 118 batches
PROGRAM = (
    "Networks use the program's setting (origin cluster, mean-reduced loss, scales as variances, "
    "offsets)"
)


def population(samples_per_cluster: int | None) -> str:
    """What networks train on, in words."""
    if samples_per_cluster is None:
        return "Networks train on the exact population, so that no rise comes from batch noise."
    return f"Networks train on {samples_per_cluster} samples per cluster in batches."


def experiment(
    model: MLP,
    dimension: int,
    seeds: int,
    *,
    means: tuple[float, float] = PROGRAM_MEANS,
    rate: float = 0.01,
    rotated: bool = False,
    steps: int = EPOCHS,
    samples_per_cluster: int | None = None,
    batch_size: int | None = None,
) -> Experiment:
    """Gradient descent on the population, or SGD on samples of it, of all seeds at once."""
    task = IdentityMapping(
        means=means, scales=(0.05, 0.05), dimension=dimension, origin=True, reduction="mean",
        scale_is="variance", samples_per_cluster=samples_per_cluster, rotated=rotated,
    )  # fmt: skip
    rule: Dynamics = GradientDescent(rate) if batch_size is None else SGD(rate, batch_size)
    return Experiment(
        task, model, rule, (Loss(), TestLoss(), OutputAt()), steps=steps, record=Every(10),
        seeds=tuple(range(seeds)), dtype="float32",
    )  # fmt: skip

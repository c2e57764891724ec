"""What the panels of `quadratic-generalization` are, and the pieces that they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dynascope.core.errors import bad
from dynascope.core.spec import Spec
from dynascope.models import CNN, MLP, Model
from dynascope.tasks import Samples, TwoClasses

SYNTHETIC = ("sign", "product")
REAL = ("mnist", "fsdd", "cifar10", "ag_news", "svhn")
NAMES = {
    "sign": "sign of x1 + x2 / 2",
    "product": "x1 x2",
    "digits": "8x8 digits 0, 2 (built in)",
    "mnist": "MNIST 0, 2",
    "fsdd": "spoken digits 1, 3",
    "cifar10": "CIFAR-10 airplane, bird (batches)",
    "ag_news": "AG News World, Business",
    "svhn": "SVHN crops 0, 2 (convolution)",
}


@dataclass(frozen=True)
class Setting(Spec):
    """What one panel trains: a task, a network, and how many samples a step sees."""

    task: Samples
    model: Model
    batch_size: int | None = None

    def check(self) -> None:
        """Raise for conventions and networks that the study does not know."""
        if self.task.reduction != "mse":
            raise bad("reduction", self.task.reduction, "'mse', which the critical rate is for")
        if not isinstance(self.model, MLP | CNN):
            raise bad("model", type(self.model).__name__, "an MLP or a CNN")

    @property
    def width(self) -> int:
        """Units or channels of a hidden layer."""
        return self.model.width if isinstance(self.model, MLP) else self.model.channels  # type: ignore[attr-defined]


def wide(width: int) -> MLP:
    """Two layers, fully connected, in the scaling of the tangent kernel."""
    return MLP(2, width, parameterization="ntk")


def image(channels: int, side: int = 32) -> CNN:
    """One convolution and one affine map, over pictures with three channels."""
    return CNN(2, channels, shape=(side, side, 3), parameterization="ntk")


def classes(data: str, train: int, *, scaling: str = "channel", **others: Any) -> TwoClasses:
    """Two classes of a data set, every channel with mean 0 and deviation 1 if not said."""
    return TwoClasses(data, train=train, scaling=scaling, **others)  # type: ignore[arg-type]

"""What the panels of `quadratic-generalization` are, and the pieces that they are made of.

A panel is named by the setting that it trains, such as "fsdd", and perhaps by what is changed
in it: "fsdd-tanh" is that setting with another activation, "fsdd-deep" its data in the study's
deep network. So the thesis's later figures, which repeat the first ones, have no settings of
their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dynascope.core.errors import bad
from dynascope.core.spec import Spec
from dynascope.models import CNN, MLP, Model
from dynascope.tasks import Samples, TwoClasses

LEARNED = {  # by setting
    "sign": "sign of x1 + x2 / 2",
    "product": "x1 x2",
    "digits": "8x8 digits 0, 2 (built in)",
    "mnist": "MNIST 0, 2",
    "fsdd": "spoken digits 1, 3",
    "cifar10": "CIFAR-10 airplane, bird",
    "ag_news": "AG News World, Business",
    "svhn": "SVHN crops 0, 2",
    "cifar10_cnn": "CIFAR-10 airplane, bird",
}
SYNTHETIC = ("sign", "product")
DEEP, ACTIVATIONS = "deep", ("tanh", "swish")
NAMES = (
    *LEARNED,
    *(f"{s}-{v}" for s in LEARNED if s not in SYNTHETIC for v in (DEEP, *ACTIVATIONS)),
)
BUILT_IN = ("digits", "sign", "product", "digits-tanh")
PANELS = {  # what is shown, in the order of the figures: where a gain is claimed, and the figure
    "digits": ("On two classes of the built-in digits", "004 Fig. 3.4 (ii), other data"),
    "sign": ("Learning the sign of x1 + x2 / 2", "004 Fig. 3.4 (ii), check 36"),
    "product": ("Learning x1 x2", "004 Fig. 3.4 (ii)"),
    "mnist": ("On two classes of MNIST", "004 Figs. 3.4, B.5"),
    "ag_news": ("On two classes of AG News", "004 Figs. 3.4, B.5"),
    "cifar10": ("On two classes of CIFAR-10 in batches of 32", "004 Figs. 3.2 b, 3.4, B.6"),
    "svhn": ("On two classes of SVHN with a convolution", "004 Figs. 3.4, B.6"),
    "fsdd": ("On two spoken digits", "004 Figs. 3.4, B.7"),
    "cifar10_cnn": ("On two classes of CIFAR-10 with a convolution", "004 Figs. 3.4, B.7"),
    "cifar10-deep": ("On two classes of CIFAR-10 in three layers", "004 Fig. B.8"),
    "svhn-deep": ("On two classes of SVHN in three layers", "004 Fig. B.8"),
    "fsdd-deep": ("On two spoken digits in three layers", "004 Fig. B.9"),
    "ag_news-deep": ("On two classes of AG News in three layers", "004 Fig. B.9"),
    "ag_news-swish": ("On two classes of AG News with swish", "004 Fig. B.10"),
    "ag_news-tanh": ("On two classes of AG News with tanh", "004 Fig. B.10"),
    "fsdd-swish": ("On two spoken digits with swish", "004 Fig. B.11"),
    "fsdd-tanh": ("On two spoken digits with tanh", "004 Fig. B.11"),
    "cifar10_cnn-swish": (
        "On two classes of CIFAR-10 with a convolution and swish",
        "004 Fig. B.12",
    ),
    "cifar10_cnn-tanh": ("On two classes of CIFAR-10 with a convolution and tanh", "004 Fig. B.12"),
    "svhn-swish": ("On two classes of SVHN with a convolution and swish", "004 Fig. B.13"),
    "svhn-tanh": ("On two classes of SVHN with a convolution and tanh", "004 Fig. B.13"),
    "digits-tanh": (
        "On two classes of the built-in digits with tanh",
        "004 Figs. B.10-B.13, other data",
    ),
}


@dataclass(frozen=True)
class Setting(Spec):
    """What one panel trains: a task, a network, and how many samples a step sees.

    It has `times` as many seeds as the study says: more where runs are cheap.
    """

    task: Samples
    model: Model
    batch_size: int | None = None
    times: int = 1

    def check(self) -> None:
        """Raise for conventions and networks that the study does not know."""
        if self.times < 1:
            raise bad("times", self.times, "a whole number of at least 1")
        if self.task.reduction != "mse":
            raise bad("reduction", self.task.reduction, "'mse', which the critical rate is for")
        if not isinstance(self.model, MLP | CNN):
            raise bad("model", type(self.model).__name__, "an MLP or a CNN")
        if isinstance(self.model, CNN) and self.model.depth != 2:
            raise bad("model.depth", self.model.depth, "2 for a CNN, whose rates are laid out so")

    @property
    def width(self) -> int:
        """Units or channels of a hidden layer."""
        return self.model.width if isinstance(self.model, MLP) else self.model.channels  # type: ignore[attr-defined]

    @property
    def data(self) -> str | None:
        """The data set that it reads, if any."""
        return self.task.data if isinstance(self.task, TwoClasses) else None

    def manner(self) -> str:
        """What is not two fully connected layers of ReLU on all samples at once; may be empty.

        Example:
            >>> Setting(classes("digits", 8), MLP(3, 4, "tanh"), 2).manner()
            '3 layers, tanh, batches of 2'
        """
        model: Any = self.model
        said = (
            "convolution" if isinstance(model, CNN) else "",
            f"{model.depth} layers" if model.depth != 2 else "",
            model.activation if model.activation != "relu" else "",
            f"batches of {self.batch_size}" if self.batch_size else "",
        )
        return ", ".join(filter(None, said))


def change_of(panel: str) -> str:
    """What a panel changes in its setting; empty if nothing.

    Example:
        >>> change_of("fsdd"), change_of("fsdd-tanh")
        ('', 'tanh')
    """
    return panel.partition("-")[2]


def panel_title(panel: str, setting: Setting) -> str:
    """What is learned, and how if not in the plain manner."""
    learned, manner = LEARNED[panel.partition("-")[0]], setting.manner()
    return f"{learned}: {manner}" if manner else learned


def with_activation(setting: Setting, activation: str) -> Setting:
    """The same setting with another activation."""
    return replace(setting, model=replace(setting.model, activation=activation))  # type: ignore[call-arg]


@dataclass(frozen=True)
class Deep(Spec):
    """What a deep panel has of its own; the rest is that of its data's setting."""

    model: MLP
    train: int
    times: int = 1

    def of(self, setting: Setting) -> Setting:
        """The data of a setting, so many training samples, in this network, all at once."""
        task = replace(setting.task, train=self.train)  # type: ignore[call-arg]
        return Setting(task, self.model, times=self.times)


def wide(width: int, depth: int = 2) -> MLP:
    """Fully connected, in the scaling of the tangent kernel."""
    return MLP(depth, width, parameterization="ntk")


def image(channels: int, side: int = 32) -> CNN:
    """One convolution and one affine map, over pictures with three channels."""
    return CNN(2, channels, shape=(side, side, 3), parameterization="ntk")


def classes(data: str, train: int, *, scaling: str = "channel", **others: Any) -> TwoClasses:
    """Two classes of a data set, every channel with mean 0 and deviation 1 if not said."""
    return TwoClasses(data, train=train, scaling=scaling, **others)  # type: ignore[arg-type]


def provenance(task: TwoClasses) -> str:
    """How many samples of what, under which licence."""
    data, (train, test) = task.source(), task.sizes()
    sizes = f"{train} training and {test} test samples"
    return f"{sizes} of {data.note}; licence {data.licence}; checksum {data.checksum()}"

"""What the panels are, and the pieces that they are made of.

A panel is named by the setting that it trains, such as "fsdd", and perhaps by what is changed
in it: "fsdd-tanh" is that setting with another activation, "fsdd-deep" its data in the study's
deep network. So the thesis's later figures, which repeat the first ones, have no settings of
their own.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from dynascope.core.errors import bad
from dynascope.core.spec import Spec
from dynascope.models import CNN, MLP, Model
from dynascope.tasks import Samples, TwoClasses

LEARNED = {  # by setting: what is learned, and the data set without which it is not there
    "sign": ("sign of x1 + x2 / 2", None),
    "product": ("x1 x2", None),
    "digits": ("8x8 digits 0, 2 (built in)", None),
    "mnist": ("MNIST 0, 2", "mnist"),
    "fsdd": ("spoken digits 1, 3", "fsdd"),
    "cifar10": ("CIFAR-10 airplane, bird", "cifar10"),
    "ag_news": ("AG News World, Business", "ag_news"),
    "svhn": ("SVHN crops 0, 2", "svhn"),
    "cifar10_cnn": ("CIFAR-10 airplane, bird", "cifar10"),
}
DEEP, ACTIVATIONS = "deep", ("tanh", "swish")
CHANGED = tuple(name for name in LEARNED if name not in ("sign", "product"))
NAMES = (*LEARNED, *(f"{s}-{change}" for s in CHANGED for change in (DEEP, *ACTIVATIONS)))
PANELS = {  # what is shown, in the order of the figures: where a gain is claimed, and the figure
    "digits": ("On two classes of the built-in digits", "section 3.4, Fig. 3.4"),
    "sign": ("Learning the sign of x1 + x2 / 2", "section 3.4, Fig. 3.4"),
    "product": ("Learning x1 x2", "section 3.4, Fig. 3.4"),
    "mnist": ("On two classes of MNIST", "Figs. 3.4, B.5"),
    "ag_news": ("On two classes of AG News", "Figs. 3.4, B.5"),
    "cifar10": ("On two classes of CIFAR-10 in batches of 32", "Figs. 3.2 b, 3.4, B.6"),
    "svhn": ("On two classes of SVHN with a convolution", "Figs. 3.4, B.6"),
    "fsdd": ("On two spoken digits", "Figs. 3.4, B.7"),
    "cifar10_cnn": ("On two classes of CIFAR-10 with a convolution", "Figs. 3.4, B.7"),
    "cifar10-deep": ("On two classes of CIFAR-10 in three layers", "Fig. B.8"),
    "svhn-deep": ("On two classes of SVHN in three layers", "Fig. B.8"),
    "fsdd-deep": ("On two spoken digits in three layers", "Fig. B.9"),
    "ag_news-deep": ("On two classes of AG News in three layers", "Fig. B.9"),
    "ag_news-swish": ("On two classes of AG News with swish", "Fig. B.10"),
    "ag_news-tanh": ("On two classes of AG News with tanh", "Fig. B.10"),
    "fsdd-swish": ("On two spoken digits with swish", "Fig. B.11"),
    "fsdd-tanh": ("On two spoken digits with tanh", "Fig. B.11"),
    "cifar10_cnn-swish": ("On two classes of CIFAR-10 with a convolution and swish", "Fig. B.12"),
    "cifar10_cnn-tanh": ("On two classes of CIFAR-10 with a convolution and tanh", "Fig. B.12"),
    "svhn-swish": ("On two classes of SVHN with a convolution and swish", "Fig. B.13"),
    "svhn-tanh": ("On two classes of SVHN with a convolution and tanh", "Fig. B.13"),
    "digits-tanh": ("On two classes of the built-in digits with tanh", "Figs. B.10-B.13"),
}  # fmt: skip


# What no figure shows: the document has real data sets alone.
OTHER_DATA = ("digits", "sign", "product", "digits-tanh")
# Figs. B.5 to B.9 show accuracies.
ACCURACY = ("mnist", "ag_news", "cifar10", "svhn", "fsdd", "cifar10_cnn",
            "cifar10-deep", "svhn-deep", "fsdd-deep", "ag_news-deep")  # fmt: skip


@dataclass(frozen=True)
class Setting(Spec):
    """What one panel trains: a task, a network, and how many samples a step sees.

    It has `times` as many seeds as the study says, and is `longer` times as long: more where runs
    are cheap.
    """

    task: Samples
    model: Model
    batch_size: int | None = None
    times: int = 1
    longer: int = 1

    def check(self) -> None:
        """Raise for conventions and networks that the study does not know."""
        for name in ("times", "longer"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
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

    def manner(self) -> str:
        """What is not two fully connected layers of ReLU on all samples at once; may be empty.

        Example:
            >>> Setting(classes("digits", 8), MLP(3, 4, "tanh"), 2).manner()
            '3 layers, tanh, batches of 2'
        """
        model: Any = self.model
        said = {
            "convolution": isinstance(model, CNN), f"{model.depth} layers": model.depth != 2,
            model.activation: model.activation != "relu",
            f"batches of {self.batch_size}": self.batch_size,
        }  # fmt: skip
        return ", ".join(words for words, true in said.items() if true)


@lru_cache(maxsize=256)
def parts(panel: str) -> tuple[str, str]:
    """The setting that a panel trains, and what it changes in it; empty if nothing.

    Example:
        >>> parts("fsdd"), parts("fsdd-tanh")
        (('fsdd', ''), ('fsdd', 'tanh'))
    """
    setting, _, change = panel.partition("-")
    return setting, change


@dataclass(frozen=True)
class Deep(Spec):
    """What a deep panel has of its own; the rest is that of its data's setting."""

    model: MLP
    train: int
    times: int = 1


def changed(setting: Setting, change: str, deep: Deep) -> Setting:
    """A setting as it is, or with another activation, or its data in the deep network."""
    if change == DEEP:
        task = replace(setting.task, train=deep.train)  # type: ignore[call-arg]
        return Setting(task, deep.model, times=deep.times)
    model = replace(setting.model, activation=change) if change else setting.model  # type: ignore[call-arg]
    return replace(setting, model=model)


def wide(width: int, depth: int = 2) -> MLP:
    """Fully connected, in the scaling of the tangent kernel."""
    return MLP(depth, width, parameterization="ntk")


def image(channels: int, side: int = 32) -> CNN:
    """One convolution and one affine map, over pictures with three channels."""
    return CNN(2, channels, shape=(side, side, 3), parameterization="ntk")


def classes(data: str, train: int, *, scaling: str = "channel", **others: Any) -> TwoClasses:
    """Two classes of a data set, every channel with mean 0 and deviation 1 if not said."""
    return TwoClasses(data, train=train, scaling=scaling, **others)  # type: ignore[arg-type]

"""The shared vocabulary: a probe measures a quantity, a theory predicts it, a claim compares.

One spelling per idea, used in code, datasets, charts and the command line.
"""

from __future__ import annotations

from dataclasses import dataclass

from dynascope.core.registry import Registry


@dataclass(frozen=True)
class Quantity:
    """A named number or array: symbol, unit, dimensions and what it means in one sentence."""

    name: str
    symbol: str
    unit: str
    dims: tuple[str, ...]
    meaning: str


quantities: Registry[Quantity] = Registry("quantity")


def quantity(name: str, symbol: str, unit: str, dims: tuple[str, ...], meaning: str) -> Quantity:
    """Declare a quantity once and return it.

    Args:
        name: The one spelling, as in `run["name"]`.
        symbol: How it is written in formulas.
        unit: Its unit; "1" if it has none.
        dims: Names of its axes beside seed, step and sweep axes.
        meaning: One sentence.

    Returns:
        The registered quantity.
    """
    return quantities.add(name, Quantity(name, symbol, unit, dims, meaning))


LOSS = quantity("loss", "L", "loss", (), "Training objective on the whole training set.")
TEST_LOSS = quantity(
    "test_loss", "l(x)", "loss", (), "Half the squared error of the output at the test point."
)
OUTPUT_AT = quantity("output_at", "f(x)", "1", ("output",), "Output of the model at a given input.")
INPUT_JACOBIAN = quantity(
    "input_jacobian",
    "W",
    "1",
    ("output", "input"),
    "Derivative of the output with respect to the input.",
)
GROWTH = quantity(
    "growth", "G", "1/paper time", ("output", "input"), "Growth term of the Jacobian's flow, (4.3)."
)
SUPPRESSION = quantity(
    "suppression", "S", "1/paper time", ("output", "input"), "Suppression term of the flow, (4.3)."
)
NOISE = quantity(
    "noise", "N", "1/paper time", ("output", "input"), "Noise term of the Jacobian's flow, (4.3)."
)
LATTICE_LOSS = quantity(
    "lattice_loss",
    "l(x_v)",
    "loss",
    ("corner",),
    "Test loss at every corner of the lattice of concept combinations.",
)
HELD_OUT_ERROR = quantity(
    "held_out_error",
    "MSE / Var",
    "1",
    (),
    "Mean squared error over the variance of the target, on nodes not trained on.",
)
OVERLAP = quantity(
    "overlap",
    "o",
    "1",
    ("test_graph",),
    "How far above one half two communities are told, 0 to 1, on each test graph.",
)
TEST_SET_LOSS = quantity(
    "test_set_loss", "L_test", "loss", (), "Mean squared error on samples not trained on."
)
TEST_SET_ACCURACY = quantity(
    "test_set_accuracy", "", "1", (), "Share of samples not trained on whose sign is right."
)
NEURON_WEIGHTS = quantity(
    "neuron_weights",
    "v, w",
    "1",
    ("neuron", "weight"),
    "Output weight of every hidden neuron, then its input weights.",
)
SHARPNESS = quantity(
    "sharpness", "lambda_max(H)", "loss", (), "Largest eigenvalue of the Hessian of the objective."
)
CRITICAL_LEARNING_RATE = quantity(
    "critical_learning_rate", "eta_crit", "1", (), "Rate above which a descent step overshoots."
)
TANGENT_KERNEL = quantity(
    "tangent_kernel",
    "K",
    "1",
    ("row", "column"),
    "Products of the outputs' gradients, one row for each output of each training sample.",
)
TANGENT_KERNEL_NORM = quantity(
    "tangent_kernel_norm", "lambda_1(K)", "1", (), "Largest eigenvalue of the tangent kernel."
)
TANGENT_KERNEL_SPECTRUM = quantity(
    "tangent_kernel_spectrum", "lambda(K)", "1", ("rank",), "Largest eigenvalues of the kernel."
)
EDGE_OF_STABILITY = quantity(
    "edge_of_stability",
    "lambda, |cos|, c*, f2, f3, f4",
    "1",
    ("part",),
    "Sharpness, alignment of the gradient with its vector, and the valley of a descent step.",
)

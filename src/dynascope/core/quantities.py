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

    def about(self, stored_as: str) -> dict[str, str]:
        """The attributes of a variable that holds it: a short name for axes, unit, meaning."""
        return {"long_name": stored_as.replace("_", " "), "units": self.unit,
                "symbol": self.symbol, "meaning": self.meaning}  # fmt: skip


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
TEST_SET_LOSS = quantity("test_set_loss", "L_test", "loss", (), "Loss on samples not trained on.")
TEST_SET_ACCURACY = quantity(
    "test_set_accuracy", "", "1", (), "Share of samples not trained on that are told right."
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
HESSIAN_TRACE = quantity(
    "hessian_trace", "tr H", "loss", (), "Sum of the eigenvalues of the objective's Hessian."
)
RESIDUAL_SPLIT = quantity(
    "residual_split",
    "L_top, L_rest",
    "loss",
    ("part",),
    "Mean squared residual within the tangent kernel's top eigenspace, and outside.",
)
KERNEL_SPLIT = quantity(
    "kernel_split",
    "lambda_1(K), L_top, L_rest",
    "1",
    ("kernel_part",),
    "Norm of the tangent kernel, and the mean squared residual in its top eigenspace and outside.",
)
KERNEL_ALIGNMENT = quantity(
    "kernel_alignment",
    "y^T K y / (|K| |y|^2)",
    "1",
    (),
    "Cosine between the tangent kernel and the kernel y y^T of the targets.",
)
BATCH_CRITICAL_RATE = quantity(
    "batch_critical_rate",
    "eta_crit(batch)",
    "1",
    (),
    "Critical learning rate of the batch that the last step saw, before that step.",
)
SUPERCRITICAL_STEPS = quantity(
    "supercritical_steps",
    "#{t: eta > eta_crit(batch)}",
    "1",
    (),
    "Number of steps so far whose rate was above the critical one of their batch.",
)
BATCH_LOSSES = quantity(
    "batch_losses",
    "L_batch",
    "loss",
    ("moment",),
    "Loss on the batch of the last step, before and after that step.",
)
VALIDATION_LOSS = quantity(
    "validation_loss", "L_val", "loss", (), "Loss on samples kept apart to choose a checkpoint."
)
AGOP = quantity(
    "agop",
    "G",
    "1",
    ("input_row", "input_column"),
    "Average outer product of the outputs' gradients in the inputs, over the training set.",
)
AGOP_ALIGNMENT = quantity(
    "agop_alignment",
    "cos(G, G*)",
    "1",
    (),
    "Cosine between the average gradient outer product and the target function's.",
)
AGOP_SPECTRUM = quantity(
    "agop_spectrum", "lambda(G)", "1", ("rank",), "Largest eigenvalues of the AGOP."
)
PRODUCTS = quantity(
    "products", "u * v", "1", ("coordinate",), "Products of the two diagonals of every weight pair."
)
HEAD_SPECTRA = quantity(
    "head_spectra",
    "sigma",
    "1",
    ("product", "rank"),
    "Singular values of W_K W_Q^T and W_V W_O^T of an attention head, descending.",
)
PRODUCT_SPECTRUM = quantity(
    "product_spectrum",
    "sigma(W_K W_Q^T)",
    "1",
    ("layer", "head", "rank"),
    "Singular values of a head's product of two maps, or of its change since the start.",
)
STABLE_RANK = quantity(
    "stable_rank",
    "|W|_F^2 / |W|_2^2",
    "1",
    ("layer", "head"),
    "Squared singular values of a head's product (or its change) over the largest, squared.",
)
GENERATED = quantity(
    "generated",
    "x",
    "1",
    ("sample", "coordinate"),
    "What a generative model makes on a condition, one row a sample.",
)
BOUND_PARTS = quantity(
    "bound_parts",
    "L_diff, L_prior, L_rec",
    "bits per dimension",
    ("bound_part",),
    "The three parts of a diffusion model's variational bound on the training samples.",
)
TRUNCATED_LOSS = quantity(
    "truncated_loss",
    "L(W_k)",
    "loss",
    ("kept_rank",),
    "Loss on labels without noise, of the weights cut to their largest singular values.",
)
RECALL = quantity(
    "recall",
    "p(y), p(tau), L, ...",
    "1",
    ("cut", "readout"),
    "What a model says on rows without noise, whole and with one matrix truncated.",
)
RECALL_ATTENTION = quantity(
    "recall_attention",
    "",
    "1",
    ("attention_part",),
    "Where the blocks look: at the previous token, after the trigger at answers and at noise.",
)
NOISE_MARGIN = quantity(
    "noise_margin",
    "xi_tau - max xi_k",
    "1",
    (),
    "How far the last feed-forward part puts the noise token above all others, at the trigger.",
)
PROMPTED = quantity(
    "prompted",
    "p(answer), p(the), rank",
    "1",
    ("cut", "prompt", "said"),
    "What a word model says at prompts, whole and with one matrix truncated.",
)

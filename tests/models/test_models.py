"""Models against dense numpy, and the contract that every model keeps."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import quick  # tests is on the path
from dynascope import models
from dynascope.core.errors import BadInput
from dynascope.core.spec import _CLASSES
from dynascope.models.tied_linear import gram
from dynascope.runtime.precision import precision
from dynascope.runtime.quick_compile import quick_compile_options

OURS = [
    cls for cls in _CLASSES.values()
    if issubclass(cls, models.Model) and cls.__module__.startswith("dynascope.models.")
    and cls not in (models.Model, models.FunctionModel) and not cls.__name__.startswith("_")
]  # fmt: skip


# Graph models: test_graph_models.py; models of sequences: test_sequences.py; denoisers and the
# classifier of pictures, which wants pictures for inputs: denoisers/.
# RecallLayer reads tokens: test_recall_models.py.
ELSEWHERE = (models.PictureClassifier, models.RecallLayer)
VECTORS = [cls for cls in OURS if cls.reads == "vectors" and cls not in ELSEWHERE]
SMALL_PICTURES = {
    models.Myrtle: models.Myrtle((8, 8, 1), channels=2),
    models.WideResNet: models.WideResNet((8, 8, 1), widen=1, channels=2),
}


def built(cls):
    """The network of 3 inputs and its outputs: 3, or 1 for models that have a single one.

    Denoisers of pictures and their classifier want a whole picture of 8 x 8.
    """
    if cls.reads == "noised":
        return cls().build(192 + 4, 192), 192
    if cls is models.PictureClassifier:
        return cls().build(192, 2), 2
    if cls in SMALL_PICTURES:
        return SMALL_PICTURES[cls].build(64, 3), 3
    if cls is models.Continued:
        start = models.MLP(1, 4).build(3, 3).init(jax.random.key(0))
        return models.continued(models.MLP(1, 4), start).build(3, 3), 3
    try:
        return cls().build(3, 3), 3
    except BadInput as refusal:
        assert "single output" in str(refusal)
        return cls().build(3, 1), 1


DEEP = ("WideResNet", "Myrtle")  # seconds to compile


@pytest.mark.parametrize(
    "cls",
    [pytest.param(c, marks=pytest.mark.slow if c.__name__ in DEEP else ()) for c in VECTORS],
    ids=lambda c: c.__name__,
)
def test_every_model_keeps_the_contract(cls):
    """Any leading axes, jit and vmap agree, and the matrix is the function."""
    with precision("float64"):
        network, outputs = built(cls)
        params = quick(network.init)(jax.random.key(0))
        inputs = 64 if cls in SMALL_PICTURES else 3
        x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 5, inputs)))
        y = quick(network.apply)(params, x)  # without jit every operation is compiled alone
        assert y.shape == (2, 5, outputs)
        rows = quick(jax.vmap(jax.vmap(lambda v: network.apply(params, v))))(x)
        assert np.allclose(y, rows, rtol=1e-12, atol=1e-14)
        if network.matrix is not None:
            w, offset = network.matrix(params)
            dense = x @ w.T + (0.0 if offset is None else offset)
            assert np.allclose(y, dense, rtol=1e-10, atol=1e-14)
    assert quick(network.init)(jax.random.key(0)) is not None


@pytest.mark.slow
@pytest.mark.parametrize("cls", OURS, ids=lambda c: c.__name__)
def test_a_seed_means_the_same_parameters_in_both_precisions(cls):
    drawn = []
    for dtype in ("float32", "float64"):
        with precision(dtype):
            params = quick(built(cls)[0].init)(jax.random.key(7))
            drawn.append([np.asarray(p, float) for p in jax.tree.leaves(params)])
    for single, double in zip(*drawn, strict=True):
        assert np.allclose(single, double, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("cls", OURS, ids=lambda c: c.__name__)
def test_less_polish_changes_no_bit_of_a_start(cls):
    init = built(cls)[0].init
    key = jax.random.key(7)
    options = quick_compile_options(jax.make_jaxpr(init)(key).jaxpr)
    ours, plain = jax.jit(init, compiler_options=options)(key), jax.jit(init)(key)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(plain), strict=True):
        assert np.array_equal(a, b)


def test_mlp_is_the_layers_written_out():
    with precision("float64"):
        network = models.MLP(3, 4, "relu").build(2, 2)
        params = network.init(jax.random.key(1))
        x = np.random.default_rng(0).normal(size=(6, 2))
        h = x
        for i, layer in enumerate(params):
            h = h @ np.asarray(layer["weight"]).T + np.asarray(layer["bias"])
            h = np.maximum(h, 0) if i < 2 else h
        assert np.allclose(network.apply(params, x), h, rtol=1e-12)
        assert network.matrix is None


def test_default_initialisation_has_the_bounds_of_torch():
    """Uniform within 1/sqrt(inputs), weights and offsets: standard deviation 1/sqrt(3 inputs)."""
    params = models.MLP(2, 400, "relu").build(100, 400).init(jax.random.key(0))
    for layer, inputs in zip(params, (100, 400), strict=True):
        for values in layer.values():
            assert np.abs(values).max() <= inputs**-0.5
        assert np.isclose(np.std(layer["weight"]), (3 * inputs) ** -0.5, rtol=0.01)


@pytest.mark.parametrize("activation", ["relu", "tanh", "swish"])
def test_tangent_kernel_scaling_is_the_layers_written_out(activation):
    """zhu2024 (A.4): normal weights, every product over sqrt(inputs), no offset by itself."""
    model = models.MLP(3, 4, activation, parameterization="ntk")
    act = {"relu": lambda h: np.maximum(h, 0), "tanh": np.tanh,
           "swish": lambda h: h / (1 + np.exp(-h))}[activation]  # fmt: skip
    with precision("float64"):
        network = model.build(2, 2)
        params = network.init(jax.random.key(1))
        assert [sorted(layer) for layer in params] == [["weight"]] * 3
        x = h = np.random.default_rng(0).normal(size=(6, 2))
        for i, layer in enumerate(params):
            h = h @ np.asarray(layer["weight"]).T / h.shape[1] ** 0.5
            h = act(h) if i < 2 else h
        assert np.allclose(network.apply(params, x), h, rtol=1e-12)


def test_starts_of_the_tangent_kernel_scaling():
    model = models.MLP(2, 400, parameterization="ntk", init_scale=0.1, bias=True)
    first, last = model.build(100, 400).init(jax.random.key(0))
    for values in (first["weight"], last["weight"], last["bias"]):
        assert np.isclose(np.std(values), 0.1, rtol=0.1) and np.abs(values).max() > 0.25
    signs = replace(model, output_weights="signs").build(100, 1).init(jax.random.key(0))[1]
    assert np.allclose(np.abs(signs["weight"]), 0.1) and abs(np.sign(signs["weight"]).sum()) < 80


def test_linear_network_in_the_tangent_kernel_scaling_has_its_matrix():
    with precision("float64"):
        network = models.MLP(3, 4, "linear", bias=True, parameterization="ntk").build(3, 2)
        params = network.init(jax.random.key(0))
        x = np.random.default_rng(0).normal(size=(5, 3))
        w, offset = network.matrix(params)
        assert np.allclose(network.apply(params, x), x @ w.T + offset, rtol=1e-12)


def test_gram_has_the_derivative_of_the_plain_product():
    with precision("float64"):
        u = jnp.asarray(np.random.default_rng(0).normal(size=(4, 3)))
        g = jnp.asarray(np.random.default_rng(1).normal(size=(4, 4)))
        ours, dense = (
            jax.jit(
                lambda u, w=w: (
                    jax.grad(lambda u: jnp.sum(w(u) * g))(u),
                    jax.hessian(lambda u: jnp.sum(w(u) ** 2))(u),
                )
            )(u)
            for w in (gram, lambda u: u @ u.T)
        )
        assert np.allclose(ours[0], dense[0], rtol=1e-13)
        assert np.allclose(ours[1], dense[1], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("size", [1.0, 1e-82])
def test_tied_model_starts_from_the_given_jacobian(size):
    w = size * np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
    with precision("float64"):
        network = models.TiedLinear(4, initial_jacobian=w).build(3, 3)
        got, _ = network.matrix(network.init(jax.random.key(0)))
        assert np.allclose(got / size, w / size, rtol=1e-12, atol=1e-14)


def test_a_missing_direction_of_the_start_is_exactly_missing():
    with precision("float64"):
        network = models.TiedLinear(3, initial_jacobian=np.ones((3, 3))).build(3, 3)
        u = np.asarray(network.init(jax.random.key(0)))
    assert np.linalg.matrix_rank(u) == 1 and not u[:, 1:].any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: models.TiedLinear(0), "width"),
        (lambda: models.TiedLinear(2, -1.0), "init_scale"),
        (lambda: models.TiedLinear(2, initial_jacobian=((1, 2), (2, 1))), "semidefinite"),
        (lambda: models.TiedLinear(2, initial_jacobian=((1, 2), (0, 1))), "symmetric"),
        (lambda: models.TiedLinear(2, initial_jacobian=((1, 0), (0, 1))).build(3, 3), "shape"),
        (lambda: models.MLP(0), "depth"),
        (lambda: models.FunctionModel(1, 2), "init"),
    ],
)
def test_models_that_cannot_be_built_are_refused(make, message):
    with pytest.raises(BadInput, match=message):
        make()

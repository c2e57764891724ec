"""Curvature and kernels of torch models against dense autograd, and against our jax probes."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.func import functional_call

import dynascope
from dynascope import probes
from dynascope.watching.attach import adapt
from dynascope.watching.eigenpairs import top_eigenpair
from dynascope.watching.spectrum import top_spectrum

from .models import KINDS, made

pytestmark = pytest.mark.slow  # torch is installed for make test-all alone


def dense_hessian(net, loss, batch, model) -> np.ndarray:
    """Row by row, in float64, with dropout off and batch norm as in training."""
    net = net.double()
    for module in net.modules():
        module.training = isinstance(module, torch.nn.modules.batchnorm._NormBase)
    torch.backends.mha.set_fastpath_enabled(False)
    shapes = [net.get_parameter(name).shape for name in model.names]
    start = torch.cat([net.get_parameter(name).detach().reshape(-1) for name in model.names])

    def objective(vector):
        parts = torch.split(vector, [s.numel() for s in shapes])
        params = {n: p.reshape(s) for n, p, s in zip(model.names, parts, shapes)}
        buffers = {n: b.clone() for n, b in net.named_buffers()}
        if loss is None:
            return functional_call(net, {**params, **buffers}, (), batch).loss
        x, y = (v.double() if v.is_floating_point() else v for v in batch)
        return loss(functional_call(net, {**params, **buffers}, (x,)), y)

    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        rows = torch.autograd.functional.hessian(objective, start)
    torch.backends.mha.set_fastpath_enabled(True)
    return rows.numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_sharpness_is_the_top_of_the_dense_hessian(kind):
    net, loss, batch = made(kind)
    model = adapt(net, loss)
    with model.at(batch) as point:
        found = point.sharpness(None, 1e-4)
    want = np.linalg.eigvalsh(dense_hessian(net, loss, batch, model))[-1]
    assert found.converged and found.residual <= 1e-4
    assert found.value == pytest.approx(want, rel=1e-4)


def test_scaled_sharpness_is_that_of_the_scaled_matrix():
    net, loss, batch = made("mlp")
    model = adapt(net, loss)
    scaling = torch.rand(model.size) + 0.1
    with model.at(batch) as point:
        found = point.sharpness(None, 1e-4, scaling.sqrt())
    root = scaling.double().sqrt().numpy()
    hessian = dense_hessian(net, loss, batch, model)
    want = np.linalg.eigvalsh(root[:, None] * hessian * root)[-1]
    assert found.value == pytest.approx(want, rel=1e-4)


def test_kernel_is_that_of_the_dense_jacobian_and_of_our_jax_probe():
    net, loss, batch = made("mlp")
    model = adapt(net, loss)
    with model.at(batch) as point:
        pairs = point.kernel_top(None, 4, 1e-5)
        slope = point.output_gradient.numpy()
    weights = {n: p.detach().numpy() for n, p in net.named_parameters()}

    def f(params, x):
        hidden = jnp.tanh(x @ params["0.weight"].T + params["0.bias"])
        return hidden @ params["2.weight"].T + params["2.bias"]

    kernel = np.asarray(probes.tangent_kernel(f, weights, batch[0].numpy()))
    want = np.linalg.eigvalsh(kernel)[::-1][:4]
    assert pairs.values == pytest.approx(want, rel=1e-4) and pairs.converged.all()
    top = np.linalg.eigh(kernel)[1][:, -1]
    share = (top @ slope) ** 2 / (slope @ slope)
    mine = (pairs.vectors[0].numpy() @ slope) ** 2 / (slope @ slope)
    assert mine == pytest.approx(share, rel=1e-3)


def test_outer_product_of_a_linear_model_is_its_weights():
    """f = W x has the gradient W for every input: the average is W^T W."""
    net = torch.nn.Linear(4, 3)
    with adapt(net, torch.nn.MSELoss()).at((torch.randn(7, 4), torch.randn(7, 3))) as point:
        slopes = point.input_slopes()
    assert (slopes.T @ slopes).numpy() == pytest.approx(
        (net.weight.T @ net.weight).detach().numpy(), rel=1e-5
    )


@pytest.mark.parametrize("shape", [(3, 2, 6), (6, 5, 2)], ids=["fewer inputs", "more inputs"])
@pytest.mark.parametrize("given", [False, True])
def test_alignment_is_the_cosine_of_the_two_matrices(shape, given):
    """The matrices are not formed: against those of a linear model, W^T W, which are known."""
    samples, outputs, inputs = shape
    net = torch.nn.Linear(inputs, outputs, bias=False)
    batch = torch.randn(samples, inputs), torch.randn(samples, outputs)
    target = np.random.default_rng(0).standard_normal((inputs, inputs)) if given else None
    watch = dynascope.watch(
        net, torch.nn.MSELoss(), every=1, budget=1e9, preset="full", target=target, store=None,
        strict=True,
    )  # fmt: skip
    seen = []
    for _ in range(2):
        seen.append((net.weight.T @ net.weight).detach().numpy())
        watch(1.0, batch=batch, learning_rate=0.1)
        torch.nn.init.normal_(net.weight)
    wanted = seen[0] if target is None else target
    cosines = [np.vdot(a, wanted) / np.linalg.norm(a) / np.linalg.norm(wanted) for a in seen]
    assert watch.dataset()["agop_alignment"].values == pytest.approx(cosines, rel=1e-4)


def times(values):
    """The product with a diagonal matrix."""
    return lambda v, out: torch.mul(values, v, out=out)


def test_lanczos_restarts_and_finds_the_largest_of_many():
    values = torch.linspace(-5, 1, 300)
    values[17] = 1.05  # close to the next: needs restarts
    found = top_eigenpair(times(values), torch.ones(300), 1e-4, 1000)
    assert found.products > 16 and found.converged
    assert found.value == pytest.approx(1.05, rel=1e-5)


def test_too_few_products_are_a_lower_bound_and_say_so():
    values = torch.linspace(0, 1, 1000)
    found = top_eigenpair(times(values), torch.ones(1000), 1e-8, 6)
    assert not found.converged and found.value < 1 and found.products <= 6


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_is_that_of_the_dense_jacobian(kind):
    """J J^T from all rows of the Jacobian, in float64."""
    net, loss, batch = made(kind)
    model = adapt(net, loss)
    with model.at(batch) as point:
        found = point.kernel_top(None, 3, 1e-4)
    net = net.double()
    for module in net.modules():
        module.training = isinstance(module, torch.nn.modules.batchnorm._NormBase)
    torch.backends.mha.set_fastpath_enabled(False)
    buffers = {n: b.clone() for n, b in net.named_buffers()}
    weights = {n: net.get_parameter(n).detach().requires_grad_() for n in model.names}
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        if loss is None:
            outputs = functional_call(net, {**weights, **buffers}, (), batch).logits
        else:
            outputs = functional_call(net, {**weights, **buffers}, (batch[0].double(),))
        rows = []
        for value in outputs.reshape(-1):
            slopes = torch.autograd.grad(
                value, tuple(weights.values()), retain_graph=True, allow_unused=True
            )
            rows.append(torch.cat([
                (torch.zeros_like(w) if g is None else g).reshape(-1)
                for g, w in zip(slopes, weights.values(), strict=True)
            ]))  # fmt: skip
    torch.backends.mha.set_fastpath_enabled(True)
    jacobian = torch.stack(rows)
    want = torch.linalg.eigvalsh(jacobian @ jacobian.T).flip(0)[:3].numpy()
    assert found.values == pytest.approx(want, rel=1e-4) and found.converged.all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_residual_is_that_of_a_product_of_its_own(kind, tolerance):
    """1e-5 takes restarts; the residual follows from products that were made."""
    net, loss, batch = made(kind)
    with adapt(net, loss).at(batch) as point:
        found = point.sharpness(None, tolerance)
        image = point.hessian_product(found.vector, torch.empty_like(found.vector))
    vector = found.vector
    rest = float((image - found.value * vector).norm()) / abs(found.value)
    assert found.residual <= tolerance and found.converged
    assert found.residual == pytest.approx(rest, rel=0.01, abs=3e-6)
    assert found.value == pytest.approx(float(vector @ image), rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_residuals_of_the_kernel_are_those_of_products_of_their_own(kind):
    net, loss, batch = made(kind)
    with adapt(net, loss).at(batch) as point:
        found = point.kernel_top(None, 3, 1e-3)
        images = torch.cat([point.kernel_products(v[None]) for v in found.vectors])
        again = point.kernel_top(found.vectors, 3, 1e-3)
    rests = (images - torch.as_tensor(found.values).float()[:, None] * found.vectors).norm(dim=1)
    assert found.residuals == pytest.approx(rests.numpy() / found.values, rel=0.01, abs=3e-6)
    assert again.products == 4 and again.converged.all()  # three vectors and dL/df


def test_an_operator_that_is_not_symmetric_is_not_certified():
    """A rotation has no eigenvector: the residual must say so, whatever the estimate would be."""
    matrix = torch.tensor([[1.0, 5.0], [-5.0, 1.0]])
    found = top_eigenpair(lambda v, out: torch.mv(matrix, v, out=out), torch.tensor([1.0, 0.3]))
    assert not found.converged and found.residual > 1


def test_a_repeated_eigenvalue_is_found_as_often_as_it_occurs():
    values = torch.cat([torch.tensor([4.0, 4.0, 4.0]), torch.linspace(-6, 1, 60)])
    torch.manual_seed(0)
    found = top_spectrum(lambda v: values * v, torch.randn(5, 63), 5, 1e-4)
    assert found.values == pytest.approx([4, 4, 4, 1, 1 - 7 / 59], rel=1e-4)
    assert (found.vectors @ found.vectors.T).numpy() == pytest.approx(np.eye(5), abs=1e-4)


def test_a_vector_that_has_overtaken_the_last_one_is_found():
    """Two networks that share nothing: no product leads from one to the other."""
    torch.manual_seed(0)
    net = torch.nn.ModuleList([torch.nn.Linear(40, 20, bias=False) for _ in range(2)])
    sizes = torch.tensor([1.0, 0.5])

    class Apart(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = net

        def forward(self, x):
            return torch.cat([part(s * x) for part, s in zip(self.parts, sizes)], 1)

    model = adapt(Apart(), torch.nn.MSELoss(reduction="sum"))
    batch = torch.randn(16, 40), torch.randn(16, 40)
    with model.at(batch) as point:
        before = point.sharpness(None, 1e-2)
    sizes[:] = torch.tensor([0.5, 1.0])
    with model.at(batch) as point:
        after = point.sharpness(before.vector, 1e-2)
    assert after.value == pytest.approx(before.value, rel=0.02)


def test_float64_models_are_measured_in_float64():
    net, loss, (x, y) = made("mlp")
    with adapt(net, loss).at((x, y)) as point:
        single = point.sharpness(None, 1e-5).value, point.kernel_top(None, 2, 1e-5).values
    with adapt(net.double(), loss).at((x.double(), y)) as point:
        double = point.sharpness(None, 1e-5), point.kernel_top(None, 2, 1e-5)
    assert double[0].vector.dtype == double[1].vectors.dtype == torch.float64
    assert double[0].value == pytest.approx(single[0], rel=1e-4)
    assert double[1].values == pytest.approx(single[1], rel=1e-4)


def test_a_part_that_cannot_be_mapped_is_gone_through_vector_by_vector():
    """A function with a backward pass of its own; the kernel of f = 2 W x is 4 x x^T."""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return 2 * x

        @staticmethod
        def backward(context, slope):
            return 2 * slope * float(slope.isfinite().all())  # a number: not to be mapped

    class Doubled(torch.nn.Linear):
        def forward(self, x):
            return Twice.apply(super().forward(x))

    net, x = Doubled(3, 1, bias=False), torch.randn(6, 3)
    with adapt(net, torch.nn.MSELoss()).at((x, torch.randn(6, 1))) as point:
        found = point.kernel_top(None, 2, 1e-4)
        slopes = point.input_slopes()
    want = np.linalg.eigvalsh(4 * (x @ x.T).numpy())[::-1][:2]
    assert found.values == pytest.approx(want, rel=1e-4)
    slope = 2 * net.weight.detach()
    assert (slopes.T @ slopes).numpy() == pytest.approx((slope.T @ slope).numpy(), rel=1e-5)


@pytest.mark.parametrize("tolerance", [None, 1e-4], ids=["as it comes", "asked for"])
def test_what_is_recorded_is_as_near_as_its_certificate_says(tolerance):
    """The value is a lower bound, within its residual of the dense one; 1e-4 is to be had."""
    net, loss, batch = made("mlp")
    asked = {} if tolerance is None else {"tolerance": tolerance}
    watch = dynascope.watch(net, loss, store=None, strict=True, **asked)
    watch(1.0, batch=batch, learning_rate=0.1)
    data = watch.dataset().isel(step=0)
    want = np.linalg.eigvalsh(dense_hessian(net, loss, batch, adapt(net, loss)))[-1]
    error = 1 - float(data["sharpness"]) / want
    assert -1e-5 <= error <= float(data["sharpness_residual"]) <= asked.get("tolerance", 0.05)
    assert float(data["critical_learning_rate"] * data["sharpness"]) == pytest.approx(2, rel=1e-6)

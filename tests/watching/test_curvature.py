"""Curvature and kernels of torch models against dense autograd, and against our jax probes."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.func import functional_call

from dynascope import probes
from dynascope.watching.attach import adapt
from dynascope.watching.eigenpairs import top_eigenpair

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
        found = point.sharpness(None, 1e-4, scaling)
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
    assert [p.value for p in pairs] == pytest.approx(want, rel=1e-4)
    top = np.linalg.eigh(kernel)[1][:, -1]
    share = (top @ slope) ** 2 / (slope @ slope)
    mine = (pairs[0].vector.numpy() @ slope) ** 2 / (slope @ slope)
    assert mine == pytest.approx(share, rel=1e-3)


def test_sharpness_of_torch_and_jax_is_the_same_on_the_same_weights():
    net, _, (x, _) = made("mlp")
    y = torch.randn(12, 3)
    weights = {n: jnp.asarray(p.detach().numpy()) for n, p in net.named_parameters()}

    def f(params, x):
        hidden = jnp.tanh(x @ params["0.weight"].T + params["0.bias"])
        return hidden @ params["2.weight"].T + params["2.bias"]

    with adapt(net, torch.nn.MSELoss()).at((x, y)) as point:
        torchs = point.sharpness(None, 1e-4)
    mean_square = lambda out, target: jnp.mean((out - target) ** 2)  # noqa: E731
    with adapt(f, mean_square).at((x.numpy(), y.numpy()), weights) as point:
        jaxs = point.sharpness(None, 1e-4)
    assert torchs.value == pytest.approx(jaxs.value, rel=1e-4)


def test_outer_product_of_a_linear_model_is_its_weights():
    """f = W x has the gradient W for every input: the average is W^T W."""
    net = torch.nn.Linear(4, 3)
    with adapt(net, torch.nn.MSELoss()).at((torch.randn(7, 4), torch.randn(7, 3))) as point:
        found = point.agop()
    assert found.numpy() == pytest.approx((net.weight.T @ net.weight).detach().numpy(), rel=1e-5)


def test_lanczos_restarts_and_finds_the_largest_of_many():
    values = torch.linspace(-5, 1, 300)
    values[17] = 1.05  # close to the next: needs restarts
    found = top_eigenpair(lambda v: values * v, torch.ones(300), 1e-4, 1000)
    assert found.products > 16 and found.converged
    assert found.value == pytest.approx(1.05, rel=1e-5)


def test_too_few_products_are_a_lower_bound_and_say_so():
    values = torch.linspace(0, 1, 1000)
    found = top_eigenpair(lambda v: values * v, torch.ones(1000), 1e-8, 6)
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
    assert [p.value for p in found] == pytest.approx(want, rel=1e-4)


def test_convolution_with_batch_norm_is_that_of_our_jax_probe():
    """The network of `models.convolution` written in jax, batch statistics and all."""
    import jax

    net, loss, (x, y) = made("convolution")
    with adapt(net, loss).at((x, y)) as point:
        torchs = point.sharpness(None, 1e-4)
    weights = {n: jnp.asarray(p.detach().numpy()) for n, p in net.named_parameters()}

    def f(w, x):
        h = jax.lax.conv(x, w["0.weight"], (1, 1), "VALID") + w["0.bias"][:, None, None]
        mean, spread = h.mean((0, 2, 3), keepdims=True), h.var((0, 2, 3), keepdims=True)
        h = (h - mean) / jnp.sqrt(spread + 1e-5)
        h = h * w["1.weight"][:, None, None] + w["1.bias"][:, None, None]
        h = jax.nn.gelu(h, approximate=False).reshape(len(x), -1)
        return h @ w["5.weight"].T + w["5.bias"]

    def cross_entropy(out, targets):
        return -jnp.mean(jax.nn.log_softmax(out)[jnp.arange(len(out)), targets])

    with adapt(f, cross_entropy).at((x.numpy(), y.numpy()), weights) as point:
        jaxs = point.sharpness(None, 1e-4)
    assert torchs.value == pytest.approx(jaxs.value, rel=1e-4)

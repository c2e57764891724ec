"""The split of the residual and the kernel's alignment against dense algebra."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import dynascope as ds
from dynascope.core.errors import BadInput
from dynascope.dynamics import GradientDescent
from dynascope.probes import (
    KernelAlignment,
    Loss,
    ResidualSplit,
    TangentKernel,
    eigenspace_split,
    kernel_alignment,
)
from dynascope.probes.base import Snapshot
from dynascope.runtime.precision import precision
from dynascope.tasks import Blobs

TASK = Blobs(count=12, dimension=3)
TARGETS = np.arange(12) % 2


@pytest.fixture(scope="module")
def run():
    probes = [
        ResidualSplit(1), ResidualSplit(3, name="three"), KernelAlignment(), TangentKernel(),
        Loss(),
    ]  # fmt: skip
    return ds.simulate(
        TASK, ds.models.MLP(2, 16), GradientDescent(0.05), steps=5, probes=probes,
        dtype="float64",
    ).isel(seed=0)  # fmt: skip


def test_the_parts_add_up_to_the_mean_squared_residual(run):
    assert run["residual_split"]["part"].values.tolist() == ["top", "rest"]
    one, three = run["residual_split"].values, run["three"].values
    assert np.allclose(one.sum(axis=1), run["loss"], rtol=1e-9)  # the task's loss is the same mean
    assert np.allclose(three.sum(axis=1), one.sum(axis=1), rtol=1e-9)
    assert (three[:, 0] >= one[:, 0] - 1e-9).all()


@pytest.mark.slow
def test_the_top_part_is_that_of_the_dense_kernel():
    model, key = ds.models.MLP(2, 16), jax.random.key(3)
    with precision("float64"):
        network = model.build(3, 1)
        params, samples = network.init(key), TASK.samples(key)
        snapshot = Snapshot(TASK, network, params, samples, None)
        kernel = np.asarray(TangentKernel().measure(snapshot))
        residual = np.asarray(network.apply(params, samples[0]) - samples[1])
        for top in (1, 2, 5):
            ours = np.asarray(ResidualSplit(top, tolerance=1e-9).measure(snapshot))
            assert np.allclose(ours, np.array(eigenspace_split(kernel, residual, top)) / 12)


def test_a_split_by_hand():
    """The same from a kernel and a residual that are known."""
    random = np.random.default_rng(0)
    vectors = np.linalg.qr(random.normal(size=(6, 6)))[0]
    kernel = vectors @ np.diag([9.0, 5, 3, 2, 1, 0.5]) @ vectors.T
    residual = 2 * vectors[:, 0] - 3 * vectors[:, 1] + 0.5 * vectors[:, 4]
    assert np.allclose(eigenspace_split(kernel, residual, 1), (4, 9.25))
    assert np.allclose(eigenspace_split(kernel, residual, 2), (13, 0.25))


def test_alignment_is_one_for_the_targets_own_kernel_and_less_for_others():
    y = np.array([1.0, -1, 2])
    assert kernel_alignment(np.outer(y, y), y) == pytest.approx(1)
    assert kernel_alignment(-np.outer(y, y), y) == pytest.approx(-1)
    assert np.isnan(kernel_alignment(np.zeros((3, 3)), y))


def test_the_probe_is_the_cosine_of_the_recorded_kernels(run):
    dense = [kernel_alignment(kernel, TARGETS) for kernel in run["tangent_kernel"].values]
    assert np.allclose(run["kernel_alignment"], dense, rtol=1e-9)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(BadInput, match="as the residual"):
        eigenspace_split(np.eye(3), np.ones(2))
    with pytest.raises(BadInput, match="from 1 to 2"):
        eigenspace_split(np.eye(2), np.ones(2), 3)
    with pytest.raises(BadInput, match="as many as targets"):
        kernel_alignment(np.eye(3), np.ones(2))
    with pytest.raises(BadInput, match="at least 1 direction"):
        ResidualSplit(0)

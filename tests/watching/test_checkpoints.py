"""`dynascope.watch.checkpoints`: runs that are over."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dynascope
from dynascope.core.errors import BadInput
from dynascope.watching.attach import adapt
from dynascope.watching.diagnosis import diagnose

from .models import made

pytestmark = pytest.mark.slow  # torch is installed for make test-all alone


@pytest.fixture
def run(tmp_path):
    """Three checkpoints of an MLP, with the sharpness at each; step 100 sorts after 20."""
    save = pytest.importorskip("safetensors.torch").save_file
    net, loss, batch = made("mlp")
    sharpness = {}
    for step in (0, 20, 100):
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.mul_(1.2)
        save(dict(net.state_dict()), str(tmp_path / f"model-{step}.safetensors"))
        with adapt(net, loss).at(batch) as point:
            sharpness[step] = point.sharpness(None, 1e-4).value
    return str(tmp_path / "*.safetensors"), net, loss, batch, sharpness


def test_every_checkpoint_is_measured(run):
    pattern, net, loss, batch, sharpness = run
    before = [p.detach().clone() for p in net.parameters()]
    found = dynascope.watch.checkpoints(pattern, model=net, loss=loss, batch=batch,
                                        learning_rate=0.1)  # fmt: skip
    assert found["step"].values.tolist() == [0, 20, 100]
    assert found["sharpness"].values == pytest.approx(list(sharpness.values()), rel=1e-3)
    ratio = 0.1 * np.array(list(sharpness.values())) / 2
    assert found["rate_over_critical"].values == pytest.approx(ratio, rel=1e-3)
    assert np.isnan(found["update_stable_rank"].values[0]).all()
    assert np.isfinite(found["update_stable_rank"].values[1:]).all()
    assert all(torch.equal(p, b) for p, b in zip(net.parameters(), before, strict=True))
    assert diagnose(found)


def test_without_a_batch_ranks_alone(run):
    pattern, net, *_ = run
    found = dynascope.watch.checkpoints(pattern, model=net)
    assert "sharpness" not in found and np.isfinite(found["update_stable_rank"].values[1:]).all()


def test_files_that_do_not_fit_are_named_in_one_line(run, tmp_path):
    pattern, *_ = run
    with pytest.raises(BadInput, match="weight"):
        dynascope.watch.checkpoints(pattern, model=torch.nn.Linear(5, 8))
    with pytest.raises(BadInput, match="files that exist"):
        dynascope.watch.checkpoints(str(tmp_path / "no*.safetensors"), model=torch.nn.Linear(5, 8))

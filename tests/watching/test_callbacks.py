"""Callbacks under the trainers of Hugging Face and Lightning."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

from dynascope.store import Store
from dynascope.watching import callbacks

from .models import made

pytestmark = pytest.mark.slow  # torch is installed for make test-all alone


def test_hugging_face_trainer(tmp_path):
    """Two epochs of a small GPT-2 under `transformers.Trainer`."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate", reason="transformers.Trainer needs it")
    net, _, _ = made("gpt2")
    rows = [{"input_ids": t, "labels": t} for t in torch.randint(0, 17, (12, 6))]
    store = Store(tmp_path / "home")
    callback = callbacks.hugging_face(net, every=2, budget=1e9, store=store)
    arguments = transformers.TrainingArguments(
        str(tmp_path / "out"), per_device_train_batch_size=4, num_train_epochs=2,
        learning_rate=1e-3, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
        lr_scheduler_type="constant",
    )  # fmt: skip
    trainer = transformers.Trainer(net, arguments, train_dataset=rows, callbacks=[callback])
    trainer.train()
    data = callback.watch.dataset()
    assert data["step"].values.tolist() == [1, 2, 3, 4, 5, 6]
    assert np.isfinite(data["loss"]).all() and (data["learning_rate"] == 1e-3).all()
    assert data["sharpness"].count() == 3 and callback.watch.errors == []
    assert "AdamW" in data.attrs["critical_rate_of"]
    assert not net._forward_hooks
    (entry,) = store.runs()
    assert entry.outcome == "finished"


def _lightning_run(callback, net, loss, batches):
    """The calls that Lightning's trainer makes, in their order."""
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    trainer = SimpleNamespace(optimizers=[optimizer], global_step=0)
    for number, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        optimizer.step()
        trainer.global_step += 1
        callback.on_train_batch_end(trainer, net, {"loss": value.detach()}, (x, y), number)
    callback.on_train_end(trainer, net)


def test_lightning_by_its_hooks(monkeypatch):
    """Without Lightning: a module of its name with the class that is asked for."""
    parts = ("lightning", "lightning.pytorch", "lightning.pytorch.callbacks")
    for name in parts:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules[parts[2]].Callback = type("Callback", (), {})
    net, loss, batch = made("mlp")
    callback = callbacks.lightning(net, loss, every=1, budget=1e9, store=None)
    _lightning_run(callback, net, loss, [batch] * 3)
    data = callback.watch.dataset()
    assert data["step"].values.tolist() == [1, 2, 3] and (data["learning_rate"] == 0.1).all()
    assert data["sharpness"].count() == 3 and callback.watch.errors == []


@pytest.mark.filterwarnings("ignore")  # Lightning's own
def test_lightning_itself():
    lightning = pytest.importorskip("lightning", reason="lightning is not installed")
    net, loss, (x, y) = made("mlp")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = net

        def training_step(self, batch, number):
            return loss(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.net.parameters(), 0.1)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=4)
    callback = callbacks.lightning(net, loss, every=1, budget=1e9, store=None)
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", callbacks=[callback], logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Module(), data)
    found = callback.watch.dataset()
    assert found["step"].values.tolist() == [1, 2, 3, 4, 5, 6]
    assert found["sharpness"].count() == 6 and callback.watch.errors == []
    assert found["learning_rate"].values == pytest.approx(np.full(6, 0.1))

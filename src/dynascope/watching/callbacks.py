"""Watching under somebody else's trainer: callbacks for Hugging Face and Lightning."""

from __future__ import annotations

from typing import Any

from dynascope.watching.attach import Watch, watch


def hugging_face(model: Any, **options: Any) -> Any:
    """A callback for `transformers.Trainer(callbacks=[...])`.

    The trainer tells callbacks neither batch nor loss: both are taken from the model's calls.

    Args:
        model: The model that the trainer trains, with a loss of its own.
        **options: As for `dynascope.watch`.

    Returns:
        The callback; its `watch` has the record.
    """
    from transformers import TrainerCallback

    class Watching(TrainerCallback):
        def __init__(self) -> None:
            self.watch = watch(model, None, **options)
            self._seen: tuple[Any, Any] | None = None
            self._hook = model.register_forward_hook(self._keep, with_kwargs=True)

        def _keep(self, module: Any, inputs: tuple, batch: dict, output: Any) -> None:
            if module.training and getattr(output, "loss", None) is not None:
                self._seen = batch, output.loss.detach()

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self._seen is not None:
                batch, loss = self._seen
                optimizer = getattr(kwargs.get("optimizer"), "optimizer", kwargs.get("optimizer"))
                self.watch(loss, batch=batch, optimizer=optimizer, step=state.global_step)

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self._hook.remove()
            self.watch.close()

    return Watching()


def lightning(model: Any, loss: Any, **options: Any) -> Any:
    """A callback for `lightning.Trainer(callbacks=[...])`.

    Args:
        model: The torch module inside the LightningModule, or that itself.
        loss: `loss(outputs, targets)`; batches are (inputs, targets).
        **options: As for `dynascope.watch`.

    Returns:
        The callback; its `watch` has the record.
    """
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback

    class Watching(Callback):
        def __init__(self) -> None:
            self.watch: Watch = watch(model, loss, **options)

        def on_train_batch_end(
            self, trainer: Any, module: Any, outputs: Any, batch: Any, number: int
        ) -> None:
            value = outputs["loss"] if isinstance(outputs, dict) else outputs
            optimizer = trainer.optimizers[0]
            self.watch(value, batch=batch, optimizer=optimizer, step=trainer.global_step)

        def on_train_end(self, trainer: Any, module: Any) -> None:
            self.watch.close()

    return Watching()

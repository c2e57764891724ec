"""`dynascope.watch`: probes in somebody else's training loop."""

from __future__ import annotations

import math
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dynascope.core.errors import BadInput, bad
from dynascope.store import Store
from dynascope.watching import measurements
from dynascope.watching.budget import Budget
from dynascope.watching.eigenpairs import TOLERANCE
from dynascope.watching.live import LiveLine
from dynascope.watching.measurements import KERNEL_COUNT, Measurement, Now, Own, UpdateRanks
from dynascope.watching.rows import Rows
from dynascope.watching.rules import UpdateRule
from dynascope.watching.saving import Saving, before_exit

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Options:
    """How a run is watched; see `Attach`."""

    every: int
    budget: float
    optimizer: Any
    label: str
    store: Store | None
    forward: Callable[[str, float, int], Any] | None
    live: bool
    strict: bool


class Watch:
    """A watched training run; call it once a step. Made by `dynascope.watch`."""

    def __init__(self, model: Any, measurements: list[Measurement], options: Options) -> None:
        self._model, self._measurements, self._options = model, measurements, options
        self._budget = Budget(options.budget, options.every)
        given = options.optimizer
        self._rule = given if isinstance(given, UpdateRule) else UpdateRule()
        self._lock = threading.Lock()
        self._rows = Rows(_axes(measurements), _labels(measurements))
        self._calls, self._tried = 0, False
        self._live = LiveLine(sys.stderr) if options.live else None
        self.errors: list[str] = []
        self._saving: Saving | None = None
        self._record: str | None = None
        if options.store is not None:
            about = {"watched": options.label, **model.about()}
            self._saving = Saving(
                self._rows, self._lock, about, options.label, options.store, self.about,
                self._saved,
            )  # fmt: skip
            before_exit(self.close)

    def __call__(
        self,
        loss: Any,
        *,
        batch: Any = None,
        learning_rate: float | None = None,
        optimizer: Any = None,
        params: Any = None,
        metrics: Mapping[str, float] | None = None,
        step: int | None = None,
    ) -> None:
        """Record a step, and measure if it is time and within the budget.

        Args:
            loss: The step's loss; anything that `float` takes.
            batch: What the step saw: (inputs, targets), or a torch model's keyword arguments.
                Measurements are made on it; without it only what is said here is recorded.
            learning_rate: The step's rate. A torch `optimizer=` gives it, with all groups.
            optimizer: The torch optimiser, unless `watch` was given it; for jax the state of the
                optax transformation that `watch` was given.
            params: The weights now, for jax.
            metrics: Further numbers, such as {"test_loss": 0.3}.
            step: Number of the step; counted from 0 by default.
        """
        with self._budget.inside():
            number = self._calls if step is None else int(step)
            rate = self._model.rate(self._options.optimizer, optimizer)
            rate = rate if learning_rate is None else float(learning_rate)
            numbers = {"loss": _number("loss", loss), "learning_rate": rate}
            numbers |= {name: _number(name, value) for name, value in (metrics or {}).items()}
            measured = None
            if batch is not None and self._budget.due(self._calls):
                with self._budget.measuring():
                    measured = self._measure(batch, params, optimizer, rate, number)
            with self._lock:
                self._rows.add(number, numbers, measured)
            if self._live is not None:
                self._live.show(number, numbers, measured, self._budget.used)
            self._send(number, numbers, measured)
            self._calls += 1

    def dataset(self) -> xr.Dataset:
        """The record so far: every quantity along `step`, NaN where it was not measured."""
        with self._lock:
            data = self._rows.dataset()
        data.attrs.update(self.about())
        return data

    def about(self) -> dict[str, Any]:
        """What a reader of the record must know."""
        found = {
            "critical_rate_of": self._rule.words(),
            "limit": self._rule.limit,
            "schedule": self._budget.words(),
            "errors": list(self.errors),
        }
        return {**found, "notes": [*getattr(self._model, "notes", ())]}

    def diagnosis(self) -> list[Any]:
        """What the run is doing, with the evidence: see `dynascope.watching.diagnose`."""
        from dynascope.watching.diagnosis import diagnose

        return diagnose(self.dataset())

    def summary(self) -> str:
        """The record and its diagnosis in words."""
        from dynascope.watching.words import summary

        return summary(self.dataset())

    @property
    def record(self) -> str | None:
        """The id of the stored record, once there is one."""
        return self._saving.id if self._saving else self._record

    def close(self) -> None:
        """End the record; also done at the end of the process and of a `with` block."""
        if self._live is not None:
            self._live.close()
        if self._saving is not None:
            self._saving.close("finished")
            self._record = self._saving.id
            self._saving = None

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _saved(self, seconds: float) -> None:
        self._budget.saving += seconds

    def _measure(
        self, batch: Any, params: Any, optimizer: Any, rate: float, step: int
    ) -> dict[str, Any] | None:
        found: dict[str, Any] = {}
        try:
            with self._model.at(batch, params) as point:
                self._try_once(point)
                root = self._read_rule(optimizer, rate)
                now = Now(self._model, point, batch, params, self._rule, rate, root)
                for measurement in self._measurements:
                    found |= self._one(measurement, now, step)
        except BadInput:
            if self._options.strict or not self._tried:  # the first call is part of attaching
                raise
            self._failed(step, "the model")
        except Exception:
            if self._options.strict:
                raise
            self._failed(step, "the model")
        self._tried = True
        return found

    def _try_once(self, point: Any) -> None:
        """The first measurement finds out what cannot be differentiated twice."""
        if not self._tried:
            check = getattr(self._model, "check_second_derivative", None)
            if check is not None:
                check(point)

    def _one(self, measurement: Measurement, now: Now, step: int) -> dict[str, Any]:
        try:
            return measurement.measure(now)
        except Exception:
            if self._options.strict:
                raise
            self._failed(step, type(measurement).__name__)
            return {}

    def _failed(self, step: int, what: str) -> None:
        error = sys.exc_info()[1]
        said = (str(error).splitlines() or [""])[0]
        line = f"step {step}: {what}: {type(error).__name__}: {said}"
        if not self.errors:
            warnings.warn(f"dynascope could not measure at {line}; training goes on", stacklevel=5)
        if len(self.errors) < 100:
            self.errors.append(line)

    def _read_rule(self, optimizer: Any, rate: float) -> Any:
        """See what the optimiser does now; D^(1/2) where it scales the curvature."""
        given = self._options.optimizer
        if isinstance(given, UpdateRule) or given is optimizer is None:
            return None
        self._rule, root = self._model.read_rule(given, optimizer, rate)
        return root

    def _send(self, step: int, numbers: dict[str, float], measured: dict | None) -> None:
        if self._options.forward is None:
            return
        single = {k: v for k, v in (measured or {}).items() if isinstance(v, float)}
        try:
            for name, value in (numbers | single).items():
                if not math.isnan(value):
                    self._options.forward(f"dynascope/{name}", value, step)
        except Exception:
            if self._options.strict:
                raise
            self._failed(step, "forward")


class Attach:
    """`dynascope.watch`: call it to watch a loop; `.checkpoints` looks at one that is over."""

    def __call__(
        self,
        model: Any,
        loss: Callable | None = None,
        *,
        every: int = 16,
        budget: float = 0.5,
        preset: str = "standard",
        probes: Sequence[Callable[[Any, Any], float] | Measurement] = (),
        target: Any = None,
        samples: int = measurements.SAMPLES,
        tolerance: float = TOLERANCE,
        optimizer: Any = None,
        label: str = "watched run",
        store: Store | Literal["default"] | None = "default",
        forward: Callable[[str, float, int], Any] | None = None,
        live: bool | None = None,
        strict: bool = False,
    ) -> Watch:
        """Watch a training run: what the result is called with is recorded and measured.

        Args:
            model: A `torch.nn.Module`; or for jax a module of Equinox or Flax, `apply(params, x)`,
                or a pair (init, apply).
            loss: `loss(outputs, targets)`, a scalar. None for torch models that return their own.
            every: Steps between two measurements.
            budget: Time that measurements may take over the loop's own; they thin out to keep it.
            preset: "light" (gradient norm, the sharpness that the rule sees, rate over critical
                rate), "standard" (the plain sharpness and the stable rank of the weights' changes
                as well), "full" (tangent kernel and features).
            probes: What to measure besides: functions of your own to a number, `f(model, batch)`,
                or `f(params, batch)` for jax; or measurements of ours, such as
                `watching.measurements.Kernel()` beside a lighter preset.
            target: The matrix that features are compared with in "full"; the first one by default.
            samples: Of a batch, the first so many are used for kernel and features in "full", whose
                cost grows with them; all else is of the whole batch.
            tolerance: Largest residual with which an eigenvalue counts as found. There is one no
                further away than that, relatively; the error of the value is of second order.
            optimizer: What moves the weights, for its critical rate: a torch optimiser, whose rule
                and rates are then read at every step; an optax transformation, whose state comes
                with every call; or an `UpdateRule`. Plain descent by default.
            label: What `dynascope runs` shows.
            store: Where to keep the record; None keeps it in memory only.
            forward: Called as `forward(name, value, step)`, such as TensorBoard's `add_scalar`.
            live: Whether to keep a line with the latest numbers at the bottom of the terminal; by
                default if standard error is one.
            strict: Raise what goes wrong inside a measurement instead of recording it.

        Returns:
            The watch; call it once a step.
        """
        if not isinstance(every, int) or every < 1:
            raise bad("every", every, "a whole number of at least 1")
        if not budget > 0:
            raise bad("budget", budget, "a share of the loop's time, above 0", "such as 0.5")
        if not isinstance(samples, int) or samples < 1:
            raise bad("samples", samples, "a whole number of at least 1")
        if not 0 < tolerance < 1:
            raise bad("tolerance", tolerance, "between 0 and 1", "such as 0.01")
        watched = adapt(model, loss)
        if store == "default":
            store = Store()
        live = sys.stderr.isatty() if live is None else live
        options = Options(every, budget, optimizer, label, store, forward, live, strict)
        own: list[Any] = [p if hasattr(p, "measure") else Own(p) for p in probes]
        found = measurements.preset(preset, watched, tolerance, target, samples)
        return Watch(watched, [*found, *own], options)

    def checkpoints(
        self, pattern: str, model: Any, loss: Callable | None = None, **options: Any
    ) -> Any:
        """A run that is over, from its files: see `watching.checkpoints.checkpoints`."""
        from dynascope.watching.checkpoints import checkpoints

        return checkpoints(pattern, model, loss, **options)


def adapt(model: Any, loss: Callable | None) -> Any:
    """A model of torch or jax behind one interface."""
    if _is_torch(model):
        from dynascope.watching.torch_point import TorchModel

        return TorchModel(model, loss)
    from dynascope.watching.jax_point import JaxModel

    return JaxModel(model, loss)


def _number(name: str, value: Any) -> float:
    """A number of torch, jax, numpy or Python."""
    try:
        return float(value.detach() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError):
        got = tuple(value.shape) if hasattr(value, "shape") else value
        raise bad(name, got, "a single number", "take its mean over the batch") from None


def _is_torch(model: Any) -> bool:
    torch = sys.modules.get("torch")  # somebody who has a torch model has imported it
    return torch is not None and isinstance(model, torch.nn.Module)


def _axes(found: list[Measurement]) -> dict[str, tuple[str, ...]]:
    names = [name for m in found for name in m.names]
    for name in names:
        if names.count(name) > 1 or name in ("loss", "learning_rate"):
            raise bad("probes", name, "names that are not taken", "rename the function")
    return {name: axes for m in found for name, axes in m.names.items()}


def _labels(found: list[Measurement]) -> dict[str, list[Any]]:
    labels: dict[str, list[Any]] = {"rank": list(range(1, KERNEL_COUNT + 1))}
    for measurement in found:
        if isinstance(measurement, UpdateRanks):
            labels["weight"] = measurement.weights
    return labels


watch = Attach()

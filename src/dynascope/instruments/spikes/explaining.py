"""What a log supports about each of its spikes: a catapult, or something else.

A catapult (zhu2024 section 4.2) is set off by a rate above the critical one, the loss comes back
below its level, and the tangent kernel's norm is lower afterwards. The sharpness stands for the
norm where that was not recorded: for squared errors they are proportional near a minimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad
from dynascope.instruments.spikes.finding import LEAST, Spike, find_spikes
from dynascope.instruments.spikes.reading import Log, make_log
from dynascope.probes.catapults import crossed

Verdict = Literal["catapult", "consistent", "no evidence", "contradicts"]
ASIDE = 5  # rows before and after a spike whose median is the norm there
STILL = 0.02  # share by which a norm must move to have moved
HALF = 0.5  # of the rise: what a top eigenspace that causes it must hold


@dataclass(frozen=True)
class Explained:
    """A spike, the evidence by name, and what it comes to."""

    spike: Spike
    step: float
    verdict: Verdict
    evidence: dict[str, Any]  # numbers, and for each criterion True, False or None

    def plain(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "step": int(self.step) if float(self.step).is_integer() else self.step,
            "peak": self.spike.top,
            "before": self.spike.before,
            "verdict": self.verdict,
            "evidence": self.evidence,
        }


def explain_spikes(
    log: Log | Mapping[str, Any] | ArrayLike, *, least: float = LEAST
) -> list[Explained]:
    """Every spike of a training log, with what the log supports.

    Args:
        log: From `read_log`, or columns by name: `step`, `loss`, and where they were recorded
            `learning_rate`, `critical_rate`, `kernel_norm`, `sharpness`, `top_loss`; or the
            losses alone, one a step.
        least: Smallest factor above the level that is called a spike.

    Returns:
        One entry for each spike. "catapult": the rate crossed the critical one, the norm fell
        and the loss came back. "contradicts": one of these was recorded and is not so.
        "consistent": what was recorded agrees, but something is missing. "no evidence": the
        log has the loss alone.

    Example:
        >>> loss = [1.0] * 20 + [5.0, 2.0] + [0.5] * 20
        >>> log = {"step": range(42), "loss": loss, "learning_rate": [0.5] * 42,
        ...        "critical_rate": [0.6] * 19 + [0.4] * 3 + [0.9] * 20,
        ...        "kernel_norm": [4.0] * 21 + [2.0] * 21}
        >>> [(e.step, e.verdict) for e in explain_spikes(log)]
        [(20.0, 'catapult')]
    """
    read = log if isinstance(log, Log) else make_log(_columns(log))
    return [_explain(read, spike) for spike in find_spikes(read["loss"], least=least)]


def _columns(log: Mapping[str, Any] | ArrayLike) -> Mapping[str, Any]:
    """Columns by name, of a plain curve as well."""
    if isinstance(log, Mapping):
        return log
    loss = np.asarray(log, float)
    if loss.ndim != 1:
        raise bad("log", loss.shape, "one loss a step, or columns by name")
    return {"step": np.arange(len(loss)), "loss": loss}


def _explain(log: Log, spike: Spike) -> Explained:
    crossed, ratio = _crossed(log, spike)
    fell, change = _fell(log, spike)
    share = _share(log, spike)
    criteria = {
        "rate above critical": crossed,
        "kernel norm fell": fell,
        "in the top eigenspace": None if share is None else share >= HALF,
    }
    recorded = [value for value in criteria.values() if value is not None]
    evidence = criteria | {
        "loss came back": spike.recovers,
        "rate over critical": ratio,
        "change of the norm": change,
        "share in the top eigenspace": share,
        "factor": spike.top / spike.before,
        "threshold": spike.threshold,
    }
    # A log that ends in the spike tells nothing of how it ends; one that goes on does.
    open_end = not spike.recovers and len(log) - spike.peak <= ASIDE
    return Explained(
        spike, float(log["step"][spike.start + 1]),
        _verdict(criteria, recorded, spike.recovers, open_end), evidence,
    )  # fmt: skip


def _verdict(criteria: dict, recorded: list, recovers: bool, open_end: bool) -> Verdict:
    if not recorded:
        return "no evidence"
    if not all(recorded) or (not recovers and not open_end):
        return "contradicts"
    whole = criteria["rate above critical"] and criteria["kernel norm fell"] and recovers
    return "catapult" if whole else "consistent"


def _crossed(log: Log, spike: Spike) -> tuple[bool | None, float | None]:
    """Whether the rate was above critical from just before the spike to its peak; largest ratio."""
    rate, critical, sharpness = (
        log.get(n) for n in ("learning_rate", "critical_rate", "sharpness")
    )
    if critical is None and sharpness is not None:
        with np.errstate(divide="ignore"):  # where the sharpness is NaN, so is this
            critical = np.where(sharpness <= 0, np.inf, 2 / sharpness)
    if rate is None or critical is None:
        return None, None
    rows = slice(max(spike.start - 1, 0), spike.peak + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = rate[rows] / critical[rows]
    ratios = ratios[~np.isnan(ratios)]
    largest = float(ratios.max()) if len(ratios) else None
    return crossed(rate[rows], critical[rows]), largest


def _fell(log: Log, spike: Spike) -> tuple[bool | None, float | None]:
    """Whether the norm is lower after the spike than before, and by which share it changed."""
    norm = log.get("kernel_norm")
    norm = log.get("sharpness") if norm is None else norm
    if norm is None:
        return None, None
    before = norm[max(spike.start + 1 - ASIDE, 0) : spike.start + 1]
    after = norm[spike.end : spike.end + ASIDE] if spike.recovers else norm[len(norm) :]
    before, after = (part[np.isfinite(part)] for part in (before, after))
    if not len(before) or not len(after) or np.median(before) == 0:
        return None, None
    change = float(np.median(after) / np.median(before) - 1)
    return change < -STILL, change


def _share(log: Log, spike: Spike) -> float | None:
    """Share of the rise that lies in the top eigenspace."""
    top, loss = log.get("top_loss"), log["loss"]
    rows = [spike.start, spike.peak]
    if top is None or not np.isfinite([*top[rows], *loss[rows]]).all():
        return None
    return float((top[rows[1]] - top[rows[0]]) / (loss[rows[1]] - loss[rows[0]]))

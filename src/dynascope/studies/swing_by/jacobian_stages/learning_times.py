"""The order in which concepts are learned, and when: measured, by the Schur law, planted."""

import numpy as np

from dynascope.core.run import Run
from dynascope.studies.swing_by.events import times_to_half
from dynascope.studies.swing_by.jacobian_stages.growth import logistic, strengths
from dynascope.studies.swing_by.jacobian_stages.runs import LAW_SCALES, Settings, law, study
from dynascope.studies.swing_by.starts import signal
from dynascope.theories.swing_by.stages import half_crossings


def times_of(run: Run) -> list[dict[str, np.ndarray]]:
    """When the major entries pass one half, (seed, d), for each of LAW_SCALES.

    Measured, by the Schur law, and by the naive estimate.
    """
    a, kinds = signal(run.experiment.task), ("measured", "schur", "naive")
    paths = (run.dataset.isel({"model.init_scale": k}) for k in range(len(LAW_SCALES)))
    return [dict(zip(kinds, times_to_half(path, a), strict=True)) for path in paths]


@study.finding(law["3 concepts"])
def order(s: Settings, law: Run) -> dict[str, np.ndarray]:
    """When three major entries pass one half, (seed, 3), and as if the larger came first."""
    w, t = law.isel(**{"model.init_scale": -1})["input_jacobian"].values, law["time"].values
    size = np.diagonal(w[:, 0], axis1=1, axis2=2)
    return {"measured": half_crossings(w, t), "larger first": -size}


@study.finding(law["3 concepts"])
def planted_order(s: Settings, law: Run) -> np.ndarray:
    """The same of planted entries that grow alone, at signals 0.25, 0.5 and 1."""
    t = law["time"].values
    grown = logistic(np.array([0.25, 0.5, 1.0]), t)[:, :, None] * np.eye(3)
    return half_crossings(np.broadcast_to(grown, (law.sizes["seed"], *grown.shape)), t)


@study.finding(law)
def times(s: Settings, law: dict[str, Run]) -> dict[tuple[int, float], dict[str, np.ndarray]]:
    """The times by number of concepts and scale of start."""
    return {
        (len(run.experiment.task.means), scale): found
        for run in law.values()
        for scale, found in zip(LAW_SCALES, times_of(run), strict=True)
    }


@study.finding(law["3 concepts"])
def planted_times(s: Settings, law: Run) -> dict[float, dict[str, np.ndarray]]:
    """The times of major entries that grow alone, from equal starts."""
    grown = logistic(strengths(law), law["time"].values)
    path = grown[:, :, None] * np.eye(grown.shape[-1])
    shape = law["input_jacobian"].shape
    planted = law.planted(input_jacobian=np.broadcast_to(path, shape).copy())
    return dict(zip(LAW_SCALES, times_of(planted), strict=True))


Errors = dict[int, np.ndarray]


@study.finding(times, planted_times)
def law_errors(s: Settings, times: dict, planted: dict) -> dict[str, dict[float, Errors]]:
    """Relative errors of predicted times, (seed, d), by kind, by scale, by number of concepts."""

    def errors(found: dict[str, np.ndarray], kind: str) -> np.ndarray:
        return np.abs(found[kind] / found["measured"] - 1)

    kinds: dict[str, dict[float, Errors]] = {
        kind: {
            scale: {d: errors(x, kind) for (d, at), x in times.items() if at == scale}
            for scale in LAW_SCALES
        }
        for kind in ("schur", "naive")
    }
    alone = {scale: {3: errors(found, "schur")} for scale, found in planted.items()}
    return kinds | {"planted": alone}

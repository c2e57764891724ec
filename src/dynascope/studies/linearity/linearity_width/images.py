"""The experiment of zhu2024 Fig. 2.2: a DenseNet with half of its edges, on ten pictures."""

import numpy as np

from dynascope.data.subsets import PAIRS, two_class_arrays
from dynascope.instruments.network.measuring import train
from dynascope.instruments.network.padded import Wired
from dynascope.studies.linearity.linearity_width.family import RECORDS, SAMPLES, Seen

DATA = "cifar10"
SCALING = "channel"  # not given in the thesis; raw pixels share a mean that takes long to fit
READINGS = ("concatenated", "hidden only")  # whether later layers read the picture too


def pictures() -> tuple[np.ndarray, np.ndarray]:
    """Ten pictures of two classes as rows, and their labels -1 and +1, (10, 1)."""
    x, y, _, _ = two_class_arrays(DATA, None, PAIRS[DATA], SAMPLES, 1, SCALING, 0, 1)
    return x.astype(float), y[:, None].astype(float)


def dropped(inputs: int, m: int, seed: int, concatenated: bool) -> Wired:
    """Three layers, the hidden ones of size m, every edge kept with probability 1/2.

    Drawn as arrays, for edge by edge millions of them would not fit.

    Args:
        inputs: Number of inputs.
        m: Size of the two hidden layers.
        seed: Of the edges.
        concatenated: Whether all layers read the inputs, as (A.6) has it, or the first alone.
    """
    random = np.random.default_rng(seed)
    shapes = ((m, inputs), (m, inputs + m), (1, inputs + 2 * m))
    masks = [(random.random(shape) < 0.5).astype(float) for shape in shapes]
    if not concatenated:
        for mask in masks[1:]:
            mask[:, :inputs] = 0
    skips = tuple(np.full(len(mask), -1, np.int32) for mask in masks)
    watched = (np.zeros((1, m)), np.zeros((1, m)), np.ones((1, 1)))
    return Wired(tuple(masks), skips, np.float64(0), watched)


def drift_on_pictures(m: int, seed: int, steps: int, concatenated: bool) -> Seen:
    """Train one network and see how far its kernel moves."""
    x, y = pictures()
    run = train(dropped(x.shape[1], m, seed, concatenated), seed, x, y, steps, steps // RECORDS)
    left = float(run.loss[-1] / run.loss[0])
    return Seen(m, np.zeros(0), np.zeros(0), float(run.drift[-1]), left, True)

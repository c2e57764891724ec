"""Spoken digits (FSDD): recordings as the repository has them, and their features.

Features are a named option. "log_spectrogram" is 32 frames x 32 bands: the frames are spread
evenly over the recording whatever its length, the bands are four Fourier bins wide, power is
in decibels from 80 below the recording's loudest (0) to the loudest (1). "waveform" is the
first second, padded with silence.
"""

from __future__ import annotations

import lzma
import wave
from pathlib import Path

import numpy as np

from dynascope.core.errors import bad
from dynascope.data.record import Split

FEATURES = ("log_spectrogram", "waveform")
WINDOW, FRAMES, BANDS, RANGE_DECIBEL = 256, 32, 32, 80.0
SECOND = 8000  # samples
TEST_RECORDINGS = 5  # the official split: recordings 0 to 4 of every speaker and digit

Recording = tuple[int, int, np.ndarray]  # digit, number of the recording, samples


def read_fsdd(place: Path, features: str) -> Split:
    """The official split, in the order digit, speaker, number of the recording."""
    recordings = _packed(place) if (place / "index.npz").is_file() else _waves(place)
    make = log_spectrogram if features == "log_spectrogram" else waveform
    x = np.stack([make(samples) for _, _, samples in recordings])
    y = np.asarray([digit for digit, _, _ in recordings], np.int64)
    test = np.asarray([number < TEST_RECORDINGS for _, number, _ in recordings])
    return x[~test], y[~test], x[test], y[test]


def is_fsdd(place: Path) -> bool:
    """Whether a folder holds the recordings, as the repository has them or packed."""
    return (place / "index.npz").is_file() or (place / "recordings").is_dir()


def _waves(place: Path) -> list[Recording]:
    """`recordings/<digit>_<speaker>_<number>.wav`."""
    found = []
    for path in (place / "recordings").glob("*.wav"):
        digit, speaker, number = path.stem.split("_")
        found.append((int(digit), speaker, int(number), path))
    if not found:
        raise bad(f"{place.name}/recordings", "no wav files", "those of the FSDD repository")
    return [(digit, number, read_wave(path)) for digit, _, number, path in sorted(found)]


def read_wave(path: Path) -> np.ndarray:
    """The samples of a mono recording of 16-bit numbers at 8 kHz."""
    try:
        with wave.open(str(path)) as file:
            form = (file.getnchannels(), file.getsampwidth(), file.getframerate())
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    except (wave.Error, EOFError, OSError) as error:
        raise bad(path.name, str(error), "a wav file") from None
    if form != (1, 2, SECOND):
        raise bad(path.name, form, "(1 channel, 2 bytes, 8000 Hz)")
    return samples


def _packed(place: Path) -> list[Recording]:
    """All samples in one array, low and high bytes in two planes, with their offsets."""
    index = np.load(place / "index.npz", allow_pickle=False)
    with lzma.open(place / "samples_planes.npy.xz") as file:
        planes = np.load(file, allow_pickle=False)
    samples = np.ascontiguousarray(planes.T).view("<i2").ravel()
    cuts = np.split(samples, index["offsets"][1:-1])
    return list(zip(index["label"].tolist(), index["index"].tolist(), cuts, strict=True))


def log_spectrogram(samples: np.ndarray) -> np.ndarray:
    """(32 frames, 32 bands) numbers from 0 to 1; see the module docstring.

    Example:
        >>> tone = np.sin(2 * np.pi * 1000 * np.arange(4000) / 8000)
        >>> image = log_spectrogram(tone)  # 1000 Hz is Fourier bin 32 of 128
        >>> image.shape, sorted(set(image.argmax(axis=1).tolist()))
        ((32, 32), [7])
    """
    padded = np.pad(samples.astype(np.float32), (0, max(0, WINDOW - len(samples))))
    starts = np.linspace(0, len(padded) - WINDOW, FRAMES).astype(int)
    frames = padded[starts[:, None] + np.arange(WINDOW)] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(frames, axis=1)[:, 1:]) ** 2  # 128 bins without the mean
    bands = power.reshape(FRAMES, BANDS, -1).mean(axis=2)
    decibel = 10 * np.log10(np.maximum(bands / max(bands.max(), 1e-12), 1e-12))
    return np.clip(1 + decibel / RANGE_DECIBEL, 0, 1).astype(np.float32)


def waveform(samples: np.ndarray) -> np.ndarray:
    """The first 8,000 samples, as numbers from -1 to 1."""
    first = samples[:SECOND].astype(np.float32) / 2**15
    return np.pad(first, (0, SECOND - len(first)))

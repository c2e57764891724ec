"""Spoken digits: wav files, the split, features of a fixed size."""

from __future__ import annotations

import wave

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.data import load, speech


def _write(path, samples, rate=8000):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.asarray(samples, "<i2").tobytes())


def _tone(hertz, count=3000):
    return 10000 * np.sin(2 * np.pi * hertz * np.arange(count) / 8000)


def test_recordings_below_five_are_the_test_split(tmp_path):
    (tmp_path / "recordings").mkdir()
    for digit in (0, 1):
        for number in (0, 4, 5, 12):
            name = f"{digit}_george_{number}.wav"
            _write(tmp_path / "recordings" / name, _tone(500 * (digit + 1)))
    x, y, x_test, y_test = speech.read_fsdd(tmp_path, "log_spectrogram")
    assert x.shape == x_test.shape == (4, 32, 32)
    assert y.tolist() == y_test.tolist() == [0, 0, 1, 1]
    # 500 Hz is Fourier bin 16 of 128, in the fourth band of four; 1000 Hz is bin 32.
    assert set(x[0].argmax(axis=1)) == {3} and set(x[-1].argmax(axis=1)) == {7}


def test_the_spectrogram_has_one_size_and_ignores_loudness():
    long, short = speech.log_spectrogram(_tone(700, 9000)), speech.log_spectrogram(_tone(700, 100))
    assert long.shape == short.shape == (32, 32) and long.dtype == np.float32
    quiet = speech.log_spectrogram(_tone(700, 9000) / 50)
    assert np.allclose(quiet, long, atol=1e-5)
    silence = speech.log_spectrogram(np.zeros(500))
    assert np.isfinite(silence).all()
    assert long.min() >= 0 and long.max() == 1


def test_the_waveform_is_one_second():
    assert speech.waveform(np.full(9000, 2**14, np.int16)).tolist() == [0.5] * 8000
    assert speech.waveform(np.array([-(2**15)], np.int16))[:2].tolist() == [-1, 0]


def test_other_wav_files_are_refused(tmp_path):
    _write(tmp_path / "a.wav", _tone(500), rate=16000)
    with pytest.raises(BadInput, match="8000 Hz"):
        speech.read_wave(tmp_path / "a.wav")
    (tmp_path / "b.wav").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="a wav file"):
        speech.read_wave(tmp_path / "b.wav")


def test_an_empty_folder_of_recordings_is_refused(tmp_path):
    (tmp_path / "recordings").mkdir()
    with pytest.raises(BadInput, match="no wav files"):
        speech.read_fsdd(tmp_path, "waveform")


def test_the_real_set_has_its_published_split(real):
    real("fsdd")
    data = load("fsdd")
    assert data.x_train.shape == (2700, 32, 32) and data.x_test.shape == (300, 32, 32)
    assert np.bincount(data.y_train).tolist() == [270] * 10
    assert "official split" in data.note and "log_spectrogram" in data.note

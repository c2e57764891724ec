"""The processor is part of a record's origin: elsewhere, other bits are no conflict."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from dynascope.core.errors import FingerprintConflict
from dynascope.runtime.processor import processor
from dynascope.store.compare import hold_against
from dynascope.store.manifest import Manifest

ASK = "from dynascope.runtime.processor import processor; print(processor())"


def told(**switches) -> str:
    environment = {**os.environ, **switches}
    words = [sys.executable, "-c", ASK]
    return subprocess.run(words, env=environment, capture_output=True, text=True).stdout.strip()


def test_it_is_the_same_in_another_process_and_differs_with_the_instruction_set():
    assert told() == processor()
    given = os.environ.get("XLA_FLAGS", "")  # which may name an instruction set already
    assert told(XLA_FLAGS=f"{given} --xla_cpu_max_isa=AVX") != processor()


def manifest(where: str) -> Manifest:
    attrs = {"versions": {"jax": "1"}, "device": "cpu", "processor": where}
    return Manifest("run", "0123456789abcdef", "", {}, attrs=attrs)


def test_other_bits_are_a_conflict_here_and_a_comparison_elsewhere():
    fresh, old = {"loss": np.array([1.0 + 1e-12])}, {"loss": np.array([1.0])}
    stored = [("01234567", manifest("x86_64 a"))]
    with pytest.raises(FingerprintConflict):
        hold_against(fresh, manifest("x86_64 a"), stored, lambda id_, m: old)
    found = hold_against(fresh, manifest("x86_64 b"), stored, lambda id_, m: old)
    assert not found.same_origin and found.differences[0].within

from __future__ import annotations

import json

import numpy as np
import pytest

from dynascope.core.errors import BadInput, DamagedRecord, StoreError
from dynascope.store.files import File
from dynascope.store.manifest import FORMAT, NAME, Manifest, read_manifest, to_json, write_manifest

FULL = Manifest(
    "run", "0123456789abcdef", "label", {"a": [1, None]}, outcome="interrupted", seconds=1.5,
    parts=(File("a", 1, "x", 3), File("b", 2, "y", 4)), checkpoint=File("c", 3, "z"), written=3,
    layout={"loss": {"dims": ["step"]}}, attrs={"versions": {"jax": "1"}, "nan": float("inf")},
    sessions=({"from_row": 0, "versions": {}},), compared={"with": "0123"},
)  # fmt: skip


def test_a_manifest_survives_the_disk(tmp_path):
    write_manifest(tmp_path, FULL)
    assert read_manifest(tmp_path) == FULL
    assert FULL.rows == 7 and len(FULL.files) == 3


@pytest.mark.parametrize(("text", "told"), [
    ("", "not readable"),
    ('{"format": 1, "kind"', "not readable"),
    ('{"format": 1}', "lacks"),
])  # fmt: skip
def test_a_cut_off_manifest_is_damage(tmp_path, text, told):
    (tmp_path / NAME).write_text(text)
    with pytest.raises(DamagedRecord, match=told):
        read_manifest(tmp_path)


def test_a_folder_without_a_manifest_is_damage(tmp_path):
    with pytest.raises(DamagedRecord, match=f"there is no {NAME}"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("number", [FORMAT + 1, 0, None, "1"])
def test_another_format_is_told_in_one_line(tmp_path, number):
    (tmp_path / NAME).write_text(json.dumps({"format": number, "new": 1}))
    with pytest.raises(StoreError, match=rf"of format {number!r}, this dynascope reads") as caught:
        read_manifest(tmp_path)
    assert "\n" not in str(caught.value)


def test_numpy_values_become_plain_ones():
    value = {"a": np.float32(0.5), "b": np.arange(2), "c": np.bool_(True)}
    assert json.loads(to_json(value, "attrs")) == {"a": 0.5, "b": [0, 1], "c": True}


@pytest.mark.parametrize("value", [{"a": object()}, {"a": {1, 2}}, {("a", 1): 2}])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(BadInput, match="attrs: got"):
        to_json(value, "attrs")

"""Values as bytes: every kind comes back as it was, and bytes make nothing that was not asked."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dynascope.core.encoding import content, decode, encode
from dynascope.core.errors import BadInput, DamagedRecord


class Inner(NamedTuple):
    values: np.ndarray
    name: str


@dataclass(frozen=True)
class Outer:
    count: int
    inner: dict[str, Inner]
    pair: tuple[float, float | None]
    rows: list[tuple[int, ...]]
    best: Inner | None = None


def same(a, b) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, Outer):
        return all(same(x, y) for x, y in zip(vars(a).values(), vars(b).values(), strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple | list):
        return type(a) is type(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and (a == b or a != a)


VALUE = Outer(
    3**90,  # whole numbers of any length
    {"a": Inner(np.array([1.0, np.nan]), "one"), "b": Inner(np.zeros((0, 2), np.float32), "")},
    (float("inf"), None),
    [(1, 2), ()],
    Inner(np.array([True, False]), "flags"),
)


def test_nested_records_come_back_as_they_were():
    assert same(decode(encode(VALUE), Outer), VALUE)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (dict[str, Inner] | None, {"a": VALUE.best}),
        (dict[str, Inner] | None, None),
        (Inner | dict[str, Inner], {"a": VALUE.best}),
        (dict[str, Inner] | Inner, VALUE.best),
        (Optional[dict[str, Inner | None]], {"a": VALUE.best, "b": None}),  # noqa: UP045
        (float | list[Inner], [VALUE.best]),
        (int | str | dict[str, Inner], "text"),
    ],
)
def test_the_records_inside_of_a_union_come_back(hint, value):
    assert same(decode(encode(value), hint), value)


def test_equal_values_give_equal_bytes():
    assert encode(VALUE) == encode(VALUE)


def test_dictionaries_keep_keys_that_are_tuples_and_their_order():
    value = {(3, "b"): 1.5, (1, "a"): 2.5}
    found = decode(encode(value), dict[tuple[int, str], float])
    assert list(found.items()) == list(value.items())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3).map(tuple),
        max_leaves=8,
    )
)
def test_plain_values_come_back(value):
    hint = tuple if isinstance(value, tuple) else type(value)
    assert same(decode(encode(value), hint), value)


def test_datasets_keep_axes_coordinates_and_attributes():
    loss = (("seed", "step"), np.array([[1.0, np.nan]]), {"units": "loss"})
    time = ("step", [0.0, 0.1])
    value = {"run": xr.Dataset({"loss": loss}, {"step": [0, 1], "time": time}, {"theory": "flow"})}
    found = decode(encode(value), dict[str, xr.Dataset])["run"]
    assert found.identical(value["run"]) and found["loss"].attrs == {"units": "loss"}
    assert set(found.coords) == {"step", "time"} and found.attrs == {"theory": "flow"}


def test_what_cannot_be_stored_is_named():
    with pytest.raises(BadInput, match="result: got"):
        encode({"f": len})


def test_objects_in_arrays_are_refused():
    with pytest.raises(ValueError, match="allow_pickle"):
        encode(np.array([object()]))


@pytest.mark.parametrize("tree", ["[1, 2]", '{"array": 7}', "{}", "not json"])
def test_bytes_of_another_shape_are_damage(tree):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("tree.json", tree)
    with pytest.raises(DamagedRecord):
        decode(packed.getvalue(), Outer)


def test_a_pickle_in_the_bytes_is_never_loaded():
    packed, array = io.BytesIO(), io.BytesIO()
    np.save(array, np.array([{"a": 1}], object), allow_pickle=True)
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("tree.json", json.dumps({"array": 0}))
        archive.writestr("0.npy", array.getvalue())
    with pytest.raises(DamagedRecord):
        decode(packed.getvalue(), np.ndarray)


def test_content_shows_every_number_by_name():
    found = content(encode((1.5, np.arange(2), "x")))
    assert found["value.0"] == 1.5 and found["0.npy"].tolist() == [0, 1]
    assert found["value.2"] == "'x'"

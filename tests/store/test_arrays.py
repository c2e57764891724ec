from __future__ import annotations

import io
import itertools
import zipfile

import numpy as np
import pytest
import xarray as xr
import zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dynascope.core.errors import BadInput
from dynascope.core.parts import join_parts
from dynascope.store.arrays import check_layout, layout, pack, unpack

from .samples import part

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12
)
SPECIAL = st.sampled_from(["task.means[0]", "a/b", "..", "zarr.json", "c", "x y", "%2F", "__a"])
DTYPES = st.sampled_from([
    "f8",
    "f4",
    "f2",
    "c8",
    "c16",
    "i1",
    "i8",
    "u4",
    "?",
    ">f8",
    ">i2",
    "U3",
    "U1",
])


@st.composite
def datasets(draw):
    names = draw(st.lists(NAMES | SPECIAL, min_size=3, max_size=5, unique=True))
    sizes = {name: draw(st.integers(0, 3)) for name in names[:2]}
    variables = {}
    for name in names[2:]:
        dims = draw(st.permutations(list(sizes)))[: draw(st.integers(0, 2))]
        shape = tuple(sizes[d] for d in dims)
        variables[name] = (dims, draw(hnp.arrays(np.dtype(draw(DTYPES)), shape)))
    coord = names[0]
    values = np.arange(sizes[coord]) * 0.5
    return xr.Dataset(variables, {coord: (coord, values)} if draw(st.booleans()) else {})


def assert_same(found: xr.Dataset, wanted: xr.Dataset) -> None:
    """Equal to the bit: values, types, dims and their order, coordinates, attributes."""
    assert set(found.variables) == set(wanted.variables)
    assert set(found.coords) == set(wanted.coords)
    assert dict(found.sizes) == dict(wanted.sizes)
    for name, variable in wanted.variables.items():
        assert found[name].dims == variable.dims
        assert found[name].dtype == variable.dtype
        assert found[name].attrs == variable.attrs
        if variable.dtype.kind in "OT":
            assert found[name].values.tolist() == variable.values.tolist()
        else:
            assert found[name].values.tobytes() == variable.values.tobytes()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(datasets())
def test_any_dataset_comes_back_to_the_bit(dataset):
    assert_same(unpack(pack(dataset)), dataset)


def test_special_values_come_back_to_the_bit():
    odd = np.array([-0.0, np.nan, np.inf, -np.inf, 5e-324])
    zeros = np.full((2, 3), -0.0)  # equal to Zarr's fill value, and yet not the same bits
    dataset = xr.Dataset({"odd": ("x", odd), "zeros": (("y", "z"), zeros)})
    assert_same(unpack(pack(dataset)), dataset)


@pytest.mark.parametrize("values", [
    np.array(["a", "", "bé", "a\x00b"]),
    np.array(["long enough", "x"], dtype=object),
    np.array(["u", "v"], dtype=np.dtypes.StringDType()),
    np.array([], dtype="U4"),
])  # fmt: skip
def test_text_keeps_its_type(values):
    dataset = xr.Dataset({"single": ((), np.array("one"))}, {"name": ("other", values)})
    assert_same(unpack(pack(dataset)), dataset)


def test_attributes_may_be_nested():
    attrs = {"units": "1", "nested": {"a": [1, None, True, {"b": 2.5}]}}
    dataset = xr.Dataset({"x": ("n", [1.0], attrs)})
    assert unpack(pack(dataset))["x"].attrs == attrs


def test_an_array_of_many_chunks_comes_back_to_the_bit():
    values = np.arange((40 << 20) // 8, dtype=float).reshape(5, -1)
    dataset = xr.Dataset({"large": (("step", "n"), values)})
    assert_same(unpack(pack(dataset)), dataset)


def test_equal_content_has_equal_bytes():
    assert pack(part(0, 5)) == pack(part(0, 5))


def test_others_can_read_a_part_with_xarray_and_zarr_alone(tmp_path):
    path = tmp_path / "part.zarr.zip"
    path.write_bytes(pack(part(0, 5)))
    with zarr.storage.ZipStore(path, mode="r") as zipped:
        found = xr.open_zarr(zipped, consolidated=False).load()
    wanted = part(0, 5)
    assert set(found.coords) == set(wanted.coords)
    for name in wanted.variables:
        assert found[name].values.tolist() == wanted[name].values.tolist()


def test_every_chunk_is_there_and_the_archive_is_a_plain_zip():
    with zipfile.ZipFile(io.BytesIO(pack(xr.Dataset({"x": ("n", np.zeros(4))})))) as archive:
        assert archive.namelist() == ["x/c/0", "x/zarr.json", "zarr.json"]


@pytest.mark.parametrize("cuts", [(0, 6), (0, 1, 6), (0, 0, 2, 2, 6, 6), (0, 1, 2, 3, 4, 5, 6)])
def test_parts_join_to_the_whole_however_they_are_cut(cuts):
    pieces = [part(a, b) for a, b in itertools.pairwise(cuts)]
    assert_same(join_parts(pieces), part(0, 6))


def test_text_along_the_steps_may_grow_longer():
    short, long = (xr.Dataset({"word": ("step", [w])}) for w in ("ab", "abcdef"))
    check_layout(layout(short), long)
    assert join_parts([short, long])["word"].values.tolist() == ["ab", "abcdef"]


@pytest.mark.parametrize("change", [
    lambda p: p.drop_vars("loss"),
    lambda p: p.assign(more=("step", [0.0])),
    lambda p: p.assign(loss=p["loss"].astype("f4")),
    lambda p: p.isel(seed=[0]),
    lambda p: p.assign(loss=p["loss"].transpose()),
])  # fmt: skip
def test_a_part_that_does_not_continue_the_others_is_refused(change):
    with pytest.raises(BadInput, match="as in earlier parts"):
        check_layout(layout(part(0, 1)), change(part(1, 2)))


@pytest.mark.parametrize("values", [
    np.array([1, "a", None], dtype=object),
    np.array(["2020-01-01"], dtype="datetime64[ns]"),
    np.array([1.0], dtype=np.longdouble),
])  # fmt: skip
def test_values_without_a_zarr_type_are_refused_by_name(values):
    with pytest.raises(BadInput, match=r"odd: got .* expected numbers or text"):
        pack(xr.Dataset({"odd": ("n", values)}))

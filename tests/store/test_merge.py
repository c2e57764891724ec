from __future__ import annotations

from dynascope.core.parts import join_parts
from dynascope.store import files, merge
from dynascope.store.arrays import pack, unpack

from .samples import small_part


def parts(folder, count):
    return tuple(
        files.write(folder, f"part-{i}", pack(small_part(i, i + 1)), rows=1) for i in range(count)
    )


def namer():
    numbers = iter(range(100))
    return lambda what: f"{what}-{next(numbers)}"


def rows(folder, named):
    return join_parts([unpack(files.read(folder, f)) for f in named])


def test_small_neighbours_become_one_file_of_the_same_rows(tmp_path):
    before = parts(tmp_path, 5)
    after = merge.merge(tmp_path, before, namer())
    assert [f.rows for f in after] == [5]
    assert rows(tmp_path, after).equals(small_part(0, 5))


def test_a_merged_file_stays_below_the_limit_and_a_large_part_is_left_alone(tmp_path, monkeypatch):
    before = parts(tmp_path, 5)
    monkeypatch.setattr(merge, "_LARGE", 2 * max(f.bytes for f in before))
    after = merge.merge(tmp_path, before, namer())
    assert [f.rows for f in after] == [2, 2, 1]
    assert after[-1] == before[-1]
    assert rows(tmp_path, after).equals(small_part(0, 5))


def test_the_tail_is_merged_only_once_it_is_long(tmp_path, monkeypatch):
    monkeypatch.setattr(merge, "_MANY", 3)
    name, before = namer(), parts(tmp_path, 5)
    assert merge.merge_tail(tmp_path, before[:2], name) == before[:2]
    first = merge.merge_tail(tmp_path, before[:3], name)
    assert [f.rows for f in first] == [3]
    assert merge.merge_tail(tmp_path, (*first, *before[3:]), name) == (*first, *before[3:])

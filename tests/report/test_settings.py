from dataclasses import dataclass

from dynascope.core.paths import get_path
from dynascope.core.plain import CLASS_CODE, to_plain
from dynascope.core.spec import Spec
from dynascope.report.settings import setting_rows


@dataclass(frozen=True)
class Part(Spec):
    values: tuple[float, ...] = (1.0, 2.0)
    seed: int = 0
    flag: bool = True


@dataclass(frozen=True)
class Whole(Spec):
    part: Part = Part()
    parts: tuple[Part, ...] = (Part(seed=1),)
    end: float = float("inf")


def test_every_path_of_the_table_can_be_set():
    rows = dict(setting_rows({"part": to_plain(Part()), "parts": to_plain((Part(seed=1),))}))
    whole = Whole()
    for path in rows:
        get_path(whole, path)
    assert rows["parts[0].seed"] == "1" == str(get_path(whole, "parts[0].seed"))


def test_numbers_switches_and_nothing_are_told_apart():
    plain = {"zero": 0, "one": 1, "no": False, "yes": True, "none": None, "end": {"float": "inf"}}
    shown = {"zero": "0", "one": "1", "no": "no", "yes": "yes", "none": "none", "end": "inf"}
    assert dict(setting_rows(plain)) == shown


def test_maps_arrays_functions_and_long_lists():
    plain = {
        "over": {"map": {"a": [1, 2]}},
        "data": {"array": "ff00ff00ff00", "shape": [2, 3]},
        "f": {"function": "relu", "code": "abc"},
        "long": list(range(30)),
        "rate": 0.1 + 0.2,
    }
    rows = dict(setting_rows(plain))
    assert rows["over.a"] == "1, 2"
    assert rows["data"] == "array of shape [2, 3] (ff00ff00)"
    assert rows["f"] == "function relu (abc)"
    assert rows["long"].endswith("10, 11, … (30 values)")
    assert rows["rate"] == "0.3"


def test_a_class_of_the_users_own_is_told_by_its_code_too():
    plain = to_plain(Part())
    assert setting_rows({"part": plain})[0] == ("part", f"{__name__}:Part {plain[CLASS_CODE]}")


def test_no_settings_no_rows():
    assert setting_rows({}) == []

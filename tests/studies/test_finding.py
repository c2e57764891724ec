"""Studies are found by their folders, and imported when they are asked for."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from dynascope.core.errors import UnknownName
from dynascope.core.spec import Spec, is_ours
from dynascope.studies import Study, studies
from dynascope.studies.finding import study_folders


def run(code: str) -> str:
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def test_one_study_is_imported_alone():
    code = """
import sys
from dynascope.studies import studies

def folders():
    parts = [m.split(".") for m in sys.modules if m.startswith("dynascope.studies.")]
    return len({p[3] for p in parts if len(p) > 4})

print(folders())
studies.get("swing-by")
print(folders())
print(len(studies) == folders())
"""
    assert run(code).split() == ["0", "1", "True"]


def test_a_study_is_whole_where_one_of_its_files_was_imported_before():
    code = """
from dynascope.studies.linearity.polyak.runs import study
from dynascope.studies import studies
print(bool(study.claims), bool(studies.get("polyak").claims and study.charts))
"""
    assert run(code) == "False True"


def test_settings_in_a_file_are_found_before_their_study():
    code = """
from dynascope.core.spec import class_of
print(class_of("studies.polyak").__module__)
"""
    assert run(code) == "dynascope.studies.linearity.polyak.runs"


def test_ours_come_first_in_the_order_of_their_folders():
    ours = [study.name for study in studies if is_ours(study.settings)]
    assert ours == [folder.name.replace("_", "-") for folder in study_folders()]
    assert studies.names()[: len(ours)] == ours
    assert "swing-by" in studies and "swing-bye" not in studies


def test_a_name_of_ours_is_taken_before_it_is_imported():
    code = """
from dataclasses import dataclass
from dynascope.core.spec import Spec
from dynascope.studies import Study

@dataclass(frozen=True)
class Settings(Spec, tag="studies.own"):
    pass

Settings.spec_tag = "studies.swing-by"  # as a package would that was written before ours
try:
    scales = {"smoke": {}, "laptop": {}, "paper": {}}
    Study("swing-by", title="", sources=(), settings=Settings, scales=scales)
except ValueError as error:
    print(error)
"""
    assert run(code) == "study 'swing-by' is registered twice"


@pytest.mark.parametrize("name", ["*", "../swing_by", "swing_by", "", "swing-by/claims"])
def test_what_is_no_name_of_a_study_is_unknown(name):
    with pytest.raises(UnknownName):
        studies.get(name)


def test_a_study_of_the_user_is_found_and_declared_anew():
    @dataclass(frozen=True)
    class Settings(Spec, tag="studies.found-here"):
        pass

    scales = {"smoke": {}, "laptop": {}, "paper": {}}
    made = [
        Study("found-here", title=t, sources=(), settings=Settings, scales=scales) for t in "ab"
    ]
    try:
        assert studies.get("found-here") is made[1] and studies.names()[-1] == "found-here"
    finally:
        studies._things.pop("found-here")

"""Stored answers follow the code: of computations, and of claims and charts."""

from __future__ import annotations

from functools import cache

from dynascope.core.source_text import text_digest
from dynascope.studies import imports, studies
from dynascope.studies.code import (
    ROOT,
    computation_files,
    function_code,
    library_files,
    study_code,
    study_files,
)
from dynascope.studies.imports import rests_on
from dynascope.studies.nodes import Computation


def computation(study: str) -> Computation:
    return next(n for n in studies.get(study).nodes if isinstance(n, Computation))


def test_a_computation_is_known_by_its_module_and_what_it_imports_but_not_by_its_claims():
    node = computation("quadratic-generalization")
    names = {path.name for path in computation_files(node.function)}
    assert {"runs.py", "starts.py"} <= names
    assert not {"claims.py", "charts.py", "study.py", "nodes.py"} & names


def test_a_computation_is_known_by_the_library_that_it_calls_and_by_no_more(tmp_path):
    """`graph-pairs` counts colours: refinement of colours is in its code, curvature is not."""
    node = computation("graph-pairs")
    files = {path.relative_to(ROOT).as_posix() for path in computation_files(node.function)}
    assert "graphs/refinement.py" in files
    assert not {name for name in files if name.startswith(("probes/", "models/", "runner/"))}


def test_an_edit_of_what_is_called_far_below_is_another_code(tmp_path):
    """Through a package's `__init__`, a lazy import and a module taken whole; no other file."""
    texts = {
        "__init__.py": "", "studies/__init__.py": "",
        "studies/own.py": "from dynascope.graphs import count as many\n",
        "graphs/__init__.py": "from dynascope.graphs.counting import count\n"
                              "from dynascope.graphs.drawing import draw\n",
        "graphs/counting.py": "def count():\n    from dynascope.numerics import sums\n",
        "graphs/drawing.py": "", "numerics/__init__.py": "", "numerics/sums.py": "",
        "numerics/other.py": "",
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = rests_on("dynascope.studies.own", tmp_path)
    names = {path.relative_to(tmp_path).as_posix() for path in found}
    assert names == {"studies/own.py", "graphs/counting.py", "numerics/sums.py"}
    before = text_digest(tuple(sorted(found)))
    text_digest.cache_clear()  # as in another process
    (tmp_path / "numerics/sums.py").write_text("edited = True\n", encoding="utf-8")
    assert text_digest(tuple(sorted(found))) != before


def test_every_study_and_computation_has_a_code_that_is_the_same_twice(monkeypatch):
    # No file comes or goes meanwhile: each is looked for once, not a thousand times.
    monkeypatch.setattr(imports, "_file", cache(imports._file))
    for study in studies:
        assert study_code(study) == study_code(study)
        for node in study.nodes:
            if isinstance(node, Computation):
                assert function_code(node.function) == function_code(node.function)


def test_two_studies_have_two_codes():
    codes = [study_code(study) for study in studies]
    assert len(set(codes)) == len(codes)


def test_a_verdict_is_that_of_its_claims_detectors_intervals_and_theories():
    """What a verdict depends on is in its digest; what only stores, runs or shows is not."""
    library = {path.relative_to(ROOT).as_posix() for path in library_files()}
    measuring = {
        "probes/curves.py", "numerics/intervals.py", "studies/measures.py",
        "studies/comparisons.py", "studies/judging.py", "theories/swing_by/schur.py",
    }  # fmt: skip
    assert measuring <= library
    assert not {name for name in library if name.startswith(("cli/", "store/", "report/"))}
    assert not {name for name in library if name.startswith("studies/") and name.count("/") > 1}
    own = {path.relative_to(ROOT).as_posix() for path in study_files(studies.get("swing-by"))}
    assert {"studies/swing_by/swing_by/claims.py", "studies/swing_by/events.py"} <= own
    assert not {name for name in own if "sim_order" in name}


def test_another_detector_is_another_code(tmp_path, monkeypatch):
    """A file of the library with one letter more gives every study another code."""
    study = studies.get("swing-by")
    before, files = study_code(study), library_files()
    changed = tmp_path / "curves.py"
    changed.write_bytes((ROOT / "probes" / "curves.py").read_bytes() + b"#")
    others = tuple(changed if f.match("probes/curves.py") else f for f in files)
    monkeypatch.setattr("dynascope.studies.code.library_files", lambda: others)
    assert study_code(study) != before

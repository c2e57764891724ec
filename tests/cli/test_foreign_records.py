"""Every command that reads a record, on records that a stranger has written.

Whatever is in them: exit code 0 or 2, one line, nothing outside the store is touched, and no
control character reaches the terminal.
"""

from __future__ import annotations

import inspect
import json
import os

import pytest

from dynascope.cli.root import _COMMANDS
from dynascope.core.encoding import encode
from dynascope.store import Store
from dynascope.store.manifest import NAME
from store import tampering as t

SWEEP = ("sweep", "--over", "model.init_scale=0.1,0.2", "--steps", "40", "--seeds", "2",
         "--set", "record.points=5")  # fmt: skip
# Commands that read records without being given one; those that take an ID are found below.
LOOKING = (
    ("runs",), ("runs", "--json"), ("claims", "--study", "tiny"), ("doctor", "--json"),
    ("run", "tiny", "--scale", "smoke"), ("run", "tiny", "--scale", "smoke", "--dry-run"),
    SWEEP, (*SWEEP, "--dry-run"),
)  # fmt: skip


def taking_ids() -> list[str]:
    """Commands with an argument ID: a new one is tried without being listed here."""
    found = []
    for name, command in _COMMANDS.items():
        hints = inspect.get_annotations(command, eval_str=True)
        about = [m for h in hints.values() for m in getattr(h, "__metadata__", ())]
        if any(getattr(m, "metavar", None) == "ID" for m in about):
            found.append(name)
    return found


def test_the_commands_that_take_records_are_found():
    assert {"show", "report", "export", "forget"} <= set(taking_ids())


def manifest_field(**fields):
    return lambda folder: t.change(folder, **fields)


def part_name(folder):
    parts = t.manifest(folder)["parts"]
    t.change(folder, parts=[{**p, "name": t.OUTSIDE} for p in parts])


def part_link(folder):
    path = folder / t.manifest(folder)["parts"][0]["name"]
    path.unlink()
    path.symlink_to(folder.parents[2] / "victim" / "precious")


def deep(folder):
    text = json.dumps({**t.manifest(folder), "spec": "HERE"})
    (folder / NAME).write_text(text.replace('"HERE"', "[" * 100_000 + "]" * 100_000))


def nested(folder):
    spec: object = 1
    for _ in range(55):
        spec = {"spec": spec}
    t.change(folder, spec=spec, attrs={"a": [spec]})


def bytes_of_nothing(folder):
    t.replace_part(folder, b"nothing")


def empty_dataset(folder):
    if t.manifest(folder)["kind"] == "run":
        t.replace_part(folder, t.zipped({
            "zarr.json": json.dumps({"zarr_format": 3, "node_type": "group",
                                     "attributes": {"dynascope": {}}}).encode(),
        }))  # fmt: skip


def other_kind(folder):
    kind = t.manifest(folder)["kind"]
    t.change(folder, kind={"study": "run", "run": "computation"}.get(kind, "study"))


def text_everywhere(text):
    def change(folder):
        t.change(folder, label=f"tiny: {text}", attrs={text: text, "device": text})
        if t.manifest(folder)["kind"] == "study":
            t.change_study(folder, lambda plain: t.every_text(plain, text))

    return change


def chart_outside(folder):
    if t.manifest(folder)["kind"] == "study":

        def rename(plain):
            plain["charts"][0]["name"] = t.OUTSIDE

        t.change_study(folder, rename)


def report_link(folder):
    reports = folder.parents[1] / "reports"
    reports.mkdir(exist_ok=True)
    (reports / f"{folder.name}.html").unlink(missing_ok=True)
    (reports / f"{folder.name}.html").symlink_to(folder.parents[2] / "victim" / "precious")


CASES = {
    "fingerprint outside": manifest_field(fingerprint=t.OUTSIDE),
    "part outside": part_name,
    "part is a link": part_link,
    "deep": deep,
    "nested": nested,
    "no dataset": bytes_of_nothing,
    "empty dataset": empty_dataset,
    "other kind": other_kind,
    "escapes": text_everywhere(t.ESCAPE),
    "markup": text_everywhere(t.MARKUP),
    "chart outside": chart_outside,
    "report is a link": report_link,
    "spec of a program": manifest_field(spec={"spec": "__main__.x"}),
    "spec is a number": manifest_field(spec=5),
    "spec of a class": manifest_field(spec={"spec": "engine.Experiment", "task": 5}),
    "attrs": manifest_field(attrs={"versions": 5, "seconds": "long", "device": {"a": [1]}}),
    "sessions": manifest_field(sessions=[{}, {"versions": 3}]),
    "created": manifest_field(created="yesterday"),
    "seconds": manifest_field(seconds="x"),
    "parts": manifest_field(parts=[5]),
    "no parts": manifest_field(parts=[]),
}


@pytest.fixture
def stranger(full, tmp_path):
    """The filled store with a computation, and a file beside it that nothing may touch."""
    sink = Store().computation({"computation": "tiny/x"}, "c" * 16, "tiny: x", study="tiny")
    sink.append(encode({"a": 1.0}), 0.1)
    sink.finish({})
    victim = tmp_path / "victim" / "precious"
    victim.parent.mkdir()
    victim.write_bytes(b"precious")
    yield full
    assert victim.read_bytes() == b"precious" and os.listdir(victim.parent) == ["precious"]


def check(answer, words):
    assert answer.code in (0, 2), (words, answer.code, answer.err)
    told = [line for line in answer.err.splitlines() if line.startswith("dynascope: ")]
    assert len(told) == (answer.code == 2), (words, answer.err)
    for text in (answer.out, answer.err):
        assert not any(c in text for c in "\x1b\x07\x9b"), (words, text)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_no_record_reaches_outside_the_store(cli, stranger, tiny, tmp_path, monkeypatch, case):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    records = sorted(p for p in (stranger / "records").iterdir())
    for record in records:
        CASES[case](record)
    for words in LOOKING:
        check(cli(*words), words)
    more = {"forget": ("--yes",), "export": ("--figures", "svg")}
    for name in sorted(taking_ids(), key=lambda n: n == "forget"):  # it comes last
        for record in records:
            words = (name, record.name, *more.get(name, ()))
            check(cli(*words), words)
            if name == "forget":
                assert not record.exists()
    assert all(p.is_relative_to(folder) for p in folder.rglob("*"))


def test_markup_in_a_record_is_text_in_its_report(cli, stranger, ids, tmp_path):
    text_everywhere(t.MARKUP)(stranger / "records" / ids["study"])
    assert cli("report", ids["study"], "--out", tmp_path / "r.html").code == 0
    page = (tmp_path / "r.html").read_text()
    assert "alert(1)" in page and t.MARKUP not in page
    assert "<img src=x" not in page and "<script>alert" not in page

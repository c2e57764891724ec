"""The command itself: help, errors in one line, exit codes, pipes, completion."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import typer

from dynascope import __version__
from dynascope.cli import root
from dynascope.core.errors import BadInput

COMMANDS = [c.name for c in root.app.registered_commands]
HEAVY = {"jax", "numpy", "xarray", "matplotlib", "scipy", "zarr", "plotly", "pandas"}


def process(script: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script.replace("PYTHON", sys.executable)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "", **environment},  # buffers hide late errors
    )


def test_help_of_every_command_imports_nothing_heavy():
    calls = [["--help"], *([name, "--help"] for name in COMMANDS)]
    script = f"import sys; from dynascope.cli import main; [main(c) for c in {calls}]; " + (
        f"print('HEAVY', sorted({HEAVY} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "HEAVY []", done.stderr
    assert done.stdout.count("Usage: dynascope") == len(calls)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_option_and_every_command_takes_json(cli, name):
    answer = cli(name, "--help")
    assert answer.code == 0 and not answer.err
    command = typer.main.get_command(root.app).commands[name]
    options = [opt for p in command.params for opt in p.opts if opt.startswith("--")]
    assert "--json" in options
    assert all(option in answer.out for option in options)


def test_without_a_command_it_shows_help(cli):
    assert cli().out == cli("--help").out
    assert cli().code == 0


def test_python_m_dynascope_is_the_command():
    assert process("PYTHON -m dynascope --version").stdout == f"dynascope {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnu"], "did you mean 'run'"),
        (["run", "x", "--scal", "smoke"], "did you mean '--scale'"),
        (["--versio"], "did you mean '--version'"),
        (["run"], "name of a study"),
        (["runs", "extra"], "extra"),
        (["sweep", "--seeds", "many"], "--seeds"),
        (["run", "x", "--set"], "--set"),
        (["run", "x", "--set", "seeds"], "path=value"),
    ],
)
def test_a_wrong_word_is_one_line_and_exit_code_2(cli, words, said):
    answer = cli(*words)
    assert answer.code == 2 and answer.out == ""
    assert answer.err.startswith("dynascope: ") and answer.err.count("\n") == 1
    assert said in answer.err


def test_debug_shows_the_traceback_wherever_it_stands(cli):
    for words in (["--debug", "list", "nothing"], ["list", "nothing", "--debug"]):
        with pytest.raises(BadInput, match="unknown kind"):
            cli(*words)


def test_an_error_of_ours_is_told_from_bad_input(cli, monkeypatch):
    monkeypatch.setattr("dynascope.store.Store.runs", lambda *_: {}["a\nkey"])
    answer = cli("runs")
    assert answer.code == 70 and "KeyError" in answer.err and answer.err.count("\n") == 1


def test_ctrl_c_before_anything_runs_is_one_line(cli, monkeypatch):
    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dynascope.store.Store.runs", press)
    assert cli("runs") == (130, "", "dynascope: interrupted\n")


def test_a_closed_pipe_is_silent(filled):
    for words in ("--help", "runs --json"):
        done = process(f"PYTHON -m dynascope {words} | true", DYNASCOPE_HOME=str(filled[0]))
        assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is full")
def test_a_full_disk_behind_stdout_is_one_line():
    done = process("PYTHON -m dynascope --help > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "dynascope: cannot write the output: No space left on device\n"


def test_the_shell_completes_commands_options_studies_and_records(filled, cli, full):
    def complete(words: str) -> list[str]:
        done = process(
            "PYTHON -m dynascope",
            _DYNASCOPE_COMPLETE="complete_bash",
            COMP_WORDS=words,
            COMP_CWORD=str(len(words.split(" ")) - 1),
        )
        return done.stdout.split()

    assert complete("dynascope ru") == ["run", "runs"]
    assert "swing-by" in complete("dynascope run sw")
    assert complete("dynascope run --dry") == ["--dry-run"]
    assert complete("dynascope run x --scale l") == ["laptop"]
    assert len(complete("dynascope show ")) == 4


def test_names_for_completion_are_those_of_the_registry():
    from dynascope.cli.options import study_names
    from dynascope.core.choices import FORMS, RECORD_KINDS
    from dynascope.store.export import Form
    from dynascope.store.manifest import Kind
    from dynascope.studies import studies

    assert sorted(study_names()) == sorted(studies.names())
    assert Form.__args__ == FORMS and set(Kind.__args__) == set(RECORD_KINDS)


def test_completion_can_be_shown(cli):
    # The shell is named, not looked for: under cron or in a container there is none to find.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = process("PYTHON -m dynascope --show-completion bash", **named)
    assert "_DYNASCOPE_COMPLETE" in done.stdout

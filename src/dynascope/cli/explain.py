"""Errors as one line on stderr and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from dynascope.cli.talk import Stopped, say
from dynascope.core.errors import DynascopeError, unknown

BAD_INPUT, OUR_FAULT, CLOSED_PIPE = 2, 70, 141


def explain(error: Exception) -> int:
    """Say in one line what went wrong, and return the exit code."""
    if isinstance(error, BrokenPipeError):
        _drop_output()
        return CLOSED_PIPE
    if isinstance(error, Stopped | DynascopeError):
        say(f"dynascope: {error}")
        return error.exit_code
    if hasattr(error, "format_message"):  # typer's own errors, wherever it keeps their class
        say(f"dynascope: {_usage(error)}")
        return BAD_INPUT
    if _is_out_of_memory(error):
        say(f"dynascope: out of memory ({_line(error)}); lower sizes, seeds or samples")
        return BAD_INPUT
    if isinstance(error, OSError):
        if error.filename is None:  # stdout itself, such as a file on a full disk
            _drop_output()
        say(f"dynascope: cannot write {error.filename or 'the output'}: {error.strerror or error}")
        return BAD_INPUT
    say(f"dynascope: {type(error).__name__}: {_line(error)}; this is our fault: --debug tells more")
    return OUR_FAULT


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:500] or type(error).__name__


def _is_out_of_memory(error: Exception) -> bool:
    """Whether Python or XLA could not have what was asked for."""
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)


def _usage(error: Any) -> str:
    """Typer's message in one line, with the nearest option and where to read on."""
    command = getattr(error, "ctx", None) and error.ctx.command
    if command and hasattr(error, "possibilities"):
        known = [name for p in command.params for name in p.opts if name.startswith("--")]
        return str(unknown("option", error.option_name, known))
    advice = f"; see {error.ctx.command_path} --help" if command else ""
    return " ".join(error.format_message().split()).rstrip(".") + advice


def _drop_output() -> None:
    """Let what is still buffered vanish, instead of an error when the process ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""The command line: parse, call one verb, print.

`root` holds the command. Every other file is one group of commands, or a small part that
they share: `talk` (what is printed where), `explain` (errors as lines and exit codes),
`options` (what several commands take), `plans`
(`--dry-run`), `interrupts` (Ctrl-C), `docs` (the
page about all commands). Nothing imports jax, numpy or xarray before a command runs.
"""

from dynascope.cli.root import main

__all__ = ["main"]

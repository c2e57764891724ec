"""The command line: parse, call one verb, print.

`root` holds the command and turns errors into lines and exit codes; every other file is one
group of commands, or a small part that they share: `talk` (what is printed where), `values`
(what `--set` and `--over` mean), `options` (what several commands take), `remake` (the
command behind a record). Nothing here imports jax, numpy or xarray before a command runs.
"""

from dynascope.cli.root import main

__all__ = ["main"]

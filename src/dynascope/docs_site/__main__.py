"""`python -m dynascope.docs_site --out site`: builds the documentation."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dynascope.cli.explain import explain


def main(words: list[str] | None = None) -> int:
    """Build the site and say where it is.

    Args:
        words: The command line; that of the process by default.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="python -m dynascope.docs_site", description=__doc__)
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the repository")
    parser.add_argument("--out", type=Path, default=Path("site"), help="the folder to write")
    parser.add_argument(
        "--run", nargs="*", default=(), metavar="STUDY", help="run at smoke scale first"
    )
    given = parser.parse_args(words)
    from dynascope.docs_site.build import build
    from dynascope.runner import run

    try:
        for name in given.run:
            print(run(name, "smoke", progress=False))
        pages = build(given.root, given.out)
    except Exception as error:
        return explain(error)
    print(f"{len(pages)} pages: {(given.out / 'index.html').resolve()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How long a person waits: `dynascope --help` against a bare interpreter."""

from __future__ import annotations

import subprocess
import sys

from timing import line, median_seconds


def main() -> None:
    def run(*arguments: str) -> float:
        return median_seconds(
            lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        )

    bare = run("-c", "pass")
    line(
        "dynascope --help",
        run("-m", "dynascope", "--help"),
        "python -c pass",
        bare,
        "instant",
        1e-3,
    )
    line("import dynascope", run("-c", "import dynascope"), "python -c pass", bare, "instant", 1e-3)


if __name__ == "__main__":
    main()

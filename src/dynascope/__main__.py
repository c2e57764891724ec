"""`python -m dynascope` is the command `dynascope`."""

import os
import sys


def main() -> int:
    """Load and run the command; Ctrl-C while it is being loaded is no error either."""
    try:
        from dynascope.cli import main as command

        return command()
    except KeyboardInterrupt:
        os._exit(130)  # as after any Ctrl-C: `runtime.process` may not be there yet


if __name__ == "__main__":
    sys.exit(main())

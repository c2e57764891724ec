"""`python -m dynascope` is the command `dynascope`."""

import sys

from dynascope.cli import main

sys.exit(main())

"""What is left out of the search for examples in docstrings.

Scripts that train when they are imported: their test runs them (`tests/watching/test_examples.py`).
Where torch is not installed, files that need it.
"""

import importlib.util
from pathlib import Path

WATCHING = Path(__file__).parent / "src" / "dynascope" / "watching"
collect_ignore = [str(WATCHING / "examples")]
if importlib.util.find_spec("torch") is None:
    collect_ignore += [
        str(file) for file in WATCHING.rglob("*.py") if "import torch" in file.read_text("utf-8")
    ]

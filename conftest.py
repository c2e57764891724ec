"""Files that need torch are left out of the search for examples where it is not installed."""

import importlib.util
from pathlib import Path

WATCHING = Path(__file__).parent / "src" / "dynascope" / "watching"
collect_ignore = (
    [str(file) for file in WATCHING.rglob("*.py") if "import torch" in file.read_text("utf-8")]
    if importlib.util.find_spec("torch") is None
    else []
)

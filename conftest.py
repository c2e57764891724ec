"""Files that need torch are left out of the search for examples where it is not installed."""

import importlib.util
from pathlib import Path

WATCHING = Path(__file__).parent / "src" / "dynascope" / "watching"
NEED_TORCH = (
    "checkpoints", "culprits", "eigenpairs", "planted/loops", "quiet", "torch_optimizers",
    "torch_point",
)  # fmt: skip
collect_ignore = (
    [str(WATCHING / f"{name}.py") for name in NEED_TORCH]
    if importlib.util.find_spec("torch") is None
    else []
)
collect_ignore += [str(path) for path in (WATCHING / "examples").glob("*.py")]  # whole programs

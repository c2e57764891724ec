"""Where dynascope keeps things: results and compiled programs."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The results folder: `DYNASCOPE_HOME`, or dynascope's place in the user's data folder."""
    if chosen := os.environ.get("DYNASCOPE_HOME"):
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("dynascope"))


def compiled_folder() -> Path:
    """Where compiled programs are kept between processes."""
    return home() / "compiled"

"""A run's attributes: numbers and text alone, so that any library can write the dataset.

Settings, versions and the names of unknown code are nested; in `run.attrs` they stand as JSON
text, in a record's manifest as they are.
"""

from __future__ import annotations

import json
from typing import Any

NESTED = ("spec", "versions", "code_unknown", "errors", "notes")


def as_text(attrs: dict[str, Any]) -> dict[str, Any]:
    """Attributes as a dataset has them: what is nested is JSON text.

    Example:
        >>> as_text({"spec": {"seeds": [0, 1]}, "seconds": 0.5})
        {'spec': '{"seeds": [0, 1]}', 'seconds': 0.5}
    """
    return {k: json.dumps(v) if isinstance(v, dict | list | tuple) else v for k, v in attrs.items()}


def as_values(attrs: dict[Any, Any]) -> dict[str, Any]:
    """Attributes as values again; those that never were text stay as they are.

    Example:
        >>> as_values({"spec": '{"seeds": [0, 1]}', "seconds": 0.5})["spec"]["seeds"]
        [0, 1]
    """
    return {
        str(k): json.loads(v) if k in NESTED and isinstance(v, str) else v for k, v in attrs.items()
    }

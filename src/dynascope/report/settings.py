"""Settings as rows of a table, with the paths that `--set` understands."""

from __future__ import annotations

from typing import Any

from dynascope.core.plain import CLASS_CODE
from dynascope.report.words import number


def setting_rows(settings: Any, path: str = "") -> list[tuple[str, str]]:
    """Plain settings as (path, text) rows, with the paths that `--set` understands.

    Example:
        >>> setting_rows({"task": {"spec": "tasks.Blobs", "means": [1.0, 2.5]}, "steps": 40})
        [('task', 'tasks.Blobs'), ('task.means', '1, 2.5'), ('steps', '40')]
    """
    if isinstance(settings, dict) and not _is_leaf(settings):
        # A class of the user's own is also told by its code.
        words = (str(settings["spec"]), settings.get(CLASS_CODE, "")) if "spec" in settings else ()
        rows = [(path, " ".join(words).strip())] if words else []
        inner = settings.get("map", settings)
        for key, value in inner.items():
            if key not in ("spec", CLASS_CODE):
                rows += setting_rows(value, f"{path}.{key}".lstrip("."))
        return rows
    if isinstance(settings, list | tuple) and any(isinstance(v, dict | list) for v in settings):
        return [r for i, v in enumerate(settings) for r in setting_rows(v, f"{path}[{i}]")]
    return [(path, _setting(settings))]


def _is_leaf(plain: dict[str, Any]) -> bool:
    return bool({"float", "function", "array"} & set(plain)) and "spec" not in plain


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        if "float" in value:
            return str(value["float"])
        if "function" in value:
            return f"function {value['function']} ({value.get('code', '')})"
        return f"array of shape {value.get('shape')} ({str(value['array'])[:8]})"
    if isinstance(value, list | tuple):
        shown = ", ".join(_setting(v) for v in value[:12])
        return shown + (f", … ({len(value)} values)" if len(value) > 12 else "")
    if isinstance(value, float):
        return number(value, 12)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)

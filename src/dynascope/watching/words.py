"""A watched run in words: what was seen, how far it can be trusted, and what it is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.core.attributes import as_values
from dynascope.watching.diagnosis import diagnose
from dynascope.watching.diagnosis.base import measured

if TYPE_CHECKING:
    import xarray as xr

SHOWN = (
    "loss", "learning_rate", "critical_learning_rate", "rate_over_critical", "sharpness",
    "gradient_norm", "tangent_kernel_norm", "top_space_share", "kernel_drift", "agop_alignment",
)  # fmt: skip


def summary(record: xr.Dataset) -> str:
    """The record's quantities, first and last, and the findings, as text."""
    steps = record["step"].values
    if not len(steps):
        return "No step has been recorded yet."
    lines = [f"{len(steps)} steps, {record.attrs['schedule']}.", ""]
    rows = [("quantity", "first", "last")]
    for name in SHOWN:
        _, values = measured(record, name)
        if len(values):
            rows.append((name, f"{values[0]:.4g}", f"{values[-1]:.4g}"))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines += ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]
    _, residuals = measured(record, "critical_learning_rate_residual")
    critical = f"Critical rate: {record.attrs['critical_rate_of']}"
    if not len(residuals) and len(measured(record, "sharpness")[1]):
        lines += ["", f"{critical}."]
    if len(residuals):
        lines += ["", f"{critical}; residual at most {residuals.max():.1g}."]
        _, converged = measured(record, "critical_learning_rate_converged")
        if missed := int((converged == 0).sum()):
            lines.append(
                f"{missed} of {len(converged)} searches ended before they converged: there the "
                "critical rate is an upper bound."
            )
    for finding in diagnose(record):
        first, last = finding.steps
        lines += ["", f"{finding.kind.capitalize()} (steps {first} to {last}): {finding.sentence}"]
        if finding.suggestion:
            lines.append(f"  One could try: {finding.suggestion}")
        if finding.study:
            lines.append(f"  Mechanism: dynascope run {finding.study}")
    lines += [f"\n{note}" for note in as_values(record.attrs).get("notes") or ()]
    lines += [f"\nNot measured: {line}" for line in as_values(record.attrs)["errors"][:3]]
    return "\n".join(lines)

"""Records in other people's formats: tidy tables, NetCDF, JSON."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from dynascope.core.errors import StoreError, bad
from dynascope.core.records import Claim, StudyResult, result_to_plain
from dynascope.store.files import storing
from dynascope.store.manifest import to_json

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import xarray as xr

Form = Literal["csv", "netcdf", "parquet"]


def export(
    content: xr.Dataset | StudyResult | dict[str, np.ndarray], name: str, folder: Path, form: Form
) -> list[Path]:
    """Write a record's content to a folder; see `Store.export`."""
    if form not in get_args(Form):
        raise bad("form", form, f"one of {', '.join(get_args(Form))}")
    if form == "parquet" and find_spec("pyarrow") is None:
        raise StoreError("parquet needs pyarrow; try pip install 'dynascope[parquet]', or form csv")
    with storing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(content, StudyResult):
            return _export_study(content, name, folder, form)
        if isinstance(content, dict):
            return [_export_computation(content, folder / f"{name}.npz", form)]
        try:
            if form == "netcdf":
                return [_export_netcdf(content, folder / f"{name}.nc")]
            return _export_tables(content, name, folder, form)
        except (TypeError, ValueError) as error:  # names or values that the format cannot hold
            words = " ".join(str(error).split())[:200]
            raise StoreError(f"record {name} cannot be written as {form}: {words}") from error


def _export_computation(arrays: dict[str, np.ndarray], path: Path, form: Form) -> Path:
    """A computation's arrays have no common axes: they are written as one NumPy archive."""
    import numpy as np

    if form != "csv":
        raise bad("form", form, "no form for a computation, which is written as an .npz archive")
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
    return path


def _export_tables(run: xr.Dataset, name: str, folder: Path, form: Form) -> list[Path]:
    paths = []
    for dims, table in tables(run).items():
        about = re.sub(r"[^\w.\[\]-]", "_", "-".join(dims)) or "single"
        path = folder / f"{name}_{about}.{form}"
        if form == "csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path, index=False)
        paths.append(path)
    return paths


def tables(run: xr.Dataset) -> dict[tuple[str, ...], pd.DataFrame]:
    """One tidy table per set of dims: a column per dim, coordinate and variable.

    Example:
        >>> import xarray as xr
        >>> run = xr.Dataset({"loss": ("step", [2.0, 1.0])}, {"time": ("step", [0.0, 0.1])})
        >>> print(tables(run)["step",].to_string(index=False))
         step  time  loss
            0   0.0   2.0
            1   0.1   1.0
    """
    groups: dict[tuple[str, ...], list[Any]] = {}
    for name, variable in run.data_vars.items():
        dims = tuple(str(d) for d in run.sizes if d in variable.dims)
        groups.setdefault(dims, []).append(name)
    return {dims: _table(run[names], dims) for dims, names in groups.items()}


def _table(part: xr.Dataset, dims: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    if not dims:
        return pd.DataFrame({str(k): [v.values.item()] for k, v in part.variables.items()})
    frame = part.to_dataframe(dim_order=list(dims)).reset_index()
    beside = [c for c in part.coords if c not in dims]
    return frame[[*dims, *beside, *part.data_vars]]


def _export_netcdf(run: xr.Dataset, path: Path) -> Path:
    engine: Literal["netcdf4", "scipy"] = "netcdf4" if find_spec("netCDF4") else "scipy"
    plain = _without_complex(run)
    plain.attrs = _flat_attrs(run.attrs)
    for variable in plain.variables.values():
        variable.attrs = _flat_attrs(variable.attrs)
    plain.to_netcdf(path, engine=engine)
    return path


def _without_complex(run: xr.Dataset) -> xr.Dataset:
    """NetCDF has no complex numbers: a variable becomes `<name>_real` and `<name>_imag`."""
    plain = run.copy()
    for name, variable in run.data_vars.items():
        if variable.dtype.kind == "c":
            plain = plain.drop_vars(str(name))
            plain[f"{name}_real"], plain[f"{name}_imag"] = variable.real, variable.imag
    return plain


def _flat_attrs(attrs: dict[Any, Any]) -> dict[str, Any]:
    """Attributes as NetCDF takes them: text and numbers stay, the rest becomes JSON text."""

    def flat(value: Any) -> Any:
        simple = isinstance(value, str | int | float) and not isinstance(value, bool)
        return value if simple else to_json(value, "attrs")

    return {str(k): flat(v) for k, v in attrs.items()}


def _export_study(result: StudyResult, name: str, folder: Path, form: Form) -> list[Path]:
    if form != "csv":
        raise bad("form", form, "csv for a study (its claims as a table, and all of it as JSON)")
    whole, claims = folder / f"{name}.json", folder / f"{name}_claims.csv"
    whole.write_text(json.dumps(result_to_plain(result), indent=1) + "\n", encoding="utf-8")
    with open(claims, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(_CLAIM_COLUMNS))
        writer.writeheader()
        writer.writerows(claim_columns(result.claims))
    return [whole, claims]


def claim_columns(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    """A row per claim, by column: what a table of them has."""
    return [{name: read(c) for name, read in _CLAIM_COLUMNS.items()} for c in claims]


_CLAIM_COLUMNS: dict[str, Any] = {
    "id": lambda c: c.id,
    "statement": lambda c: c.statement,
    "source": lambda c: c.source,
    "quantity": lambda c: c.quantity,
    "kind": lambda c: c.measured.kind,
    "measured": lambda c: c.measured.value,
    "spread": lambda c: c.measured.spread,
    "low": lambda c: c.measured.low,
    "high": lambda c: c.measured.high,
    "n": lambda c: c.measured.n,
    "expected": lambda c: c.expected if isinstance(c.expected, str) else json.dumps(c.expected),
    "verdict": lambda c: c.verdict,
    "control": lambda c: c.control and c.control.statement,
    "control_measured": lambda c: c.control and c.control.measured.value,
    "control_verdict": lambda c: c.control and c.control.verdict,
    "positive": lambda c: c.positive and c.positive.statement,
    "positive_measured": lambda c: c.positive and c.positive.measured.value,
    "positive_verdict": lambda c: c.positive and c.positive.verdict,
    "origin": lambda c: c.origin,
    "exploratory": lambda c: c.exploratory,
    "note": lambda c: c.note,
}

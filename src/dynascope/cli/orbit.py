"""`dynascope orbit`: what gradient descent does to a function at a learning rate."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, table
from dynascope.core.errors import bad

if TYPE_CHECKING:
    from dynascope.instruments.orbits.describing import Described
    from dynascope.theories.oscillation.one_dimension import Flip

ROWS = 9  # learning rates in the table of a range


def orbit(
    function: Annotated[
        str, typer.Argument(metavar="FUNCTION", help='A function of x, as "(x**2-1)**2/4".')
    ],
    near: Annotated[
        float, typer.Option(metavar="X", help="Where the search for the minimum starts.")
    ],
    learning_rate: Annotated[
        float | None, typer.Option(metavar="R", help="What happens at this learning rate?")
    ] = None,
    first: Annotated[
        float | None, typer.Option("--from", metavar="A", help="From this learning rate ...")
    ] = None,
    last: Annotated[
        float | None, typer.Option("--to", metavar="B", help="... to this one, in a table.")
    ] = None,
    start: Annotated[
        float | None,
        typer.Option(metavar="X0", help="The first iterate; 0.1 below the minimum by default."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the bifurcation diagram there.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say what gradient descent does to a function of one variable.

    It converges, oscillates, wanders or diverges: theory and simulation side by side. FUNCTION
    may hold x, numbers, pi, e, + - * / ** and sin cos tan exp log sqrt tanh sigmoid softplus;
    begin one with a minus by "0-".

    \b
    Examples
      dynascope orbit "(x**2-1)**2/4" --near 1 --learning-rate 1.05
      dynascope orbit "2*sin(x)" --near -1.5 --from 0.9 --to 2.2 --out diagram.png
    """  # noqa: D301
    _check(learning_rate, first, last, start, out)
    from dynascope.instruments.orbits.describing import describe_descents, draw_descents

    found = describe_descents(function, near, _rates(learning_rate, first, last), start)
    drawn = {}
    if out:
        from dynascope.report import save

        drawn = {"out": str(save(draw_descents(found), out).resolve())}
    about, rows = _about(function, found.edge), found.rows
    if first is not None:
        shown = {**about, "learning_rates": list(rows), **drawn}
    else:
        shown = {**about, **(rows[0] if rows else _EMPTY), **drawn}
    if as_json:
        emit(shown)
    else:
        _print(function, found, first is not None)
        for path in drawn.values():
            print(f"diagram: {path}")


_EMPTY: dict[str, Any] = {
    **dict.fromkeys(("learning_rate", "verdict", "period")),
    "points": [],
    **dict.fromkeys(("multiplier", "lyapunov", "theory")),
}


def _check(
    rate: float | None, first: float | None, last: float | None, start: float | None,
    out: Path | None,
) -> None:  # fmt: skip
    """Raise for what no function could make sense of."""
    for name, value in {"--learning-rate": rate, "--from": first, "--to": last}.items():
        if value is not None and not (math.isfinite(value) and value > 0):
            raise bad(name, value, "a finite number above 0")
    if start is not None and not math.isfinite(start):
        raise bad("--start", start, "a finite number")
    if rate is not None and (first is not None or last is not None):
        raise bad("--learning-rate", rate, "either one rate, or --from and --to")
    if (first is None) != (last is None):
        name, value = ("--from", first) if last is None else ("--to", last)
        raise bad(name, value, "both --from and --to")
    if first is not None and last is not None and first >= last:
        raise bad("--from", first, f"a rate below --to {last:g}")
    options.check_picture(out)


def _rates(rate: float | None, first: float | None, last: float | None) -> list[float]:
    if first is None or last is None:
        return [] if rate is None else [rate]
    return [first + (last - first) * k / (ROWS - 1) for k in range(ROWS)]


def _about(function: str, edge: Flip) -> dict[str, Any]:
    return {
        "function": function,
        "minimum": edge.minimum,
        "stability_limit": edge.stability_limit,
        "criticality": edge.criticality,
    }


def _print(function: str, found: Described, many: bool) -> None:
    edge, rows = found.edge, found.rows
    print(f"function         {function}")
    print(f"minimum          x = {edge.minimum:.10g}, f'' = {edge.derivatives[2]:.6g}")
    print(f"stability limit  {edge.stability_limit:.10g} = 2 / f''")
    print(f"criticality      {edge.criticality:.6g} = 3 f'''^2 - f'' f'''': {_MEANING[edge.kind]}")
    if not rows:
        return
    print(f"start            x0 = {found.start:.10g}\n")
    if many:
        columns = ("learning rate", "simulated", "theory", "points", "lyapunov")
        table(columns, [_cells(r, r["points"], r["theory"]["verdict"]) for r in rows])
        return
    row, theory = rows[0], rows[0]["theory"]
    print(f"learning rate    {row['learning_rate']:.10g}")
    print(f"simulated        {_words(row['verdict'], row['points'])}")
    print(f"theory           {_words(theory['verdict'], theory['points'])}")
    for name in ("multiplier", "lyapunov"):
        if row[name] is not None:
            print(f"{name:16} {row[name]:.6g}")


_MEANING = {
    "supercritical": "beyond the limit a stable orbit of period 2 is born",
    "subcritical": "beyond the limit nothing near the minimum is stable",
    "degenerate": "what is found beyond the limit is decided by higher derivatives",
    "no orbit": "beyond the limit there is no orbit of period 2",
}


def _cells(row: dict[str, Any], points: list[float], theory: str) -> tuple[str, ...]:
    shown = ", ".join(f"{x:.6g}" for x in points[:4]) + (", ..." if len(points) > 4 else "")
    growth = "" if row["lyapunov"] is None else f"{row['lyapunov']:.4g}"
    return f"{row['learning_rate']:.6g}", row["verdict"], theory, shown, growth


def _words(verdict: str, points: list[float]) -> str:
    return f"{verdict:12} " + ", ".join(f"{x:.10f}" for x in points)

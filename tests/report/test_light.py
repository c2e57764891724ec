"""The package costs nothing until it is used."""

import subprocess
import sys

import pytest

from dynascope import report


def loaded(code):
    """The modules that a fresh Python has after running this code."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_room_imports_no_renderer():
    modules = loaded("import dynascope.report")
    assert not modules & {"jax", "matplotlib", "plotly", "rich", "xarray", "numpy"}


def test_drawing_needs_neither_jax_nor_pyplot():
    code = (
        "from dynascope import report\nfrom dynascope.core.charts import Chart\n"
        "report.figure(Chart('a', 'b', 'c', ())); report.plotly_figure(Chart('a', 'b', 'c', ()))"
    )
    modules = loaded(code)
    assert "matplotlib.figure" in modules
    assert not modules & {"jax", "matplotlib.pyplot", "plotly", "rich"}


def test_every_exported_name_is_a_function_each_time_it_is_asked_for():
    for _ in range(2):  # loading a module must not hide a function of its name
        assert all(callable(getattr(report, name)) for name in report.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = report.no_such_name

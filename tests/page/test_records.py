"""Records in the page: lists, charts of any dataset, thinning, caching, files, forgetting."""

import http.client
import io
import json
import zipfile

import numpy as np
import pytest
import xarray as xr

from dynascope.page.record_charts import variable_chart, variables
from dynascope.page.thinning import thinned
from dynascope.store import Store

from .served import TOKEN, ask, post, put_run, serving


@pytest.fixture(scope="module")
def port():
    with serving() as found:
        yield found


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("count", [1, 2, 21, 22, 23, 1000, 100_003])
@pytest.mark.parametrize("holes", [False, True])
def test_thinning_keeps_the_ends_and_every_extreme(count, holes):
    random = np.random.default_rng(count)
    x, y = np.arange(float(count)), random.normal(size=count)
    if holes:
        y[random.random(count) < 0.3] = np.nan
    seen_x, seen_y = thinned(x, y, 10)
    assert len(seen_x) <= 22 and seen_x[0] == 0 and seen_x[-1] == count - 1
    assert (np.diff(seen_x) > 0).all()
    if np.isfinite(y).any():
        assert np.nanmax(seen_y) == np.nanmax(y) and np.nanmin(seen_y) == np.nanmin(y)


def test_every_kind_of_variable_is_drawn_at_its_step():
    run = xr.Dataset({
        "loss": (("seed", "step"), [[3.0, 2.0, 1.0]]),
        "spectrum": (("seed", "step", "rank"), [[[3.0, 2.0], [2.0, 1.0], [1.0, 0.5]]]),
        "w": (("seed", "step", "i", "j"), np.arange(12.0).reshape(1, 3, 2, 2)),
        "words": ("step", ["a", "b", "c"]), "number": ((), 3.0),
    }, {"step": [0, 10, 20]})  # fmt: skip
    assert [(v.name, v.kind) for v in variables(run)] == [
        ("loss", "curve"), ("spectrum", "profile"), ("w", "matrix")
    ]  # fmt: skip
    assert variable_chart(run, "loss", 0, 100).panels[0].marks[0].y == (3.0, 2.0, 1.0)
    assert variable_chart(run, "spectrum", 1, 100).panels[0].marks[0].y == (2.0, 1.0)
    assert variable_chart(run, "w", 2, 100).panels[0].marks[0].z == ((8.0, 9.0), (10.0, 11.0))
    assert "step 20" in variable_chart(run, "w", 99, 100).caption  # beyond the end: the last


def test_empty_store_says_what_to_run_first(port, home):
    assert "run a study" in ask(port, path="/records")[1]


def test_list_searches_filters_and_sorts(port, home):
    put_run("alpha: one", 50, 1)
    put_run("beta: two", 500, 2, study="beta")
    text = ask(port, path="/records")[1]
    assert "2 of 2 records" in text and text.index("beta") < text.index("alpha: one")
    assert "1 of 2 records" in ask(port, path="/records?search=alpha")[1]
    assert "1 of 2 records" in ask(port, path="/records?study=beta")[1]
    assert "0 of 2 records" in ask(port, path="/records?kind=study")[1]
    by_label = ask(port, path="/records?sort=label")[1]
    assert by_label.index("alpha: one") < by_label.index("beta: two")


def test_charts_stay_in_the_browser_as_long_as_the_record_is_the_same(port, home):
    record = put_run(steps=5000)
    assert 'id="step"' in ask(port, path=f"/records/{record}")[1]
    path = f"/records/{record}/chart?variable=loss&width=100&version=1"
    status, text, headers = ask(port, path=path)
    found = json.loads(text)
    assert status == 200 and "immutable" in headers["cache-control"]
    lines = [t for t in found["figure"]["data"] if t["type"] == "scatter"]
    assert len(lines) == 2 and all(len(t["x"]) <= 202 for t in lines)
    assert "5,000 points, thinned" in found["caption"]
    assert "Lowest 0.0002 at step 4999, highest 2 at step 0." in found["caption"]
    status, text, _ = ask(port, path=f"/records/{record}/chart?variable=matrix&step=3")
    figure = json.loads(text)["figure"]
    assert status == 200 and any(t["type"] == "heatmap" for t in figure["data"])
    bottom, top = figure["layout"]["yaxis"]["range"]
    assert bottom > top and figure["layout"]["yaxis"]["dtick"] == 1  # the first row is at the top


def test_export_is_an_archive_and_nothing_is_left_behind(port, home):
    record = put_run()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", f"/records/{record}/export?form=csv")
    answer = connection.getresponse()
    names = zipfile.ZipFile(io.BytesIO(answer.read())).namelist()
    connection.close()
    assert answer.status == 200 and any(name.endswith(".csv") for name in names)


def test_forgetting_needs_the_whole_name_and_a_vanished_record_is_said(port, home):
    record = put_run()
    assert post(port, f"/forget/{record[:6]}", {})[0] == 404
    assert ask(port, "POST", f"/forget/{record}", {"x-token": "wrong"}, b"{}")[0] == 403
    assert Store().runs()
    assert post(port, f"/forget/{record}", {}) == (200, {"forgotten": record})
    assert not Store().runs()
    status, text, _ = ask(port, path=f"/records/{record}")
    assert status == 404 and "unknown record" in text
    assert TOKEN not in text


def test_two_runs_side_by_side(port, home):
    first, second = put_run(number=1), put_run(number=2)
    status, text, _ = ask(port, path=f"/compare?id={first}&id={second}")
    assert status == 200 and "<code>number</code>" in text and "second: " in text
    status, text, _ = ask(port, path=f"/compare?id={first}")
    assert status == 400 and "two" in text

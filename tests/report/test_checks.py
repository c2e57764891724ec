import pytest

from dynascope.core.charts import Bars, Graph, Heat, Line, Panel, Path, Points
from dynascope.core.errors import BadInput
from dynascope.report import figure, plotly_figure
from dynascope.report.checks import in_space

from .marks import chart

BAD = {
    "lengths": (chart(Line([0, 1], [0])), "x has 2, y has 1"),
    "band": (chart(Line([0, 1], [0, 1], low=[0])), "low has 1"),
    "names": (chart(Bars(("a",), [1, 2])), "one length"),
    "field": (chart(Heat([0, 1], [0], [[1, 2], [3, 4]])), r"the shape \(1, 2\)"),
    "edge": (chart(Graph([0], [0], [0], ("a",), ((0, 1),))), "node numbers below 1"),
    "plane in space": (chart(Path([0], [0], [0]), Points([0], [0])), "nothing else"),
    "log in space": (chart(Path([0], [0], [0]), x_scale="log"), "linear axes"),
}


@pytest.mark.parametrize("draw", [figure, plotly_figure])
@pytest.mark.parametrize("name", BAD)
def test_both_renderers_refuse_what_cannot_be_drawn_in_one_line(name, draw):
    made, words = BAD[name]
    with pytest.raises(BadInput, match=words) as error:
        draw(made)
    assert "\n" not in str(error.value)


def test_a_panel_is_in_space_if_a_path_has_a_third_coordinate():
    assert in_space(Panel((Path([0], [0], [0]),)))
    assert not in_space(Panel((Path([0], [0]),)))

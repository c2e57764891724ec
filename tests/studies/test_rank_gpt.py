"""rank-gpt: what it needs, and what it says where the text is not there."""

from __future__ import annotations

import dynascope as ds
from dynascope.runner.forecast import without_data
from dynascope.store import Store
from dynascope.studies.study import studies

STUDY = "rank-gpt"


def test_paper_scale_is_gpt_2():
    """RANK-M8 and F20: 12 layers of 12 heads of size 64, blocks of 256, rate 3e-4, batch 16."""
    s = studies.get(STUDY).at("paper")
    assert (s.model.depth, s.model.heads, s.model.attention.head_size) == (12, 12, 64)
    assert (s.model.tokens.length, s.rate, s.batch_size) == (256, 3e-4, 16)


def test_without_any_text_nothing_is_judged(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    outcome = ds.run(STUDY, "smoke", progress=False)
    assert {c.verdict for c in outcome.claims} == {"not_applicable"}
    own = [c for c in outcome.claims if "tinyshakespeare" in c.id and "rise" not in c.id]
    said = [c.note for c in own]
    assert said and all("tinyshakespeare is not there" in note for note in said)
    assert "planted" in outcome.charts[0].title, "the picture says that it shows no text"


def test_a_plan_says_which_text_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    study = studies.get(STUDY)
    [line] = without_data(study, study.at("paper"), Store(tmp_path))
    assert line.startswith("text wikitext103 is not there")
    assert line.endswith("; left out: training on wikitext103")

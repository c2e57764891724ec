"""Claims put to planted values instead of runs and computations."""

from __future__ import annotations

import pytest

from dynascope.studies import studies
from dynascope.studies.judging import judge
from dynascope.studies.nodes import SETTINGS, Item


@pytest.fixture
def judged():
    """A function: verdicts of those claims that planted values decide, by the end of their id."""

    def verdicts(name, settings, planted):
        def value(node):
            if isinstance(node, Item):
                return value(node.inputs[0])[node.key]
            return settings if node is SETTINGS else planted[node]

        def decided(claim):
            nodes = {n for case in claim.cases for n in case.nodes}
            roots = {n.inputs[0] if isinstance(n, Item) else n for n in nodes}
            return roots - {SETTINGS} <= set(planted)

        claims = [claim for claim in studies.get(name).claims if decided(claim)]
        return {c.id.split("/")[1]: judge(c, settings, value).verdict for c in claims}

    return verdicts

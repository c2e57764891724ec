"""What `dynascope page` tells whoever started it."""

import json

import pytest

from dynascope.page import serving


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_the_link_is_told(cli, monkeypatch, more):
    served = []

    def serve(host, port, open_browser, tell):
        served.append((host, port, open_browser))
        tell("http://127.0.0.1:9/")

    monkeypatch.setattr(serving, "serve", serve)
    answer = cli("page", "--no-open", "--port", "9", *more)
    assert answer.code == 0 and served == [("127.0.0.1", 9, False)]
    told = json.loads(answer.out)["page"] if more else answer.out.splitlines()[0]
    assert told == "http://127.0.0.1:9/"

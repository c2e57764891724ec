"""Who gets in: names, origins, tokens; and a campaign of requests that nobody should send."""

import json
import random
import string

import pytest

from dynascope.core.errors import BadInput
from dynascope.numerics.expressions import parse
from dynascope.page.safety import HEADERS, LARGEST_BODY, Guard

from .served import TOKEN, ask, post, put_run, serving


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """A server on an empty store: no name that a request makes up is the start of a record's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYNASCOPE_HOME", str(tmp_path_factory.mktemp("empty")))
        with serving() as found:
            yield found


def test_our_own_page_gets_an_answer_with_headers_that_forbid_the_rest(port):
    status, text, headers = ask(port)
    assert status == 200 and "Explorers" in text
    for name, value in HEADERS.items():
        assert headers[name] == value
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example",
    "0.0.0.0", "192.168.1.1", "[::ffff:127.0.0.1]", "", "127.0.0.1@evil.example", "[", "a b",
])  # fmt: skip
def test_another_name_is_refused(port, host):
    assert ask(port, headers={"host": host})[0] in (400, 403)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:80", "LOCALHOST:8765"])
def test_names_of_this_machine_are_not(port, host):
    assert ask(port, headers={"host": host})[0] == 200


@pytest.mark.parametrize("headers", [
    {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:1"},
    {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
    {"x-token": "wrong"}, {"x-token": ""}, {"x-token": None}, {"x-token": TOKEN + "x"},
])  # fmt: skip
def test_a_change_from_elsewhere_or_without_the_token_is_refused(port, headers):
    given = {"x-token": TOKEN, **headers}
    assert ask(port, "POST", "/explore/balance", given, b"{}")[0] == 403
    assert ask(port, "POST", "/run/balance", given, b"{}")[0] == 403
    assert ask(port, "POST", "/forget/abcdef00", given, b"{}")[0] == 403


def test_other_sites_may_link_here_and_nothing_else(port):
    abroad = {"sec-fetch-site": "cross-site"}
    assert ask(port, headers={**abroad, "sec-fetch-mode": "navigate"})[0] == 200
    assert ask(port, headers={**abroad, "sec-fetch-mode": "no-cors"})[0] == 403


def test_a_body_that_is_too_large_is_refused(port):
    headers = {"x-token": TOKEN, "content-length": str(LARGEST_BODY + 1)}
    assert ask(port, "POST", "/explore/graph-classes", headers, b"{}")[0] == 413
    chunked = {"x-token": TOKEN, "transfer-encoding": "chunked", "content-length": None}
    part = b"x" * 2**20
    body = (
        b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for _ in range(21)) + b"0\r\n\r\n"
    )
    assert ask(port, "POST", "/explore/graph-classes", chunked, body)[0] == 413


def test_beyond_this_machine_every_request_needs_the_token():
    with serving(host="0.0.0.0") as port:
        assert ask(port)[0] == 401
        assert ask(port, path="/explorers?token=wrong")[0] == 401
        status, _, headers = ask(port, path=f"/explorers?token={TOKEN}")
        assert status == 303 and headers["location"] == "/explorers"
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert ask(port, headers={"cookie": cookie.split(";")[0]})[0] == 200
        assert ask(port, headers={"cookie": "dynascope=wrong"})[0] == 401
        assert ask(port, headers={"host": "evil.example", "cookie": cookie.split(";")[0]})[0] == 403


def test_a_redirect_after_the_token_stays_here():
    guard = Guard(None, TOKEN, "0.0.0.0")
    assert guard.remote and not Guard(None, TOKEN, "127.0.0.1").remote


EXPRESSIONS = [
    "__import__('os').system('touch /tmp/owned')", "().__class__.__bases__[0].__subclasses__()",
    "open('/etc/passwd').read()", "eval('1')", "exec('x=1')", "lambda: 0", "[x for x in (1,)]",
    "x if x else 1", "x.real", "x[0]", "f'{x}'", "9**9**9**9**9", "(" * 500, "x" * 400, "",
    "import os", "x=1", "x;x", "\x00", "\u202e", "{{7*7}}", "<script>", "1e999*x", "x/0*", "y",
    "__x__", "x**x**",
]  # fmt: skip


def parses(text):
    """Whether a text is an expression at all."""
    try:
        return bool(parse(text))
    except BadInput:
        return False


def requests_nobody_should_send(count, seed=3):
    """Malformed and hostile requests, so many of them by chance: every one must be refused."""
    draw = random.Random(seed)
    key = {"x-token": TOKEN}
    paths = [
        "/..%2f..%2fetc%2fpasswd", "/assets/../../../etc/passwd", "/assets/%2e%2e/server.py",
        "/assets/..%2f..%2fpyproject.toml", "/assets/connection.py", "/assets/",
        "/records/../../etc/passwd",
        "/records/%2e%2e%2f%2e%2e", "/records/..", "/records/zz", "/records/last/export?form=exe",
        "/records/abcdef/chart", "/studies/%3Cscript%3E", "/studies/no-such", "/documents/none",
        "/thumbnails/no.png", "/thumbnails/../x.png", "/explore/none", "/explore/%00", "/nothing",
        "/compare", "/compare?id=a&id=b", "/compare?id=..&id=..", "/records?sort=drop",
        "/records?kind=%27", "/records?first=-1", "/records?first=1e9", "/form/swing-by?scale=x",
        "/form/none?scale=smoke", "/growing/none", "/x" * 5000, "/?" + "a" * 9000, "//etc/passwd",
        "/.git/config", "/.env", "/assets/%252e%252e", "/records/abcdef00/chart?step=-1",
        "/explore/swing-by/x", "/studies/swing-by?record=../../x", "/studies/swing-by?record=zz",
    ]  # fmt: skip
    for path in paths:
        yield "GET", path, {}, None
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"):
        yield method, "/", {}, None
    bodies = [
        b"", b"[", b"[]", b"3", b"null", b"{", b'{"values": 3}', b'{"values": {"x": NaN}}',
        b'{"values": {"a": {}}}', b'{"values": [[[[]]]]}', b"\xff\xfe", b"[" * 100_000,
        b'{"values": {"learning_rate": 1e999}}', b'{"values": {"learning_rate": "1"}}',
        b'{"values": {"learning_rate": true}}', b'{"values": {"__class__": 1}}',
        b'{"values": {"learning_rate": [1]}}', b'{"values": {"x": -1e308}}',
    ]  # fmt: skip
    wrong = [b for b in bodies if b not in (b"", b'{"values": {}}')]
    for body in wrong:
        yield "POST", "/explore/balance", key, body
    for text in EXPRESSIONS:
        if count < 100 and parses(text):
            continue  # refused as well, after its derivatives are compiled
        asked = json.dumps({"values": {"function": text}}).encode()
        yield "POST", "/explore/orbits", key, asked
        asked = json.dumps({"values": {"edges": text}}).encode()
        yield "POST", "/explore/graph-classes", key, asked
    for asked in (
        {"scale": "huge"}, {"scale": 3}, {"changes": []}, {"changes": {"seeds": 3}},
        {"scale": "smoke", "changes": {"nothing": "1"}}, {"changes": {"seeds": "-1"}},
        {"changes": {"seeds": "__import__('os')"}}, {"changes": {"a.b[": "1"}},
        {"changes": {"seeds": "1e400"}}, {"changes": {str(i): "1" for i in range(600)}},
    ):  # fmt: skip
        yield "POST", "/run/quadratic-map", key, json.dumps(asked).encode()
    for name in ("0", "999", "-1", "a", "1e3", "9" * 40):
        yield "POST", f"/cancel/{name}", key, b"{}"
        yield "POST", f"/forget/{name}", key, b"{}"
    made = 0
    while made < count:
        kind = draw.randrange(4)
        noise = "".join(draw.choice(string.printable[:94]) for _ in range(draw.randrange(1, 60)))
        plain = "".join(c for c in noise if c not in ' "#<>?`{}|\\^%')
        if kind == 0:
            yield "GET", f"/q{plain}", {}, None
        elif kind == 1:
            yield "POST", f"/explore/{plain[:20] or 'x'}zz", key, noise.encode()
        elif kind == 2:
            values = {draw.choice(("learning_rate", "x", noise)): draw.choice(
                (noise, None, [], {}, -1e9, 10**30, [noise], True))}  # fmt: skip
            yield "POST", "/explore/balance", key, json.dumps({"values": values}).encode()
        else:
            yield "POST", "/run/balance", key, json.dumps({"scale": noise}).encode()
        made += 1


@pytest.mark.slow
@pytest.mark.parametrize("count", [20, 500])
def test_requests_that_nobody_should_send(port, count):
    sent, statuses = 0, set()
    for method, path, headers, body in requests_nobody_should_send(count):
        status, text, _ = ask(port, method, path, headers, body)
        assert 400 <= status < 500, (method, path[:80], body and body[:80], status, text[:200])
        for leak in ("Traceback", 'File "', "root:", "site-packages"):
            assert leak not in text, (method, path[:80], text[:300])
        statuses.add(status)
        sent += 1
    assert sent > 100 + count and statuses >= {400, 404, 405, 414}
    assert ask(port)[0] == 200
    assert post(port, "/explore/balance", {"values": {"learning_rate": 1.1}})[0] == 200


def test_words_of_a_record_are_only_words(port, monkeypatch, tmp_path):
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    record = put_run("<script>alert(1)</script> & \"'")
    for path in ("/records", f"/records/{record}", "/records?search=%3Cscript%3E"):
        status, text, _ = ask(port, path=path)
        assert status == 200 and "<script>alert" not in text
        assert "&lt;script&gt;" in text
    status, text, headers = ask(
        port, path=f"/records/{record}/chart?variable=%3Cb%3E", headers={"accept": "text/html"}
    )
    assert status == 404 and "<b>" not in text and "&lt;b&gt;" in text
    assert headers["content-type"].startswith("text/html")

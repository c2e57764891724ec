"""Downloads, against a server of our own on this machine."""

from __future__ import annotations

import hashlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dynascope.core.errors import MissingData
from dynascope.data import loading
from dynascope.data.downloads import checksum, fetch
from dynascope.data.sources import SOURCES, Official, Source

CONTENT = b"0123456789" * 100


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/absent":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:300] if self.path == "/partial" else CONTENT)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def _official(address, content=CONTENT, algorithm="md5"):
    return Official(
        "file.bin", address, f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"
    )


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
def test_a_good_file_is_fetched_whole(server, tmp_path, algorithm):
    place = tmp_path / "set"
    path = fetch(_official(server + "/good", algorithm=algorithm), place)
    assert path.read_bytes() == CONTENT
    assert [p.name for p in place.iterdir()] == ["file.bin"]  # no temporary file is left
    assert checksum(path, "md5") == f"md5:{hashlib.md5(CONTENT).hexdigest()}"


def test_a_file_that_is_there_is_not_fetched_again(tmp_path):
    (tmp_path / "file.bin").write_bytes(b"mine")
    path = fetch(_official("http://127.0.0.1:9/never"), tmp_path)
    assert path.read_bytes() == b"mine"


@pytest.mark.parametrize(
    "path, content, reason",
    [
        ("/good", b"something else", "its checksum is md5:"),
        ("/partial", CONTENT, "300 of 1000 bytes came"),
        ("/absent", CONTENT, "404 Not Found"),
    ],
)
def test_a_wrong_file_is_refused_and_leaves_nothing(server, tmp_path, path, content, reason):
    with pytest.raises(MissingData, match=reason) as caught:
        fetch(_official(server + path, content), tmp_path)
    assert list(tmp_path.iterdir()) == []
    message = str(caught.value)
    assert "\n" not in message and server + path in message and str(tmp_path) in message


def test_a_refused_connection_is_said_in_one_line(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(MissingData, match="could not be fetched") as caught:
        fetch(_official(f"http://127.0.0.1:{port}/x"), tmp_path)
    assert "\n" not in str(caught.value) and caught.value.exit_code == 2


def test_a_place_that_cannot_be_written_is_said_in_one_line(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MissingData, match="could not be fetched"):
        fetch(_official(server + "/good"), tmp_path / "file" / "below")


def test_load_fetches_into_the_cache_and_reads(server, tmp_path, monkeypatch):
    """The whole way: nowhere on disk, fetched, checked, read; the second time from disk."""
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path / "readonly"))
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path / "home"))
    whole = Source("Toy", "none", (1, 1), (_official(server + "/good"),))
    monkeypatch.setitem(SOURCES, "toy", whole)
    seen = []

    def read(place):
        import numpy as np

        seen.append((place / "file.bin").read_bytes())
        return np.zeros((1, 2)), np.zeros(1, int), np.zeros((1, 2)), np.zeros(1, int)

    monkeypatch.setitem(loading.READERS, "toy", read)
    assert not loading.there("toy")
    with pytest.raises(MissingData, match="toy is not there"):
        loading.load("toy", download=False)
    assert loading.load("toy").x_train.shape == (1, 2)
    assert seen == [CONTENT]
    assert loading.there("toy") and (tmp_path / "home" / "data" / "toy" / "file.bin").is_file()


def test_every_official_file_has_an_address_and_a_checksum_of_the_right_length():
    lengths = {"md5": 32, "sha256": 64}
    for known in SOURCES.values():
        for official in known.files:
            algorithm, digits = official.checksum.split(":")
            assert len(digits) == lengths[algorithm] and int(digits, 16) > 0
            assert official.address.endswith(official.file)

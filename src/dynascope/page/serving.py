"""Starting the server: a free port, the warm processes, the link."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable

import uvicorn

from dynascope.core.errors import bad
from dynascope.page.jobs import Jobs
from dynascope.page.pool import Pool
from dynascope.page.safety import LOOPBACK
from dynascope.page.server import application

FURTHER = 20  # ports that are tried after the one that was asked for


def listen(host: str, port: int) -> socket.socket:
    """A socket at the port, or at the next one that is free.

    Args:
        host: An address of this machine.
        port: Where to begin; 0 takes any.

    Returns:
        The socket, bound and not listening yet.
    """
    try:
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
    except OSError:
        raise bad("--host", host, "an address of this machine, such as 127.0.0.1") from None
    for number in range(port, port + FURTHER + 1) if port else (0,):
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, number))
        except OSError as error:
            found.close()
            if error.errno not in (13, 98, 48):  # neither taken nor forbidden
                raise bad("--host", host, "an address of this machine", str(error)) from None
            continue
        return found
    raise bad("--port", port, f"a port with a free one among the next {FURTHER}")


def serve(host: str, port: int, open_browser: bool, tell: Callable[[str], None]) -> None:
    """Serve until Ctrl-C.

    Args:
        host: Where to listen; beyond this machine only whoever has the token gets in.
        port: The first port to try.
        open_browser: Whether to open the page.
        tell: Called with the link once the port is taken.
    """
    token = secrets.token_urlsafe(24)
    with listen(host, port) as bound:
        got = bound.getsockname()[1]
        if port and got != port:
            print(f"port {port} is taken, using {got}", file=sys.stderr)
        name = f"[{host}]" if ":" in host else host
        link = f"http://{name}:{got}/" + ("" if host in LOOPBACK else f"?token={token}")
        tell(link)
        asyncio.run(_serve(bound, host, token, link, open_browser))


class Server(uvicorn.Server):
    """A server that, once stopped, hangs up on pages that listen, and is silent about them."""

    def __init__(self, config: uvicorn.Config, jobs: Jobs) -> None:
        super().__init__(config)
        self._jobs = jobs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what is open; requests that are cut off by Ctrl-C are no errors."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._jobs.hang_up()
        await super().shutdown(sockets)


async def _serve(
    bound: socket.socket, host: str, token: str, link: str, open_browser: bool
) -> None:
    pool, jobs = Pool(), Jobs()
    config = uvicorn.Config(
        application(pool, token, host, jobs), log_level="warning", access_log=False,
        server_header=False, timeout_graceful_shutdown=2, h11_max_incomplete_event_size=32_768,
    )  # fmt: skip
    server = Server(config, jobs)
    opening = asyncio.create_task(_open(server, link)) if open_browser else None
    await server.serve(sockets=[bound])
    if opening:
        opening.cancel()


async def _open(server: uvicorn.Server, link: str) -> None:
    """Open the page once it can be asked for."""
    while not server.started:
        await asyncio.sleep(0.02)
    await asyncio.to_thread(webbrowser.open, link)

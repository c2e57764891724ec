"""Who may ask for what: checked before any request is looked at.

A page on this machine is reachable by every other page in the same browser. So the name in
`Host` must be ours (another name means DNS rebinding), a request that changes or computes must
come from our own page (`Origin`) and carry the token that only our own pages know, and other
sites get nothing but links to follow.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

LARGEST_BODY = 20 * 2**20
LONGEST_ADDRESS = 8000
LONGEST_WAIT = 1.0  # seconds for the body of a request that is refused anyway
COOKIE = "dynascope"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class Guard:
    """An ASGI application around another that refuses what must not come in.

    Args:
        app: What answers the rest.
        token: Which every request that changes or computes carries.
        host: The address that the server listens at.
    """

    app: Callable[[dict[str, Any], Receive, Send], Awaitable[None]]
    token: str
    host: str

    @property
    def remote(self) -> bool:
        """Whether other machines can reach it: then every request needs the token."""
        return self.host not in LOOPBACK

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Refuse, or pass on with headers that keep browsers to the same rules."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        pairs = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]
        refused = self.refuses(scope, pairs)
        if refused:
            await _dropped(receive)
            await _refuse(send, *refused)
            return
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self.remote and scope["method"] == "GET" and self._is_token(given):
            await _enter(send, scope["path"], self.token)
            return

        async def sending(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                extra = [(k.encode(), v.encode()) for k, v in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        await self.app(scope, receive, sending)

    def refuses(
        self, scope: dict[str, Any], pairs: list[tuple[str, str]]
    ) -> tuple[int, str] | None:
        """Status and line for a request that must not come in, else None."""
        headers = dict(pairs)
        if [name for name, _ in pairs].count("host") != 1 or not self._is_ours(headers["host"]):
            return 403, "This address is not the page's own: use the one that the command printed."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "Only GET and POST are understood."
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            return 414, "The address is too long."
        if _too_long(headers.get("content-length", "0")):
            return 413, f"At most {LARGEST_BODY // 2**20} MB can be sent."
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers["host"]:
            return 403, "The request comes from another site."
        abroad = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if abroad and (scope["method"] == "POST" or headers.get("sec-fetch-mode") != "navigate"):
            return 403, "The request comes from another site."
        if scope["method"] == "POST" and not self._is_token(headers.get("x-token", "")):
            return 403, "The page has no valid token: reload it."
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        known = (headers.get("x-token", ""), given, _cookie(headers.get("cookie", "")))
        if self.remote and not any(map(self._is_token, known)):
            return 401, "Open the link that the command printed: it carries the token."
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in LOOPBACK:
            return True
        own = {self.host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
        return self.remote and (name in own or _is_address(name))


def _is_address(name: str) -> bool:
    """Whether it is a plain address: no name that somebody could point elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _too_long(length: str) -> bool:
    return not length.isdecimal() or len(length) > 12 or int(length) > LARGEST_BODY


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


async def _dropped(receive: Receive) -> None:
    """Read away the body of a refused request.

    A connection that is closed with bytes unread is reset, and the client may never see the answer.
    """
    size = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_WAIT):
            while size <= LARGEST_BODY:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


async def _refuse(send: Send, status: int, line: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": line.encode()})


async def _enter(send: Send, path: str, token: str) -> None:
    """Put the token into a cookie, so that it is in no further address."""
    cookie = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
    place = path if path.startswith("/") and not path.startswith("//") else "/"
    headers = [(b"location", place.encode("ascii", "ignore")), (b"set-cookie", cookie.encode())]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})

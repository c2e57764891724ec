"""What the server answers: pages, charts, events; a request is checked, asked about, sent back."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from dynascope.page.jobs import Jobs
from dynascope.page.pool import Refused
from dynascope.page.safety import LARGEST_BODY, Guard
from dynascope.page.shell import asset, live_page
from dynascope.page.waiting import before, remember
from dynascope.report.html.parts import escaped

HEARTBEAT = 20.0  # seconds between two signs of life of an event stream
FOR_EVER = "private, max-age=31536000, immutable"
NAME = re.compile(r"[\w.-]{1,100}")
Handler = Callable[[Request], Awaitable[Response]]


class Site:
    """Handlers of a server.

    Args:
        pool: Has `reader` and `explorer`, whose `ask` answers questions.
        token: That pages carry.
        jobs: Runs of studies.
    """

    def __init__(self, pool: Any, token: str, jobs: Jobs) -> None:
        self.pool, self.token, self.jobs = pool, token, jobs
        self.packed: dict[str, tuple[bytes, str]] = {}

    def routes(self) -> list[Route]:
        """Everything that can be asked for."""
        get: dict[str, Handler] = {
            "/": self.gallery, "/index": self.gallery, "/studies/{name}": self.study,
            "/documents/{name}": self.document, "/thumbnails/{name}": self.thumbnail,
            "/records": self.records, "/records/{name}": self.record,
            "/records/{name}/chart": self.chart, "/records/{name}/export": self.export,
            "/compare": self.compare, "/explorers": self.explorers,
            "/explore/{name}": self.explorer, "/assets/{name}": self.asset, "/events": self.events,
            "/form/{name}": self.form, "/growing/{name}": self.growing,
        }  # fmt: skip
        post: dict[str, Handler] = {
            "/explore/{name}": self.explore, "/run/{name}": self.run, "/cancel/{name}": self.cancel,
            "/forget/{name}": self.forget,
        }  # fmt: skip
        return [Route(path, f, methods=["GET"]) for path, f in get.items()] + [
            Route(path, f, methods=["POST"]) for path, f in post.items()
        ]

    def _early(self, request: Request) -> bool:
        """Whether somebody would look at nothing until the studies are loaded."""
        reads = "text/html" in request.headers.get("accept", "")
        return reads and not self.pool.reader.ready.is_set() and "x-wait" not in request.headers

    async def _page(self, request: Request, question: str, **options: Any) -> Response:
        if self._early(request):
            return self._whole(before(question))
        found = await self.pool.reader.ask(question, **options)
        if question == "gallery":
            await asyncio.to_thread(remember, found["html"])
        return self._whole(found)

    def _whole(self, found: dict[str, Any]) -> Response:
        text = live_page(found, self.token).encode()
        return Response(gzip.compress(text, 1), media_type="text/html", headers={
            "content-encoding": "gzip", "cache-control": "no-store"})  # fmt: skip

    async def gallery(self, request: Request) -> Response:
        """All studies."""
        return await self._page(request, "gallery")

    async def study(self, request: Request) -> Response:
        """A study."""
        return await self._page(
            request, "study", name=_name(request), record=_text(request, "record")
        )

    async def document(self, request: Request) -> Response:
        """A document."""
        return await self._page(request, "document", handle=_name(request))

    async def explorers(self, request: Request) -> Response:
        """All explorers."""
        return await self._page(request, "explorers")

    async def explorer(self, request: Request) -> Response:
        """An explorer."""
        return await self._page(request, "explorer", name=_name(request))

    async def records(self, request: Request) -> Response:
        """The list of records."""
        return await self._page(
            request, "records", search=_text(request, "search"), kind=_text(request, "kind"),
            study=_text(request, "study"), sort=_text(request, "sort") or "age",
            first=_number(request, "first", 0, 10**9),
        )  # fmt: skip

    async def record(self, request: Request) -> Response:
        """A record; that of a study is shown on the study's page."""
        if self._early(request):
            return self._whole(before("record"))
        found = await self.pool.reader.ask("record", name=_name(request))
        if "study" in found:
            return RedirectResponse(f"/studies/{found['study']}?record={found['record']}", 303)
        return self._whole(found)

    async def compare(self, request: Request) -> Response:
        """Two records."""
        names = [_checked(n) for n in request.query_params.getlist("id")]
        return await self._page(request, "compare", names=names)

    async def thumbnail(self, request: Request) -> Response:
        """The small picture of a study."""
        found = await self.pool.reader.ask("thumbnail", name=_name(request).removesuffix(".png"))
        if found is None:
            raise Refused(404, "There is no picture of this study yet.")
        return Response(found, media_type="image/png", headers={"cache-control": FOR_EVER})

    async def chart(self, request: Request) -> Response:
        """A variable of a record; its address changes with the record, so it stays for ever."""
        found = await self.pool.reader.ask(
            "chart", name=_name(request), variable=_text(request, "variable"),
            step=_number(request, "step", 0, 10**9), width=_number(request, "width", 600, 10**5),
            narrow=_narrow(request),
        )  # fmt: skip
        return _json(
            found, {"cache-control": FOR_EVER if _text(request, "version") else "no-store"}
        )

    async def growing(self, request: Request) -> Response:
        """Charts of a run that is not finished."""
        width = _number(request, "width", 600, 10**5)
        options = {"name": _name(request), "since": _text(request, "since"), "width": width,
                   "narrow": _narrow(request)}  # fmt: skip
        return _json(await self.pool.reader.ask("growing", **options))

    async def export(self, request: Request) -> Response:
        """A record as an archive of tables; the file is made by us and removed afterwards."""
        name, form = _name(request), _text(request, "form") or "csv"
        path = await self.pool.reader.ask("export", name=name, form=form)
        gone = BackgroundTask(os.unlink, path)
        return FileResponse(path, filename=f"dynascope-{name}.zip", background=gone)

    async def form(self, request: Request) -> Response:
        """The settings of a study at another scale."""
        options = {"name": _name(request), "scale": _text(request, "scale")}
        return Response(await self.pool.reader.ask("form", **options), media_type="text/html")

    async def asset(self, request: Request) -> Response:
        """A file that pages share, packed once, known by its content."""
        name = _name(request)
        found = asset(name)
        if found is None:
            raise Refused(404, "There is no such file.")
        if name not in self.packed:
            self.packed[name] = (
                gzip.compress(found[0], 6),
                hashlib.sha256(found[0]).hexdigest()[:16],
            )
        packed, tag = self.packed[name]
        headers = {"etag": f'"{tag}"', "cache-control": "no-cache", "content-encoding": "gzip"}
        if request.headers.get("if-none-match") == f'"{tag}"':
            return Response(status_code=304, headers=headers)
        return Response(packed, media_type=found[1], headers=headers)

    async def explore(self, request: Request) -> Response:
        """What an explorer shows at some values."""
        asked = await _body(request)
        found = await self.pool.explorer.ask(
            "explore", client=str(asked.get("client", ""))[:64], name=_name(request),
            values=asked.get("values", {}), narrow=bool(asked.get("narrow")),
        )  # fmt: skip
        return Response(gzip.compress(found, 1), media_type="application/json",
                        headers={"content-encoding": "gzip"})  # fmt: skip

    async def run(self, request: Request) -> Response:
        """Start a run, after a look at its settings."""
        asked, name = await _body(request), _name(request)
        scale, texts = asked.get("scale", "smoke"), asked.get("changes", {})
        plain = isinstance(texts, dict) and all(isinstance(v, str) for v in texts.values())
        if not (isinstance(scale, str) and plain and len(texts) <= 500):
            raise Refused(400, "A run needs a scale and changed settings as texts by path.")
        changes = await self.pool.reader.ask("check", name=name, scale=scale, texts=texts)
        return _json(self.jobs.start(name, scale, changes).plain())

    async def cancel(self, request: Request) -> Response:
        """Interrupt a run."""
        name = _name(request)
        if not name.isdecimal() or len(name) > 9:
            raise Refused(400, "A job has a number.")
        return _json(self.jobs.cancel(int(name)).plain())

    async def forget(self, request: Request) -> Response:
        """Remove a record."""
        await _body(request)
        return _json({"forgotten": await self.pool.reader.ask("forget", name=_name(request))})

    async def events(self, request: Request) -> Response:
        """What happens to runs, as it happens."""
        return StreamingResponse(self._events(), media_type="text/event-stream",
                                 headers={"cache-control": "no-store"})  # fmt: skip

    async def _events(self) -> AsyncIterator[str]:
        yield "retry: 1500\n: hello\n\n"
        changes = self.jobs.events()
        following = asyncio.ensure_future(anext(changes, None))
        try:
            while True:
                done, _ = await asyncio.wait({following}, timeout=HEARTBEAT)
                if not done:
                    yield ": still here\n\n"
                    continue
                if (change := following.result()) is None:
                    break
                yield f"data: {json.dumps(change)}\n\n"
                following = asyncio.ensure_future(anext(changes, None))
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await following
            await changes.aclose()  # type: ignore[attr-defined]


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise Refused(404, "There is nothing of that name.")
    return name


def _name(request: Request) -> str:
    return _checked(request.path_params["name"])


def _text(request: Request, name: str) -> str:
    return request.query_params.get(name, "")[:500]


def _number(request: Request, name: str, usual: int, most: int) -> int:
    text = request.query_params.get(name, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdecimal()) or len(text) > 12 or int(text) > most:
        raise Refused(400, f"{name} is a whole number from 0 to {most:,}.")
    return int(text)


def _narrow(request: Request) -> bool:
    return request.query_params.get("narrow") == "1"


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object that was sent, read no further than what is allowed."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > LARGEST_BODY:
                raise Refused(413, f"At most {LARGEST_BODY // 2**20} MB can be sent.")
            parts.append(part)
    except ClientDisconnect:
        raise Refused(400, "The request was not finished.") from None
    try:
        found = json.loads(b"".join(parts) or b"{}", parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(400, "What was sent is not JSON.") from None
    if not isinstance(found, dict):
        raise Refused(400, "A JSON object is expected.")
    return found


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _json(found: Any, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(found, allow_nan=False, separators=(",", ":")).encode()
    packed = {"content-encoding": "gzip", **(headers or {})}
    return Response(gzip.compress(text, 1), media_type="application/json", headers=packed)


async def _refused(request: Request, error: Exception) -> Response:
    """A page for whoever reads, a line for a script."""
    if isinstance(error, Refused):
        status, line = error.status, error.line
    else:
        assert isinstance(error, HTTPException)
        status, line = error.status_code, error.detail
    if "text/html" not in request.headers.get("accept", "") or request.method == "POST":
        return JSONResponse({"error": line}, status)
    title = "Not found" if status == 404 else "Not shown"
    html = f'<h1>{title} ({status})</h1>\n<p class="notice">{escaped(line)}</p>'
    page = live_page({"title": title, "html": html, "charts": "", "scripts": []}, "")
    return Response(page, status, media_type="text/html")


async def _broken(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "An error of ours; the terminal has the details."}, 500)


def application(pool: Any, token: str, host: str, jobs: Jobs | None = None) -> Guard:
    """The whole server as an ASGI application.

    Args:
        pool: The warm processes, or what answers in their place.
        token: That every changing request carries.
        host: The address that it listens at.
        jobs: Runs of studies, for whoever ends their events; its own otherwise.

    Returns:
        The application, with its guard around it.
    """
    site = Site(pool, token, jobs or Jobs())

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        site.jobs.stop()
        pool.stop()

    handlers: dict[Any, Any] = {Refused: _refused, HTTPException: _refused, Exception: _broken}
    app = Starlette(routes=site.routes(), exception_handlers=handlers, lifespan=lifespan)
    return Guard(app, token, host)  # type: ignore[arg-type]

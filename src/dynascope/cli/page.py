"""`dynascope page`: studies, records and explorers in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit
from dynascope.core.errors import BadInput, bad


def page(
    port: Annotated[
        int, typer.Option(metavar="N", help="The port; if it is taken, the next free one.")
    ] = 8765,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    host: Annotated[
        str,
        typer.Option(
            metavar="H",
            help="The address to listen at; beyond this machine the link carries a token.",
        ),
    ] = "127.0.0.1",
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the gallery and the explorers as plain files instead of serving them.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Serve studies, records and explorers as a page in the browser.

    \b
    Examples
      dynascope page
      dynascope page --export gallery
    """  # noqa: D301
    if not 0 <= port <= 65535:
        raise bad("--port", port, "a number from 0 to 65535")
    if export is not None:
        from dynascope.page.export import write_gallery

        written = str(write_gallery(export))
        emit({"gallery": written}) if as_json else print(written)
        return
    try:
        from dynascope.page.serving import serve
    except ImportError as error:
        raise BadInput(f"the page needs {error.name}: pip install 'dynascope[page]'") from None

    def tell(link: str) -> None:
        emit({"page": link}) if as_json else print(f"{link}\nCtrl-C ends it.")
        sys.stdout.flush()  # whoever started it waits for the link

    serve(host, port, not no_open, tell)

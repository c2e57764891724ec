"""Markdown to HTML: links between pages, anchors of headings, coloured code."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from dynascope.core.errors import bad
from dynascope.docs_site.plan import PLACES
from dynascope.report.html.links import Links
from dynascope.report.html.parts import escaped

CODE = HtmlFormatter(nowrap=True)


def code_styles() -> str:
    """The style sheet of coloured code, by day and by night."""
    day = HtmlFormatter(style="friendly").get_style_defs("pre.code")
    night = HtmlFormatter(style="github-dark").get_style_defs("pre.code")
    own = "pre.code { line-height: 1.45; background: var(--shade); }"
    return f"{day}\n@media (prefers-color-scheme: dark) {{\n{night}\n}}\n{own}\n"


@dataclass
class Text:
    r"""A text in Markdown and where it stands.

    Example:
        >>> Text("docs/a.md", "# A & b\n\n[c](json.md#x)", Links("")).html()
        '<h1 id="a--b">A &amp; b</h1>\n<p><a href="json.html#x">c</a></p>\n'
    """

    source: str  # the file, from the repository's root
    text: str
    links: Links
    studies: Collection[str] = ()  # names in code that become links
    pictures: set[str] = field(default_factory=set)  # files that the page shows, once it is made

    def html(self) -> str:
        """The HTML of the text."""
        parser = MarkdownIt("commonmark", {"html": False, "highlight": _coloured}).enable("table")
        tokens = parser.parse(self.text)
        for token, following in zip(tokens, [*tokens[1:], None]):
            if token.type == "heading_open" and following:
                token.attrSet("id", anchor(following.content))
            for child in token.children or ():
                self._address(child)
            token.children = self._named(token.children) if token.children else token.children
        _name_cells(tokens)
        return str(parser.renderer.render(tokens, parser.options, {}))

    def _address(self, token: Token) -> None:
        if token.type == "link_open":
            token.attrSet("href", self.address(str(token.attrGet("href"))))
        if token.type == "image":
            file = self._file(str(token.attrGet("src")))
            self.pictures.add(file)
            token.attrSet("src", f"{self.links.root}pictures/{posixpath.basename(file)}")

    def _file(self, href: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.source), href))

    def address(self, href: str) -> str:
        """Where a link leads in the site; a file that is no page of it is an error."""
        if re.match(r"[a-z]+:|#", href):
            return href
        file, _, place = href.partition("#")
        if self._file(file) not in PLACES:
            raise bad(f"link in {self.source}", href, "a page of the site, see docs_site/plan.py")
        return self.links.page(PLACES[self._file(file)]) + (f"#{place}" if place else "")

    def _named(self, tokens: list[Token]) -> list[Token]:
        """Names of studies in code become links, unless they stand in one."""
        found, inside = [], 0
        for token in tokens:
            inside += token.nesting if token.type.startswith("link_") else 0
            if token.type == "code_inline" and not inside and token.content in self.studies:
                link = Token("link_open", "a", 1, attrs={"href": self.links.study(token.content)})
                found += [link, token, Token("link_close", "a", -1)]
            else:
                found.append(token)
        return found


def _name_cells(tokens: list[Token]) -> None:
    """Give every cell of a table the head of its column, which narrow screens show before it."""
    heads: list[str] = []
    column = 0
    for token, following in zip(tokens, [*tokens[1:], None]):
        if token.type == "thead_open":
            heads = []
        elif token.type == "th_open" and following:
            heads.append("".join(c.content for c in following.children or ()))
        elif token.type == "tr_open":
            column = 0
        elif token.type == "td_open":
            token.attrSet("data-head", heads[column] if column else "")
            column += 1


def anchor(heading: str) -> str:
    """The name by which a heading is linked to, as GitHub makes it.

    Example:
        >>> anchor("The form of `--json`")
        'the-form-of---json'
    """
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _coloured(code: str, language: str, _: str) -> str:
    if language == "console" and not code.startswith("$ "):
        language = "bash"  # commands by themselves; the lexer would take them for output
    try:
        body = highlight(code, get_lexer_by_name(language or "text"), CODE)
    except ClassNotFound:
        body = escaped(code)
    return f'<pre class="code" tabindex="0"><code>{body}</code></pre>'

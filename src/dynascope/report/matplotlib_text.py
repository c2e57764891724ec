"""How wide words are in a matplotlib figure, and where to break them."""

from __future__ import annotations

from typing import Any

from matplotlib.text import Text


def wrapped(picture: Any, text: str, width: float, size: float, weight: str = "normal") -> str:
    """The text with line breaks, so that no line is wider than `width` points."""
    lines = [""]
    for word in _pieces(picture, text, width, size):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(picture, longer, size, weight) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def text_width(picture: Any, text: str, size: float, weight: str = "normal") -> float:
    """How wide a line of text is, in points."""
    probe = Text(0, 0, text, fontsize=size, fontweight=weight, parse_math=False)
    probe.set_figure(picture)
    extent = probe.get_window_extent(picture.canvas.get_renderer())
    return extent.width * 72 / picture.dpi


def _pieces(picture: Any, text: str, width: float, size: float) -> list[str]:
    """The words of a text; one that is too wide by itself is cut into equal parts."""
    pieces = []
    for word in text.split():
        parts = int(text_width(picture, word, size) / width) + 1
        step = -(-len(word) // parts)
        pieces += [word[i : i + step] for i in range(0, len(word), step)]
    return pieces

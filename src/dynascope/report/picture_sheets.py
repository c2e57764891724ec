"""Sample sheets as one picture with gaps between the small ones, and as a PNG file."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from dynascope.core.charts import PictureGrid

GAP = 0.06  # of a picture's side, on each of its sides


def raster(mark: PictureGrid) -> np.ndarray:
    """All pictures of a grid in one, (height, width, 4); gaps are clear.

    A cell of the grid, gaps included, is one unit of the axes.

    Example:
        >>> from dynascope.core.charts import picture_grid
        >>> grid = picture_grid(np.ones((1, 2, 8, 8, 3)), ("a",), ("b", "c"))
        >>> raster(grid).shape
        (10, 20, 4)
    """
    pictures = mark.array()
    solid = np.full((*pictures.shape[:-1], 1), 255, np.uint8)
    gaps = [max(1, round(GAP * side)) for side in pictures.shape[2:4]]
    around = ((0, 0), (0, 0), (gaps[0], gaps[0]), (gaps[1], gaps[1]), (0, 0))
    cells = np.pad(np.concatenate([pictures, solid], -1), around)
    rows, columns, height, width, _ = cells.shape
    return cells.transpose(0, 2, 1, 3, 4).reshape(rows * height, columns * width, 4)


def png(pixels: np.ndarray) -> bytes:
    r"""A picture (height, width, 4) as a PNG file.

    Example:
        >>> png(np.zeros((2, 3, 4), np.uint8))[:4]
        b'\x89PNG'
    """
    height, width, _ = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)  # 8 bits, colours and clearness
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    body = zlib.compress(rows.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")

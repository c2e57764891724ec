"""Weights of a trained model by name: safetensors, `.npz`, llama2.c's `.bin`, and GGUF.

Arrays are read when they are asked for, and half precision is widened to float32. Pickles are
refused: reading one runs whatever is in it.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.data.gguf_file import read_gguf
from dynascope.data.llama2c import read_llama2c

ENDINGS = (".safetensors", ".npz", ".bin", ".gguf")
PICKLES = (".pt", ".pth", ".ckpt", ".pkl")
ADVICE = "save it as safetensors: safetensors.torch.save_file(model.state_dict(), FILE)"


class Checkpoint(Mapping[str, np.ndarray]):
    """Names to arrays, read on demand, with the model's `config` where there is one."""

    def __init__(self, source: str, parts: Mapping[str, Mapping], config: dict[str, Any]) -> None:
        self.source, self.config = source, config
        self._parts = parts  # which file holds a name

    def __getitem__(self, name: str) -> np.ndarray:
        """An array by name."""
        array = self._parts[name][name]
        small = array.dtype.itemsize < 4 and array.dtype.kind not in "iub"
        return np.asarray(array, np.float32) if small else np.asarray(array)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array, without reading it where the file allows."""
        part = self._parts[name]
        return part.shape(name) if hasattr(part, "shape") else part[name].shape

    def numbers(self) -> int:
        """How many numbers there are in all."""
        return sum(math.prod(self.shape(name)) for name in self)

    @property
    def packed(self) -> str:
        """How weights of fewer than 16 bits are packed, such as "Q4_1"; empty for others."""
        kinds = {part.packed() for part in self._parts.values() if hasattr(part, "packed")}
        return next((k for k in kinds if not k.startswith(("F", "BF"))), "")

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def read_checkpoint(path: str | Path) -> Checkpoint:
    """The weights of a file, or of a folder that holds one model.

    Args:
        path: A `.safetensors`, `.npz`, llama2.c `.bin` or `.gguf` file; or a folder with
            safetensors (several shards are one model), whose `config.json` is read too.

    Returns:
        The checkpoint.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "weights.npz"
        >>> np.savez(file, a=np.arange(3))
        >>> read_checkpoint(file)["a"].tolist()
        [0, 1, 2]
    """
    path = Path(path)
    if not path.exists():
        raise bad("checkpoint", str(path), "a file or folder that is there")
    files = _weight_files(path) if path.is_dir() else [path]
    config = _config((path if path.is_dir() else path.parent) / "config.json")
    parts: dict[str, Mapping] = {}
    for file in files:
        content, own = _read(file)
        config |= own
        parts |= dict.fromkeys(content, content)
    return Checkpoint(str(path), parts, config)


def _weight_files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        names = sorted(set(_config(index).get("weight_map", {}).values()))
        for name in names:
            if not (folder / name).is_file():
                raise bad(str(folder), f"no {name}", f"every file that {index.name} names")
        return [folder / name for name in names]
    for ending in ENDINGS:
        found = sorted(folder.glob(f"*{ending}"))
        if found and ending == ".bin":
            found = [f for f in found if not f.name.startswith(("tok", "pytorch_model"))]
        if found:
            return found
    pickled = [f for f in folder.iterdir() if f.suffix in PICKLES or "pytorch_model" in f.name]
    if pickled:
        raise bad(str(folder), pickled[0].name, "weights that are no pickle", ADVICE)
    raise bad(str(folder), "no weights", f"a folder with {', '.join(ENDINGS)} files")


def _read(file: Path) -> tuple[Mapping, dict[str, Any]]:
    if file.suffix == ".safetensors":
        return _Safetensors(file), {}
    if file.suffix == ".npz":
        try:
            return np.load(file, allow_pickle=False), {}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise bad(str(file), str(error), "arrays in .npz form") from None
    if file.suffix == ".gguf":
        return read_gguf(file)
    if file.suffix == ".bin" and not _is_pickle(file):
        return read_llama2c(file)
    wanted = f"one of {', '.join(ENDINGS)}"
    pickled = file.suffix in (*PICKLES, ".bin")
    raise bad(str(file), file.suffix, wanted, ADVICE if pickled else "")


def _is_pickle(file: Path) -> bool:
    """Whether a `.bin` is torch's: a zip file or a bare pickle, whatever it is called."""
    with open(file, "rb") as content:
        return "pytorch_model" in file.name or content.read(2) in (b"PK", b"\x80\x02")


class _Safetensors(Mapping):
    """The tensors of one file, each read when asked for."""

    def __init__(self, file: Path) -> None:
        try:
            from safetensors import SafetensorError, safe_open
        except ImportError:
            raise BadInput(
                f'{file}: reading safetensors needs pip install "dynascope[llm]"'
            ) from None
        try:
            self._open = safe_open(file, framework="numpy")
        except (SafetensorError, OSError) as error:
            raise bad(str(file), str(error), "a safetensors file") from None

    def __getitem__(self, name: str) -> np.ndarray:
        return self._open.get_tensor(name)

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._open.get_slice(name).get_shape())

    def __iter__(self) -> Iterator[str]:
        return iter(self._open.keys())

    def __len__(self) -> int:
        return len(self._open.keys())


def _config(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except ValueError as error:
        raise bad(str(file), str(error), "a JSON object") from None

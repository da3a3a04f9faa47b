"""Where a checkpoint lies, and how far it is: told without torch, by the head of the file alone."""

import json
from pathlib import Path
from typing import Any, Final

from engine.files import open_regular

CHECKPOINT_NAME: Final = "checkpoint.safetensors"

_LENGTH_BYTES: Final = 8  # at the start of a safetensors file: how long its head is
_LONGEST_HEAD: Final = 10_000_000  # Bytes; a head of ours has some thousands


def kept_iteration(path: Path) -> int:
    """Finished iterations of a checkpoint.

    Raises:
        OSError: there is none, or it cannot be read.
        ValueError: it is none of ours.
    """
    with open_regular(path) as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        if length > _LONGEST_HEAD:
            raise ValueError(f"a head of {length} bytes")
        head: dict[str, Any] = json.loads(file.read(length))
    try:
        return int(head["__metadata__"]["iteration"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"no iteration: {error}") from error

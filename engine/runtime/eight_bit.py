"""The eight-bit companion of a backbone: the same network with small integers, faster on every CPU.

`leafnet.onnx` may have `leafnet.int8.onnx` next to it (`engine.runtime.quantization` makes it). If
there is one, it computes every embedding, on every device: which network embeds depends on the
files alone, never on a computer or its load, and `embedding_identity` names it. Its products cannot
overflow, so its integers are the same on every CPU (decision 95).
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Doubles, Pixels
from engine.config import assets_folder
from engine.errors import ModelError
from engine.files import read_regular
from engine.model_card import BackboneCard, file_hash

SOURCE_KEY = "made_in_seven_bits_from_sha256"
"""Name of the note in the companion that holds the hash of the file it was made from.

Companions of versions before decision 95 have another note, and are passed over: their products
overflow on many CPUs.
"""

AGREEMENT = 0.98
"""Smallest cosine of the companion's embeddings and the backbone's: below, one is damaged."""

IDENTITY_DIGITS = 16
"""Digits of the backbone's hash, and of its companion's, in an identity."""
_CHECK_PHOTOS = 2
"""That both are compared on when opened. Chosen: enough to see a wrong file."""


def eight_bit_path(model: Path) -> Path:
    """Path of the companion that belongs to a backbone file: `x.onnx` has `x.int8.onnx`."""
    return model.with_suffix(".int8.onnx")


def companion_of(model: Path) -> Path | None:
    """The companion that was made from a backbone file and replaces it; or None."""
    path = eight_bit_path(model)
    try:
        found, source = path.stat(), model.stat()
        is_made_from_it = _is_made_from(
            path, found.st_mtime_ns, found.st_size, model, source.st_mtime_ns
        )
    except OSError:
        return None
    return path if is_made_from_it else None


def embedding_identity(model: Path, backbone_hash: str) -> str:
    """Identity, hex, of a backbone's embeddings, for comparison and as a cache key.

    It is the backbone's hash, or the first digits of its hash and of its companion's where there is
    one.
    """
    companion = companion_of(model)
    if companion is None:
        return backbone_hash
    companion_hash = _hash_at(companion, companion.stat().st_mtime_ns)
    return f"{backbone_hash[:IDENTITY_DIGITS]}{companion_hash[:IDENTITY_DIGITS]}"


@lru_cache(maxsize=32)
def _is_made_from(
    companion: Path, _modified_ns: int, _size_bytes: int, model: Path, _model_modified_ns: int
) -> bool:
    """Whether the companion's note names the file, as ONNX writes it; raises `OSError`."""
    key, value = SOURCE_KEY.encode(), _hash_at(model, _model_modified_ns).encode()
    note = b"\x0a" + bytes([len(key)]) + key + b"\x12" + bytes([len(value)]) + value
    return note in read_regular(companion)


@lru_cache(maxsize=32)
def _hash_at(path: Path, _modified_ns: int) -> str:
    return file_hash(path)


def check_companion(companion: Path, model: Path, card: BackboneCard) -> None:
    """Compare the companion with its backbone on photos, on the CPU.

    Raises:
        ModelError: one of them cannot be opened or does not fit its card, or they do not agree.
    """
    from engine.runtime.backbone_input import Preparation, input_output
    from engine.runtime.sessions import open_session, plain_run

    sessions = [open_session(path) for path in (companion, model)]
    ends = [input_output(session, card) for session in sessions]
    photos = Preparation(card).prepare(check_photos(card, ends[1].most_images or _CHECK_PHOTOS))
    inputs = photos.astype(ends[1].input_type, copy=False)
    runs = (
        plain_run(session, end.input_name, end.output_name)
        for session, end in zip(sessions, ends, strict=True)
    )
    found, expected = (run(inputs) for run in runs)
    fits = ends[0] == ends[1] and found.shape == expected.shape
    cosine = agreement(found, expected) if fits else 0.0
    if cosine < AGREEMENT:
        raise ModelError(
            "the eight-bit version of the backbone does not agree with it",
            expected="a cosine of {least}",
            found="{agreement} for {companion}",
            remedy=(
                "install Protoleaf again, or choose another backbone; delete the file if you made "
                "it"
            ),
            least=AGREEMENT,
            agreement=f"{cosine:.3f}",
            companion=companion,
        )


def check_photos(card: BackboneCard, count: int = _CHECK_PHOTOS) -> Pixels:
    """Photos of the sample collection as a backbone takes them, (count, side, side, 3) uint8 RGB.

    Raises:
        ModelError: the sample's photos are missing.
    """
    from engine.images.decode import decode_square

    folder = assets_folder() / "sample" / "photos"
    paths = sorted(folder.glob("*.jpg"))[:count]
    if len(paths) < count:
        raise ModelError("photos of the sample collection are missing", found=str(folder))
    return np.stack(
        [decode_square(read_regular(path), card.input_side, card.resize_share) for path in paths]
    )


def cosines(found: NDArray[Any], expected: NDArray[Any]) -> Doubles:
    """Row-wise cosine (B,) float64 of two outputs (B, ...); 0 where values are NaN."""
    first, second = (
        array.reshape(len(array), -1).astype(np.float64) for array in (found, expected)
    )
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosines = np.sum(first * second, axis=1) / np.maximum(lengths, np.finfo(np.float64).tiny)
    return np.nan_to_num(cosines, nan=0.0)


def agreement(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """Smallest cosine between the rows of two outputs (B, ...); 0 where one is not a number."""
    return float(cosines(found, expected).min())


def trial_images(side: int, count: int) -> Pixels:
    """Pictures with structure at every scale, (count, side, side, 3) uint8, the same each time."""
    steps = np.random.default_rng(0).standard_normal((count, side, side, 3), dtype=np.float32)
    walk = steps.cumsum(axis=1) + steps.cumsum(axis=2)
    low, high = walk.min(axis=(1, 2, 3), keepdims=True), walk.max(axis=(1, 2, 3), keepdims=True)
    return ((walk - low) * (255 / (high - low))).astype(np.uint8)

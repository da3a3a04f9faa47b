"""Copies of photos among similar photos: found by hashes, by embeddings, and by both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import embed_project
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.folding.duplicates import LEAST_COSINE, MOST_BITS
from engine.collection.models import ModelFiles
from engine.collection.new_project import new_project
from engine.config import PROJECT_SUFFIX, CacheFolders
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.everyday.blocks import to_floats
from engine.files import FoundFile
from engine.images.fingerprint import fingerprint_of
from engine.new_folder import scratch_folder
from research.duplicates.variants import VARIANTS, write_variants

EVERY = 10  # one photo in so many is copied
COSINES = (0.98, 0.95, 0.90)
BITS = (4, 8, 12)

Flags = NDArray[np.bool_]
Rule = Callable[[NDArray[np.float32], NDArray[np.uint8]], Flags]


@dataclass(frozen=True)
class DetectorOutcome:
    """Result of one rule.

    Attributes:
        name: of the rule.
        precision: share of the pairs found that are a photo and its copy, or two copies of it.
        recall: share of the copies that were found with their photo.
        recalls: the same by kind of copy.
        other_photos: pairs found of two original photos; most are of one burst.
        other_classes: of these, pairs of two classes.
    """

    name: str
    precision: float
    recall: float
    recalls: Mapping[str, float]
    other_photos: int
    other_classes: int


@dataclass(frozen=True)
class _Pairs:
    """All pairs of n images."""

    cosines: NDArray[np.float32]  # (n, n)
    bits: NDArray[np.uint8]  # (n, n) in which the perceptual hashes differ
    photo_of: NDArray[np.int64]  # (n,) photo that each image is, or is a copy of
    variant_of: list[str]  # (n,) kind of copy; "" for an original
    class_of: NDArray[np.int64]  # (n,)


def rules() -> dict[str, Rule]:
    """Each rule by name; the last one is the program's."""
    found: dict[str, Rule] = {
        f"embeddings, cosine from {least}": _rule(64, least) for least in COSINES
    }
    found |= {f"perceptual hash, {most} bits": _rule(most, -1) for most in BITS}
    found[f"the program's own: {MOST_BITS} bits, cosine from {LEAST_COSINE}"] = _rule(
        MOST_BITS, LEAST_COSINE
    )
    return found


def _rule(most_bits: int, least_cosine: float) -> Rule:
    return lambda cosines, bits: (bits <= most_bits) & (cosines >= least_cosine)


def measure_duplicates(
    photos: list[Path],
    model: ModelFiles,
    caches: CacheFolders,
    *,
    device: str = "auto",
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[DetectorOutcome, ...]:
    """Copy every `EVERY`-th photo in all ways, embed and hash all, and count each rule's pairs.

    Raises:
        InputError: there are fewer than two photos.
        Cancelled: `cancel` was set.
    """
    if len(photos) < 2:  # noqa: PLR2004 (a pair)
        raise InputError("there are too few photos", expected="two or more", found=str(len(photos)))
    with scratch_folder() as folder:
        pairs = _pairs(
            photos, folder, model, caches, device=device, on_progress=on_progress, cancel=cancel
        )
    return tuple(
        _outcome(name, rule(pairs.cosines, pairs.bits), pairs) for name, rule in rules().items()
    )


def _pairs(
    photos: list[Path],
    folder: Path,
    model: ModelFiles,
    caches: CacheFolders,
    *,
    device: str,
    on_progress: OnProgress,
    cancel: CancelToken | None,
) -> _Pairs:
    copied = list(range(0, len(photos), EVERY))
    written = write_variants([photos[place] for place in copied], folder)
    files, photo_of, variant_of = list(photos), list(range(len(photos))), [""] * len(photos)
    for name, paths in written.items():
        files, photo_of, variant_of = (
            files + paths,
            photo_of + copied,
            variant_of + [name] * len(paths),
        )
    vectors = _embedded(
        files, folder, model, caches, device=device, on_progress=on_progress, cancel=cancel
    )
    prints = np.array([fingerprint_of(path).bits for path in files], dtype=np.uint64)
    bits = np.bitwise_count(prints[:, None] ^ prints[None])
    _, class_of = np.unique([str(photos[place].parent) for place in photo_of], return_inverse=True)
    return _Pairs(vectors @ vectors.T, bits, np.array(photo_of), variant_of, class_of)


def _embedded(
    files: list[Path],
    folder: Path,
    model: ModelFiles,
    caches: CacheFolders,
    *,
    device: str,
    on_progress: OnProgress,
    cancel: CancelToken | None,
) -> NDArray[np.float32]:
    with new_project(folder / f"copies{PROJECT_SUFFIX}") as project:
        found = [FoundFile.at(path) for path in files]
        project.images.add([each for each in found if each is not None])
        embed_project(
            project, caches, model=model, device=device, on_progress=on_progress, cancel=cancel
        )
        embedded = EmbeddedImages(project, model, caches, with_views=False)
        embedded.read()
        embedded.close()
        ids = [project.images.find(path) or 0 for path in files]
        places = np.searchsorted(embedded.images.ids, ids)
    return to_floats(embedded.store.embeddings)[places]


def _outcome(name: str, is_found: Flags, pairs: _Pairs) -> DetectorOutcome:
    first, second = np.triu_indices(len(pairs.photo_of), 1)
    hits = is_found[first, second]
    is_same = pairs.photo_of[first] == pairs.photo_of[second]
    is_photo = np.array([not variant for variant in pairs.variant_of])
    others = hits & is_photo[first] & is_photo[second]
    recalls = {}
    for variant in VARIANTS:
        places = np.flatnonzero([each == variant for each in pairs.variant_of])
        recalls[variant] = float(is_found[places, pairs.photo_of[places]].mean())
    return DetectorOutcome(
        name,
        float((hits & is_same).sum() / max(1, hits.sum())),
        float(np.mean(list(recalls.values()))),
        recalls,
        int(others.sum()),
        int((others & (pairs.class_of[first] != pairs.class_of[second])).sum()),
    )

"""A large collection with cached files must show the same as without (decision 90)."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.collection.live import LiveCollection
from engine.config import CacheFolders
from tests.trust.acknowledge import Line
from tests.trust.children import Place
from tests.trust.large_projects import fit_as_window, shown_of, take_for_large
from tests.trust.outcome import Fault

SUFFIXES = (".list", ".digest", ".rows", ".basis", ".predictions")
_COLUMNS = (
    "image_ids",
    "label_class",
    "status",
    "best_class",
    "safe_class",
    "is_unknown",
    "best_score",
    "safe_score",
)
_TOLERANCE = 1e-4

Columns = Mapping[str, NDArray[Any]]
"""Values of all images by name, also paths."""


def cache_files(folder: Path) -> list[Path]:
    """The cached files."""
    return sorted(path for path in folder.glob("*") if path.suffix in SUFFIXES)


def cache_faults(
    place: Place,
    lines: Sequence[Line],
    *,
    also: Sequence[Line] = (),
    others: Sequence[Columns] = (),
    trusts_basis: bool = True,
) -> list[Fault]:
    """Open a project with its cached files and without, and compare.

    Args:
        place: of the project.
        lines: among them the predictions at closing.
        also: predictions from before an older copy was restored.
        others: permitted alternatives with valid files.
        trusts_basis: whether cached whitening and neighbours are valid. They may have anchors of
            removed labels, which a new opening lacks; with a few hundred images many predictions
            differ.
    """
    take_for_large()
    folder = CacheFolders.default().collections
    left = Path(shutil.copytree(folder, place.folder / "left"))
    known = {
        text for line in (*lines, *also) if line.kind == "shown" for text in json.loads(line.did)
    }
    first = open_once(place.project, known, closes=True)
    again = open_once(place.project, known | set(first.shown))
    with _instead(folder):
        fresh = open_once(place.project)
    with _instead(folder, *left.glob("*.basis" if trusts_basis else "none")):
        allowed = [fresh.columns, open_once(place.project).columns, *others]
    shutil.rmtree(left)
    faults = [*first.faults, *again.faults]
    for found, when in ((first, "with cache files"), (again, "when opened again")):
        differing = [difference(found.columns, each) for each in allowed]
        if all(differing):
            faults.append(Fault("wrong", f"{when} other than without any: {'; '.join(differing)}"))
    return faults


@dataclass(frozen=True)
class Opened:
    """Results of one opening.

    Attributes:
        columns: after the fit.
        shown: the same as text.
        faults: of the state before the fit.
    """

    columns: Columns
    shown: Sequence[str]
    faults: Sequence[Fault]


def open_once(path: Path, known: set[str] | None = None, *, closes: bool = False) -> Opened:
    """Open, show the list, read embeddings, and fit.

    Args:
        path: of the project.
        known: permitted predictions before the fit; None for any.
        closes: whether it is closed so that files are cached.
    """
    live, faults = LiveCollection.open(path, CacheFolders.default()), list[Fault]()
    graph = live.project.classes.graph
    ids = live.project.images.table().ids
    for when, state in (
        ("in the list", live.load_list()),
        ("before the fit", live.load(fits=False)),
    ):
        strange = [] if known is None else sorted(set(shown_of(state, graph)) - known)
        if strange:
            faults.append(
                Fault(
                    "wrong", f"{when} {len(strange)} predictions that it never made: {strange[0]}"
                )
            )
        if tuple(state.image_ids.tolist()) != tuple(ids):
            faults.append(Fault("wrong", f"{when} other images than there are"))
    fit_as_window(live, Random(1))
    columns = {name: np.array(getattr(live.state, name)) for name in _COLUMNS}
    columns["paths"] = np.array(list(live.state.paths))
    opened = Opened(columns, sorted(shown_of(live.state, graph)), faults)
    if closes:
        live.close()
    else:
        live.embedded.close()
        live.project.close()
    return opened


def difference(found: Columns, expected: Columns) -> str:
    """Differences in words; "" for none."""
    for name, one in found.items():
        other = expected[name]
        if one.shape != other.shape:
            return f"{name}: {len(one)} and {len(other)}"
        is_other = np.abs(one - other) > _TOLERANCE if name.endswith("score") else one != other
        if is_other.any():
            place = int(is_other.argmax())
            return f"{name} of {int(is_other.sum())} images, first {one[place]} and {other[place]}"
    return ""


@contextmanager
def _instead(folder: Path, *paths: Path) -> Iterator[None]:
    """Temporarily replace the cached files by copies."""
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.mkdir()
    for path in paths:
        shutil.copy2(path, folder)
    try:
        yield
    finally:
        shutil.rmtree(folder)
        aside.rename(folder)

"""Logic of the backbone panel, and its queries on the project thread; without Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.backbones.published.titles import Advice, is_published, library_title
from engine.config import CacheFolders, assets_folder
from engine.errors import InputError, ModelError, ProtoleafError

if TYPE_CHECKING:
    from engine.backbones.bundled import BackboneChoice, OfferedBackbone
    from engine.backbones.model_files import ModelFiles
    from engine.backbones.published.facts import PublishedNetwork
    from engine.collection.state import CollectionState
    from engine.embedding.messages import PhotoRate
    from engine.project import Project
    from engine.worker.protocol import Request

# Enough images to show whether a network works, and quick to embed.
MOST_TRIED = 8
# Key of a card's figures: speed of the network when it was added to this computer.
RATE_FIGURE = "images_per_s_one_core"


class Source(StrEnum):
    """Sources of backbones."""

    COMPUTER = "computer"
    PUBLISHED = "published"
    FILE = "file"


class Origin(StrEnum):
    """How a backbone was installed."""

    BUNDLED = "bundled"
    PUBLISHED = "published"
    ADDED = "added"


@dataclass(frozen=True)
class BackboneRow:
    """A backbone installed on this computer."""

    files: ModelFiles  # the network and its card
    source: str
    size_bytes: int
    is_used: bool = False
    choice: BackboneChoice | None = None  # None if not bundled
    preparation: Request[Any] | None = None
    # Cost per image relative to the fast bundled backbone; 0 if unknown.
    times_the_work: float = 0.0
    # Measured in this session; estimated from the fast backbone if not prepared yet.
    rate: PhotoRate | None = None

    @property
    def name(self) -> str:
        return library_title(self.files.name)

    @property
    def images_per_s(self) -> float | None:
        return self.files.card.figures.get(RATE_FIGURE)

    @property
    def origin(self) -> Origin:
        if self.files.is_bundled:
            return Origin.BUNDLED
        return Origin.PUBLISHED if is_published(self.files.name) else Origin.ADDED

    @property
    def is_removable(self) -> bool:
        """Whether it can be removed: not if it is bundled or the project uses it."""
        return self.origin is not Origin.BUNDLED and not self.is_used


@dataclass(frozen=True)
class Installed:
    """The backbones installed on this computer, for the open project."""

    rows: tuple[BackboneRow, ...]  # current one first, then bundled ones, then by name
    used_name: str  # name of the current model version
    missing_model_reason: str = ""  # why the current backbone cannot be used; "" if it can
    is_choice_open: bool = False


@dataclass(frozen=True)
class PublishedRow:
    """A published network with one version of its weights."""

    network: PublishedNetwork
    fetched_bytes: int = 0  # size of an unfinished download
    is_here: bool = False
    # On one core of this computer; None if not measured.
    images_per_s: float | None = None
    times_the_work: float = 1.0  # cost per image relative to the first recommended network

    @cached_property
    def source(self) -> str:
        """Its name in the library once it is installed."""
        return self.network.library_name

    @cached_property
    def name(self) -> str:
        return self.network.title

    @cached_property
    def words(self) -> str:
        return self.network.words

    def at_side(self, input_side: int, here: Mapping[str, float | None]) -> PublishedRow:
        """The same network with another input size, which is a backbone of its own."""
        network = self.network.at_side(input_side)
        if network is self.network:
            return self
        name = network.library_name
        return replace(self, network=network, is_here=name in here, images_per_s=here.get(name))


def recommended_rows(rows: Sequence[PublishedRow]) -> dict[Advice, PublishedRow]:
    """The recommended networks, fastest first."""
    from engine.backbones.published.facts import recommended

    row_of = {row.network: row for row in rows}
    chosen = recommended(row_of)
    least = next((network.billion_operations for network in chosen.values()), None) or 1.0
    return {
        advice: replace(
            row_of[network], times_the_work=(network.billion_operations or least) / least
        )
        for advice, network in chosen.items()
    }


def installed_backbones(project: Project, caches: CacheFolders) -> Installed:
    """List installed backbones, and the one of the project."""
    from engine.backbones.bundled import is_chosen_elsewhere, offered_backbones
    from engine.collection.models import all_models, missing_model_reason

    offered = offered_backbones()
    choices = {one.name: one.choice for one in offered}
    reason = missing_model_reason(project, caches)
    used = None if reason else _files_in_use(project, caches)
    found = [(files, files.name) for files in all_models()]
    used_hash = "" if used is None else used.backbone_hash
    if used is not None and all(files.backbone_hash != used_hash for files, _ in found):
        found.append((used, str(used.backbone)))
    rows = [
        BackboneRow(
            files,
            source,
            files.backbone.stat().st_size,
            files.backbone_hash == used_hash,
            choices.get(files.name),
        )
        for files, source in found
    ]
    is_choice_open = not is_chosen_elsewhere()
    rows += [_row_to_be(one) for one in offered if is_choice_open and not one.is_ready]
    rows.sort(key=lambda row: (not row.is_used, row.origin is not Origin.BUNDLED, row.name))
    return Installed(
        tuple(rows), project.models.current.label, reason, is_choice_open=is_choice_open
    )


def _row_to_be(offered: OfferedBackbone) -> BackboneRow:
    """A row for a bundled backbone whose file is made on first use."""
    from engine.backbones.model_files import ModelFiles, width_agnostic_propagation

    place = assets_folder() / f"{offered.name}.onnx"  # path of a shipped file
    files = ModelFiles(offered.name, place, "", offered.card, width_agnostic_propagation(), "")
    return BackboneRow(
        files,
        offered.name,
        0,
        choice=offered.choice,
        preparation=offered.preparation,
        times_the_work=offered.times_the_work,
    )


def remove_added(project: Project, caches: CacheFolders, name: str) -> str:
    """Delete a backbone from the library unless the project uses it.

    Returns:
        Why it was not deleted, or "".
    """
    from engine.backbones.library import BackboneLibrary

    library = BackboneLibrary()
    try:
        used = _files_in_use(project, caches)
        if library.entry(name).backbone_hash == (used and used.backbone_hash):
            raise InputError(
                "the project uses this backbone", found=name, remedy="change to another one first"
            )
        library.remove(name)
    except ProtoleafError as error:
        return error.translated()
    return ""


def _files_in_use(project: Project, caches: CacheFolders) -> ModelFiles | None:
    """Files of the project's backbone; None if the project contains its own, or it is missing."""
    from engine.collection.models import model_of

    try:
        return None if project.models.current.is_trained_here else model_of(project, caches)
    except ModelError:
        return None


def with_rates(
    rows: Sequence[BackboneRow], rates: Mapping[str, PhotoRate]
) -> tuple[BackboneRow, ...]:
    """Add measured speeds by name; for unprepared backbones, estimates from the fast one."""
    fast = next(
        (rates[row.files.name] for row in rows if row.choice == "fast" and row.files.name in rates),
        None,
    )

    def rate_of(row: BackboneRow) -> PhotoRate | None:
        if row.preparation is None or fast is None or not row.times_the_work:
            return rates.get(row.files.name)
        return fast.times_the_work(row.times_the_work)

    return tuple(replace(row, rate=rate_of(row)) for row in rows)


def some_images(state: CollectionState, count: int = MOST_TRIED) -> list[Path]:
    """Paths of readable images, spread evenly over the collection."""
    import numpy as np

    from engine.collection.state import ImageStatus

    ready = state.image_ids[state.status == ImageStatus.READY]
    if not len(ready):
        return []
    chosen = ready[
        np.unique(np.linspace(0, len(ready) - 1, min(count, len(ready))).round().astype(np.int64))
    ]
    return [state.path_of(image_id) for image_id in chosen.tolist()]


def fetched_sizes(caches: CacheFolders) -> dict[str, int]:
    """Bytes of unfinished downloads, by the library name of the network."""
    from engine.backbones.published.catalogue import PUBLISHERS, stored_catalogue
    from engine.backbones.published.route import PART_SUFFIX, weights_path

    try:
        parts = {
            path.name: path.stat().st_size
            for path in (caches.root / "downloads").glob(f"*{PART_SUFFIX}")
        }
    except OSError:
        return {}
    if not parts:
        return {}
    known = [
        facts for publisher in PUBLISHERS for facts in stored_catalogue(caches, publisher) or ()
    ]
    sizes = {
        facts.library_name: parts.get(weights_path(caches, facts).name + PART_SUFFIX, 0)
        for facts in known
    }
    return {name: size for name, size in sizes.items() if size}

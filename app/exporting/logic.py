"""What can be exported and where it would go; the disk is looked at on a thread of its own. No Qt."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.texts import tr
from engine.collection.exporting.export import ExportChoice, check_target, export_images
from engine.collection.exporting.gather import Which, answers_in
from engine.collection.exporting.preview import ChosenImages, ExportPreview, chosen_images, preview_export
from engine.collection.outputs.targets import check_folder, what_it_is
from engine.collection.project_settings import setting_of
from engine.errors import ProtoleafError, TakenError
from engine.files import shown
from engine.full_disk import as_full_disk
from engine.interchange.labelled_images.formats import FORMATS, FormatGroup
from engine.interchange.labelled_images.placed_images import FolderOptions
from engine.project import Project

if TYPE_CHECKING:
    from engine.collection.bundle.export import ExportedModel
    from engine.collection.state import CollectionState
    from engine.config import CacheFolders
    from engine.events import CancelToken, OnProgress
    from engine.interchange.labelled_images.records import WrittenExport

MODEL: Final = "model"
"""As the command line calls it; not one of `FORMATS`: it holds no images."""
MODEL_FILES: Final = (
    "classifier.onnx", "classes.json", "backbone.onnx", "backbone.card.json", "run.py", "README.md", "card.json",
    "LICENCE.txt",
)  # fmt: skip
"""What lies in the folder of an exported model, what matters most first."""
FIRST: Final = "csv"
"""What is offered first to whoever never exported."""


@dataclass(frozen=True)
class OfferedExport:
    """One line of the list.

    Attributes:
        name: as the command line has it.
        title, description, cannot_carry: for people.
        group: heading that it stands under.
        suffix: of the file, with its dot; "" for a folder.
        is_folder: whether it is one.
        has_images: whether it holds the images themselves.
        has_flat_form: whether its class folders can lie beside one another.
        is_beside: whether they always do.
        is_spreadsheet: whether spreadsheets open it.
        writes_into: whether its folder may hold other files.
    """

    name: str
    title: str
    description: str
    cannot_carry: tuple[str, ...]
    group: FormatGroup
    suffix: str = ""
    is_folder: bool = False
    has_images: bool = False
    has_flat_form: bool = False
    is_beside: bool = False
    is_spreadsheet: bool = False
    writes_into: bool = False

    @property
    def has_labels(self) -> bool:
        """Whether images are chosen for it; the model alone is of all that are labelled."""
        return self.name != MODEL


@dataclass(frozen=True)
class ExportWish:
    """What is chosen in the card.

    Attributes:
        offered: the format.
        which: which images.
        options: for formats that are folders.
        has_byte_order_mark: for tables that spreadsheets open.
        target: what the person named; None: a free name is found.
        folder: in which; None beside the project.
    """

    offered: OfferedExport
    which: Which = Which.SURE
    options: FolderOptions = field(default_factory=FolderOptions)
    target: Path | None = None
    folder: Path | None = None
    has_byte_order_mark: bool = False


@dataclass(frozen=True)
class ExportLook:
    """What would come of a wish.

    Attributes:
        wish: what was looked at.
        target: where it would go.
        is_taken: whether a file of this name would be replaced.
        replaced_kind: what that file is, in a few words, where it is no earlier export in this format; "" where it is.
        problem: why it cannot go there, in one line; "" where it can.
        free_bytes: room on that disk; None where nobody can tell.
        chosen: how many images each choice means, and how large they are.
        preview: the beginning of it.
    """

    wish: ExportWish
    target: Path
    is_taken: bool
    replaced_kind: str
    problem: str
    free_bytes: int | None
    chosen: Mapping[Which, ChosenImages]
    preview: ExportPreview


def offered_exports() -> dict[str, OfferedExport]:
    """All that can be exported, by name, group after group."""
    found = [
        OfferedExport(
            name, one.title, one.description, one.cannot_carry, one.group, one.suffix, one.write_folder is not None,
            one.has_images, one.has_flat_form, one.is_beside, one.is_spreadsheet, one.writes_into,
        )
        for name, one in FORMATS.items()
    ]  # fmt: skip
    found.append(
        OfferedExport(
            MODEL,
            tr("Model for other programs"),
            tr("the network and your classes as ONNX files, with a runner that needs only Python"),
            (
                tr("the images and labels it learned from stay here"),
                tr("it judges each image alone; in the project, images also teach one another"),
            ),
            FormatGroup.MODEL,
            is_folder=True,
        )
    )
    order = list(FormatGroup)
    return {one.name: one for one in sorted(found, key=lambda one: order.index(one.group))}


def target_name(stem: str, offered: OfferedExport) -> str:
    """`birds.csv`, `birds-coco.json`, `birds-folders`: what a project's export is called."""
    return stem + offered.suffix if offered.suffix == f".{offered.name}" else f"{stem}-{offered.name}{offered.suffix}"


def renamed_target(target: Path, offered: OfferedExport, known: Sequence[OfferedExport]) -> Path:
    """A name that a person chose, for another format: the suffix follows."""
    suffixes = {each.suffix for each in known if each.suffix}
    stem = target.stem if target.suffix in suffixes else target.name
    return target.with_name(stem + offered.suffix)


# -- on a thread of its own


def look_at(project_path: Path, state: "CollectionState", wish: ExportWish) -> ExportLook:
    """Look what would come of a wish.

    Raises:
        StorageError, ProjectMissingError: the project cannot be read.
    """
    folder = wish.folder if wish.folder is not None and wish.folder.is_dir() else project_path.parent
    target = wish.target or _free(folder / target_name(project_path.stem, wish.offered))
    with Project.open(project_path, for_writing=False) as project:
        problem, replaced_kind = _problem(project, target, wish.offered)
        return ExportLook(
            wish,
            target,
            is_taken=bool(replaced_kind) or (target.is_file() and not wish.offered.is_folder),
            replaced_kind=replaced_kind,
            problem=problem,
            free_bytes=_free_bytes(target),
            chosen=chosen_images(project, state),
            preview=_preview(project, state, wish),
        )


def export_labels(
    project_path: Path, state: "CollectionState", look: ExportLook, on_progress: "OnProgress", cancel: "CancelToken"
) -> "WrittenExport":
    """Write what was looked at, with the answers that the screen shows.

    Raises:
        InputError, StorageError: the place or the disk refuses.
        Cancelled: it was stopped.
    """
    wish = look.wish
    with Project.open(project_path, for_writing=False) as project:
        return export_images(
            project,
            answers_in(state),
            ExportChoice(
                wish.offered.name,
                look.target,
                wish.which,
                wish.options,
                is_overwriting=bool(look.replaced_kind),
                has_byte_order_mark=wish.has_byte_order_mark,
            ),
            model=state.model_name,
            setting=setting_of(project).value,
            on_progress=on_progress,
            cancel=cancel,
        )


def export_the_model(
    project_path: Path, caches: "CacheFolders", look: ExportLook, on_progress: "OnProgress", cancel: "CancelToken"
) -> "ExportedModel":
    """Write the model as it is fitted now.

    Raises:
        InputError, ModelError, StorageError: nothing is embedded or labelled yet, or the place or the disk refuses.
        Cancelled: it was stopped.
    """
    from engine.collection.bundle.export import export_model

    with Project.open(project_path, for_writing=False) as project:
        return export_model(project, caches, look.target, setting_of(project), on_progress=on_progress, cancel=cancel)


def _free(target: Path) -> Path:
    """The name, or with a number where it is taken: nobody shall replace anything who did not ask for it."""
    number, free = 1, target
    while free.exists():
        number += 1
        free = target.with_name(f"{target.stem} ({number}){target.suffix}")
    return free


def _problem(project: Project, target: Path, offered: OfferedExport) -> tuple[str, str]:
    """Why nothing can go there, and what would be replaced there that is no earlier export; "" each."""
    try:
        if offered.has_labels:
            check_target(project, ExportChoice(offered.name, target))
        else:
            check_folder(Path(os.path.realpath(target)), project)
    except TakenError:
        return _replacing_problem(project, target, offered), what_it_is(target)
    except (ProtoleafError, OSError, ValueError) as error:
        return shown(str(as_full_disk(error))), ""
    if not target.parent.is_dir():
        return f'there is no folder "{shown(str(target.parent))}"', ""
    return "", ""


def _replacing_problem(project: Project, target: Path, offered: OfferedExport) -> str:
    """Why the file that is there cannot be replaced even where the person wants it."""
    try:
        check_target(project, ExportChoice(offered.name, target, is_overwriting=True))
    except (ProtoleafError, OSError, ValueError) as error:
        return shown(str(as_full_disk(error)))
    return ""


def _free_bytes(target: Path) -> int | None:
    place = next((place for place in (target, *target.parents) if place.is_dir()), None)
    try:
        return None if place is None else shutil.disk_usage(place).free
    except OSError:
        return None


def _preview(project: Project, state: "CollectionState", wish: ExportWish) -> ExportPreview:
    if not wish.offered.has_labels:
        return ExportPreview(lines=MODEL_FILES)
    try:
        return preview_export(project, state, FORMATS[wish.offered.name], wish.which, wish.options)
    except (ProtoleafError, OSError) as error:
        return ExportPreview(lines=(shown(str(as_full_disk(error))),))

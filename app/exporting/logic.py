"""What can be exported and where it would go; the disk is looked at on a thread of its own. No Qt."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.texts import tr
from app.wording import seen_text
from engine.archive.layout import portable_paths
from engine.archive.pack import archive_bytes, pack_project
from engine.collection.fitting import setting_of
from engine.collection.outputs import ARCHIVE, check_file, check_folder, kind_of_file
from engine.config import ARCHIVE_SUFFIX
from engine.errors import ProtoleafError, TakenError
from engine.exporting.export import ExportChoice, Which, answers_in, check_target, export_images
from engine.exporting.preview import ChosenImages, ExportPreview, chosen_images, preview_export
from engine.files import shown
from engine.full_disk import as_full_disk
from engine.interchange.labelled_images.formats import FORMATS, FormatGroup, ImageFormat
from engine.project import Project

if TYPE_CHECKING:
    from engine.archive.pack import WrittenArchive
    from engine.bundle.export import ExportedModel
    from engine.collection.state import CollectionState
    from engine.config import CacheFolders
    from engine.events import CancelToken, OnProgress
    from engine.interchange.labelled_images.records import WrittenExport

MODEL: Final = "model"
"""As the command line calls it; not one of `FORMATS`: it holds no images."""
COPY: Final = ARCHIVE
"""As the command line calls it; not one of `FORMATS`: it is the whole project."""
LISTED: Final = 40  # photos of a copy that its preview names
MODEL_FILES: Final = (
    "classifier.onnx", "classes.json", "backbone.onnx", "backbone.card.json", "run.py", "README.md", "card.json",
    "LICENCE.txt",
)  # fmt: skip
"""What lies in the folder of an exported model, what matters most first."""
FIRST: Final = "csv"
"""What is offered first to whoever never exported."""


@dataclass(frozen=True)
class ExportLook:
    """What would come of a choice.

    Attributes:
        format: the format that is chosen.
        choice: what was looked at, with the place where it would go.
        is_taken: whether a file of this name would be replaced.
        replaced_kind: what that file is, in a few words, where it is no earlier export in this format; "" where it is.
        problem: why it cannot go there, in one line; "" where it can.
        free_bytes: room on that disk; None where nobody can tell.
        chosen: how many images each choice means, and how large they are.
        preview: the beginning of it.
        seen: how many classes have examples, in words; "" where all do.
        has_boxes: whether the collection has boxes.
        copy_bytes: about how large a copy of the project becomes, with photos (False) and with previews (True).
    """

    format: ImageFormat
    choice: ExportChoice
    is_taken: bool
    replaced_kind: str
    problem: str
    free_bytes: int | None
    chosen: Mapping[Which, ChosenImages]
    preview: ExportPreview
    seen: str = ""
    has_boxes: bool = False
    copy_bytes: Mapping[bool, int] = field(default_factory=dict)

    @property
    def target(self) -> Path:
        return self.choice.out


def offered_exports() -> dict[str, ImageFormat]:
    """All that can be exported, by name, group after group."""
    model = ImageFormat(
        tr("Model for other programs"),
        tr("the network and your classes as ONNX files, with a runner that needs only Python"),
        (
            tr("the images and labels it learned from stay here"),
            tr("it judges each image alone; in the project, images also teach one another"),
        ),
        group=FormatGroup.MODEL,
    )
    copy = ImageFormat(
        tr("Copy for someone"),
        tr(
            "one file with the project and its photos: someone else opens and labels it, and you merge it back"
        ),
        (tr("backbones that you added yourself are not included"),),
        suffix=ARCHIVE_SUFFIX,
        group=FormatGroup.PROJECT,
    )
    order = list(FormatGroup)
    return dict(
        sorted(
            [*FORMATS.items(), (MODEL, model), (COPY, copy)],
            key=lambda item: order.index(item[1].group),
        )
    )


def target_name(stem: str, name: str, suffix: str) -> str:
    """`birds.csv`, `birds-coco.json`, `birds-folders`: what a project's export is called."""
    return stem + suffix if suffix in {f".{name}", ARCHIVE_SUFFIX} else f"{stem}-{name}{suffix}"


def renamed_target(target: Path, offered: ImageFormat, known: Sequence[ImageFormat]) -> Path:
    """A name that a person chose, for another format: the suffix follows."""
    suffixes = {each.suffix for each in known if each.suffix}
    stem = target.stem if target.suffix in suffixes else target.name
    return target.with_name(stem + offered.suffix)


# -- on a thread of its own


def look_at(
    project_path: Path, state: CollectionState, choice: ExportChoice, *, is_named: bool
) -> ExportLook:
    """Look what would come of a choice.

    Args:
        project_path: the project.
        state: its newest state.
        choice: its place is a file or folder that a person named, or the folder in which a free name is found.
        is_named: which of the two; a folder that is gone gives way to that of the project.

    Raises:
        StorageError, ProjectMissingError: the project cannot be read.
    """
    offered = offered_exports()[choice.format_name]
    if not is_named:
        folder = choice.out if choice.out.is_dir() else project_path.parent
        free = _free(folder / target_name(project_path.stem, choice.format_name, offered.suffix))
        choice = replace(choice, out=free)
    target = choice.out
    with Project.open(project_path, for_writing=False) as project:
        problem, replaced_kind = _problem(project, choice, offered)
        return ExportLook(
            offered,
            replace(choice, is_overwriting=bool(replaced_kind)),
            is_taken=bool(replaced_kind) or (target.is_file() and not offered.is_folder),
            replaced_kind=replaced_kind,
            problem=problem,
            free_bytes=_free_bytes(target),
            chosen=chosen_images(project, state),
            preview=_preview(project, state, choice),
            seen="" if state.unseen is None else seen_text(state.unseen, project.classes.graph),
            has_boxes=bool(state.is_box.any()),
            copy_bytes=_copy_bytes(project) if choice.format_name == COPY else {},
        )


def export_labels(
    project_path: Path,
    state: CollectionState,
    look: ExportLook,
    on_progress: OnProgress,
    cancel: CancelToken,
) -> WrittenExport:
    """Write what was looked at, with the answers that the screen shows.

    Raises:
        InputError, StorageError: the place or the disk refuses.
        Cancelled: it was stopped.
    """
    with Project.open(project_path, for_writing=False) as project:
        return export_images(
            project,
            answers_in(state),
            look.choice,
            model=state.model_name,
            setting=setting_of(project).value,
            on_progress=on_progress,
            cancel=cancel,
        )


def export_the_model(
    project_path: Path,
    caches: CacheFolders,
    look: ExportLook,
    on_progress: OnProgress,
    cancel: CancelToken,
) -> ExportedModel:
    """Write the model as it is fitted now.

    Raises:
        InputError, ModelError, StorageError: nothing is embedded or labelled yet, or the place or the disk refuses.
        Cancelled: it was stopped.
    """
    from engine.bundle.export import export_model

    with Project.open(project_path, for_writing=False) as project:
        return export_model(
            project,
            caches,
            look.target,
            setting_of(project),
            on_progress=on_progress,
            cancel=cancel,
        )


def export_copy(
    project_path: Path,
    caches: CacheFolders,
    look: ExportLook,
    on_progress: OnProgress,
    cancel: CancelToken,
) -> WrittenArchive:
    """Write the project and its photos into one file.

    Raises:
        InputError, StorageError: the place or the disk refuses.
        Cancelled: it was stopped.
    """
    with Project.open(project_path, for_writing=False) as project:
        return pack_project(
            project,
            caches,
            look.target,
            is_reduced=look.choice.is_reduced,
            is_overwriting=look.choice.is_overwriting,
            on_progress=on_progress,
            cancel=cancel,
        )


def _copy_bytes(project: Project) -> dict[bool, int]:
    return {
        is_reduced: archive_bytes(project, is_reduced=is_reduced) for is_reduced in (False, True)
    }


def _free(target: Path) -> Path:
    """The name, or with a number where it is taken: nobody shall replace anything who did not ask for it."""
    number, free = 1, target
    while free.exists():
        number += 1
        free = target.with_name(f"{target.stem} ({number}){target.suffix}")
    return free


def _problem(project: Project, choice: ExportChoice, offered: ImageFormat) -> tuple[str, str]:
    """Why nothing can go there, and what would be replaced there that is no earlier export; "" each."""
    target = choice.out
    try:
        _check(project, choice, offered)
    except TakenError:
        return _replacing_problem(project, choice, offered), kind_of_file(target)
    except (ProtoleafError, OSError, ValueError) as error:
        return shown(str(as_full_disk(error))), ""
    if not target.parent.is_dir():
        return f'there is no folder "{shown(str(target.parent))}"', ""
    return "", ""


def _check(project: Project, choice: ExportChoice, offered: ImageFormat) -> None:
    if offered.has_labels:
        check_target(project, choice)
    elif offered.is_folder:
        check_folder(Path(os.path.realpath(choice.out)), project)
    else:
        check_file(choice.out, COPY, project=project, is_overwriting=choice.is_overwriting)


def _replacing_problem(project: Project, choice: ExportChoice, offered: ImageFormat) -> str:
    """Why the file that is there cannot be replaced even where the person wants it."""
    try:
        _check(project, replace(choice, is_overwriting=True), offered)
    except (ProtoleafError, OSError, ValueError) as error:
        return shown(str(as_full_disk(error)))
    return ""


def _free_bytes(target: Path) -> int | None:
    place = next((place for place in (target, *target.parents) if place.is_dir()), None)
    try:
        return None if place is None else shutil.disk_usage(place).free
    except OSError:
        return None


def _preview(project: Project, state: CollectionState, choice: ExportChoice) -> ExportPreview:
    if choice.format_name == MODEL:
        return ExportPreview(lines=MODEL_FILES)
    if choice.format_name == COPY:
        names = portable_paths(project.images.table().paths, project.path.parent, project.path.name)
        some = islice(names.values(), LISTED)
        return ExportPreview(
            lines=(project.path.name, *map(shown, some), *(["…"] if len(names) > LISTED else []))
        )
    try:
        return preview_export(
            project, state, FORMATS[choice.format_name], choice.which, choice.folder
        )
    except (ProtoleafError, OSError) as error:
        return ExportPreview(lines=(shown(str(as_full_disk(error))),))

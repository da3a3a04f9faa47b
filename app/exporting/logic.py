"""Available exports and their targets; the disk is accessed on a background thread. No Qt."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

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
from engine.full_disk import as_full_disk, free_space
from engine.interchange.labelled_images.formats import FORMATS, FormatGroup, ImageFormat
from engine.project import Project

if TYPE_CHECKING:
    from engine.archive.pack import WrittenArchive
    from engine.bundle.export import ExportedModel
    from engine.collection.state import CollectionState
    from engine.config import CacheFolders
    from engine.events import CancelToken, OnProgress
    from engine.interchange.labelled_images.records import WrittenExport

MODEL = "model"
"""Name as in the command line; not in `FORMATS`, as it contains no images."""
COPY = ARCHIVE
"""Name as in the command line; not in `FORMATS`, as it contains the whole project."""
LISTED = 40  # number of photos in the preview of an archive
MODEL_FILES = (
    "classifier.onnx",
    "classes.json",
    "backbone.onnx",
    "backbone.card.json",
    "run.py",
    "README.md",
    "card.json",
    "LICENCE.txt",
)
"""Files of an exported model, most important first."""
FIRST = "csv"
"""Default format."""


@dataclass(frozen=True)
class ExportLook:
    """Preview of an export.

    Attributes:
        format: the chosen format.
        choice: options, with the target.
        is_taken: whether a file would be replaced.
        replaced_kind: type of that file if it is not an earlier export in this format; else "".
        problem: why the target cannot be used, in one line; "" if it can.
        free_bytes: on the target's disk; None if unknown.
        chosen: number and total size of images for each choice.
        preview: the beginning of the export.
        seen: text on how many classes have examples; "" if all have.
        has_boxes: whether the collection has boxes.
        copy_bytes: approximate size of an archive, with photos (False) and previews (True).
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
    """All exports by name, sorted by group."""
    model = ImageFormat(
        tr("Model for other programs"),
        tr("the network and your classes as ONNX files, with a runner that needs only Python"),
        (
            tr("the images and labels it learned from stay here"),
            tr(
                "it classifies each image on its own; in the project, images also inform one "
                "another"
            ),
        ),
        group=FormatGroup.MODEL,
    )
    copy = ImageFormat(
        tr("Copy for someone"),
        tr(
            "one file with the project and its photos: someone else opens and labels it, and "
            "you merge it back"
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
    """Default file name of an export: `birds.csv`, `birds-coco.json`, `birds-folders`."""
    return stem + suffix if suffix in {f".{name}", ARCHIVE_SUFFIX} else f"{stem}-{name}{suffix}"


def renamed_target(target: Path, offered: ImageFormat, known: Sequence[ImageFormat]) -> Path:
    """Adapt the suffix of a file name to another format."""
    suffixes = {each.suffix for each in known if each.suffix}
    stem = target.stem if target.suffix in suffixes else target.name
    return target.with_name(stem + offered.suffix)


# -- on a background thread


def look_at(
    project_path: Path, state: CollectionState, choice: ExportChoice, *, is_named: bool
) -> ExportLook:
    """Preview an export.

    Args:
        project_path: the project.
        state: its newest state.
        choice: options; the target is the user's file or folder, or the folder for a new name.
        is_named: which of the two; a missing folder is replaced by that of the project.

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
            free_bytes=free_space(target),
            chosen=chosen_images(project, state),
            preview=_preview(project, state, choice),
            seen="" if state.unseen is None else seen_text(state.unseen, project.classes.graph),
            has_boxes=bool(state.is_box.any()),
            copy_bytes={each: archive_bytes(project, is_reduced=each) for each in (False, True)}
            if choice.format_name == COPY
            else {},
        )


def export(
    project_path: Path,
    state: CollectionState,
    caches: CacheFolders,
    look: ExportLook,
    *,
    on_progress: OnProgress,
    cancel: CancelToken,
) -> WrittenExport | ExportedModel | WrittenArchive:
    """Write the previewed export: labels with the predictions on the screen, a model, or a copy.

    Raises:
        InputError, ModelError, StorageError: the target cannot be used, nothing is embedded or
            labelled yet (models), or a write failed.
        Cancelled: `cancel` was set.
    """
    with Project.open(project_path, for_writing=False) as project:
        setting = setting_of(project)
        if look.choice.format_name == COPY:
            return pack_project(
                project,
                caches,
                look.target,
                is_reduced=look.choice.is_reduced,
                is_overwriting=look.choice.is_overwriting,
                on_progress=on_progress,
                cancel=cancel,
            )
        if look.choice.format_name == MODEL:
            from engine.bundle.export import export_model

            return export_model(
                project, caches, look.target, setting, on_progress=on_progress, cancel=cancel
            )
        return export_images(
            project,
            answers_in(state),
            look.choice,
            model=state.model_name,
            setting=setting.value,
            on_progress=on_progress,
            cancel=cancel,
        )


def _free(target: Path) -> Path:
    """Unused file name: the given one, or with a number appended."""
    number, free = 1, target
    while free.exists():
        number += 1
        free = target.with_name(f"{target.stem} ({number}){target.suffix}")
    return free


def _problem(project: Project, choice: ExportChoice, offered: ImageFormat) -> tuple[str, str]:
    """Why the target cannot be used, and the type of an unrelated file that would be replaced."""
    error, kind = _refusal(project, choice, offered), ""
    if isinstance(error, TakenError):
        kind = kind_of_file(choice.out)
        error = _refusal(project, replace(choice, is_overwriting=True), offered)
    if error is not None:
        return shown(str(as_full_disk(error))), kind
    if not kind and not choice.out.parent.is_dir():
        return f'there is no folder "{shown(str(choice.out.parent))}"', ""
    return "", kind


def _refusal(
    project: Project, choice: ExportChoice, offered: ImageFormat
) -> ProtoleafError | OSError | ValueError | None:
    """Why the target cannot be used."""
    try:
        if offered.has_labels:
            check_target(project, choice)
        elif offered.is_folder:
            check_folder(Path(os.path.realpath(choice.out)), project)
        else:
            check_file(choice.out, COPY, project=project, is_overwriting=choice.is_overwriting)
    except (ProtoleafError, OSError, ValueError) as error:
        return error
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

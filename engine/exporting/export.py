"""Atomic export of labels and predictions in the formats of other programs."""

import os
from codecs import BOM_UTF8
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from engine import __version__
from engine.arrays import Integers
from engine.collection.classify import Classified, classify_project
from engine.collection.find_folds import sequence_names
from engine.collection.hidden_images import hidden_images
from engine.collection.outputs import check_file, check_folder
from engine.collection.state import BOXED, NO_CLASS, CollectionState
from engine.config import CacheFolders
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.everyday.classifier import Setting
from engine.exporting.gathered import GatheredImages, ModelAnswers
from engine.exporting.known_facts import known_facts
from engine.full_disk import writing
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.formats import ImageFormat, format_named
from engine.interchange.labelled_images.records import (
    GivenLabel,
    GivenNote,
    LabelledImage,
    LabelledImages,
    ModelAnswer,
    WrittenExport,
)
from engine.new_file import clear_abandoned_drafts, output_file
from engine.new_folder import new_folder
from engine.project import Project
from engine.project.clock import present_time

PROGRAM = f"Protoleaf {__version__}"


class Which(StrEnum):
    """Which images are exported."""

    VERIFIED = "verified"  # labelled by a person
    SURE = "sure"  # verified, or with a safe class
    ALL = "all"  # also without a class


Answers = Mapping[int, ModelAnswer]  # predictions by image id


def answers_of(classified: Classified) -> Answers:
    """Predictions of a classification, also for labelled images."""
    scores, fitted = classified.scores, classified.fitted
    leaf = np.where(classified.labels == BOXED, NO_CLASS, fitted.candidate_ids[scores.best])
    return ModelAnswers(
        classified.image_ids,
        leaf,
        scores.best_score,
        scores.safe_class,
        scores.safe_score,
        fitted.is_unknown(scores),
    )


def answers_in(state: CollectionState, places: slice | Integers = slice(None)) -> Answers:
    """Copy predictions of a state, of all images or at some ascending places."""
    leaf = np.where(state.label_class[places] == BOXED, NO_CLASS, state.best_class[places])
    return ModelAnswers(
        state.image_ids[places].copy(),
        leaf,
        state.best_score[places].copy(),
        state.safe_class[places].copy(),
        state.safe_score[places].copy(),
        state.is_unknown[places].copy(),
    )


def gather(
    project: Project,
    answers: Answers,
    which: Which,
    *,
    model: str = "",
    setting: str = "",
    only: Container[int] | None = None,
) -> LabelledImages:
    """Gather images with labels and predictions; `only` restricts them to some ids."""
    by_image = project.labels.by_image()
    labels = {
        image_id: GivenLabel(label.class_id, label.who, label.when, label.source)
        for image_id, label in by_image.items()
    }
    empty = frozenset(image_id for image_id, label in by_image.items() if label.is_empty)
    notes = {
        note.image_id: GivenNote(note.stars, note.is_flagged, note.comment, note.who, note.when)
        for note in project.notes.by_image().values()
    }
    folder, table, hidden = project.path.parent, project.images.table(), hidden_images(project)
    everything = GatheredImages(
        table,
        folder,
        labels,
        notes,
        answers,
        sequence_names(project),
        project.images.detections(),
        empty,
        project.fields.values(),
        project.fields.defined,
    )
    return LabelledImages(
        title=project.path.stem,
        graph=project.classes.graph.copy(),
        images=everything.chosen(
            lambda image: image.image_id not in hidden and _is_among(image, which), only
        ),
        made_at=present_time(),
        model=model,
        setting=setting,
        program=PROGRAM,
        folder=_folder_of(
            folder / parent for parent in {path.rpartition("/")[0] for path in table.paths}
        ),
        facts_of=known_facts(project),
    )


def _folder_of(folders: Iterable[Path]) -> Path | None:
    try:
        paths = {os.path.abspath(folder) for folder in folders}  # noqa: PTH100 (links stay)
        return Path(os.path.commonpath(paths))
    except ValueError:  # several drives, or no image
        return None


def _is_among(image: LabelledImage, which: Which) -> bool:
    is_sure = which is Which.SURE and image.class_id is not None
    return which is Which.ALL or image.is_verified or is_sure


@dataclass(frozen=True)
class ExportChoice:
    """Options of an export."""

    format_name: str  # a key of `FORMATS`
    out: Path  # file or folder
    which: Which = Which.SURE
    folder: FolderOptions = field(default_factory=FolderOptions)  # for formats that are folders
    is_overwriting: bool = False  # also replace a file that is not an earlier export
    has_byte_order_mark: bool = False  # of tables; without it Excel assumes Latin-1
    is_reduced: bool = False  # of a project archive: previews instead of the photos


def export_project(
    project: Project,
    caches: CacheFolders,
    choice: ExportChoice,
    setting: Setting = Setting.PPN_PLUS,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> WrittenExport:
    """Export a project, classified first unless only labels are exported; see `export_images`.

    Raises:
        InputError: as `classify`.
    """
    check_target(project, choice)
    if choice.which is Which.VERIFIED:
        return export_images(project, {}, choice, on_progress=on_progress, cancel=cancel)
    try:
        classified = classify_project(project, caches, setting)
    except InputError as error:
        raise type(error)(
            error.what,
            expected=error.expected,
            found=error.found,
            remedy=f"{error.remedy}; or export what people labelled alone (--images verified)",
        ) from error
    answers = answers_of(classified)
    return export_images(
        project,
        answers,
        choice,
        model=classified.model.name,
        setting=setting.value,
        on_progress=on_progress,
        cancel=cancel,
    )


def export_images(
    project: Project,
    answers: Answers,
    choice: ExportChoice,
    *,
    model: str = "",
    setting: str = "",
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> WrittenExport:
    """Export labels and given predictions.

    Raises:
        TakenError, InputError: as `check_target`.
        StorageError: the output cannot be written.
        Cancelled: `cancel` was set.
    """
    one = format_named(choice.format_name)
    check_target(project, choice)
    images = gather(project, answers, choice.which, model=model, setting=setting)
    meter = ProgressMeter(len(images.images), on_progress)

    def on_image() -> None:
        meter.advance()
        if cancel is not None:
            cancel.raise_if_cancelled()

    return _write(one, replace(images, on_image=on_image), choice, project)


def check_target(project: Project, choice: ExportChoice) -> None:
    """Refuse an output path that must not be replaced.

    Raises:
        TakenError: there is a file that is not an earlier export.
        InputError: it is the project, one of its images, or a folder that is not empty.
        StorageError: its parent folder does not exist.
    """
    one = format_named(choice.format_name)
    if one.write_folder is None:
        check_file(
            choice.out, choice.format_name, project=project, is_overwriting=choice.is_overwriting
        )
    elif not one.writes_into:
        check_folder(choice.out, project)


def _write(
    one: ImageFormat, images: LabelledImages, choice: ExportChoice, project: Project
) -> WrittenExport:
    with writing(choice.out, "the export cannot be written", "choose another place"):
        if one.write_file is not None:
            clear_abandoned_drafts(choice.out.parent)  # of killed exports
            with output_file(choice.out) as file:
                if choice.has_byte_order_mark and one.is_spreadsheet:
                    file.write(BOM_UTF8)
                written = one.write_file(images, file)
                check_target(project, choice)  # a file may have been created meanwhile
            return written
        assert one.write_folder is not None, "one of them"
        if one.writes_into:
            return one.write_folder(images, choice.out, choice.folder)
        with new_folder(choice.out) as draft:
            return one.write_folder(images, draft, choice.folder)

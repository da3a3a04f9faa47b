"""Write a project's labels and answers in the format of another program: whole, or not at all."""

from codecs import BOM_UTF8
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engine.collection.classify import classify
from engine.collection.exporting.gather import Answers, Which, answers_of, gather
from engine.collection.outputs.targets import check_file, check_folder
from engine.config import CacheFolders
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.everyday.classifier import Setting
from engine.full_disk import writing
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.formats import ImageFormat, format_named
from engine.interchange.labelled_images.records import LabelledImages, WrittenExport
from engine.new_file import clear_abandoned_drafts, output_file
from engine.new_folder import new_folder
from engine.project import Project

_NOT_WRITTEN: Final = "the export cannot be written"
_REMEDY: Final = "choose another place"


@dataclass(frozen=True)
class ExportChoice:
    """What a person chooses for an export."""

    format_name: str  # a key of `FORMATS`
    out: Path  # the file or folder
    which: Which = Which.SURE  # which images
    folder: FolderOptions = field(default_factory=FolderOptions)  # for formats that are folders
    is_overwriting: bool = False  # whether a file that no earlier export wrote is replaced
    has_byte_order_mark: bool = False
    """Whether a table for spreadsheets begins with one: Excel takes it for Latin-1 otherwise."""


def export_project(
    project: Project,
    caches: CacheFolders,
    choice: ExportChoice,
    setting: Setting = Setting.PPN_PLUS,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> WrittenExport:
    """Classify a project where the model's answers are asked for, and export it; see `export_images`.

    Raises:
        InputError: as `classify`; nothing needs to be embedded for labels alone.
    """
    check_target(project, choice)
    if choice.which is Which.VERIFIED:
        return export_images(project, {}, choice, on_progress=on_progress, cancel=cancel)
    try:
        classified = classify(project, caches, setting)
    except InputError as error:
        raise type(error)(
            error.what,
            expected=error.expected,
            found=error.found,
            remedy=f"{error.remedy}; or export what people labelled alone (--images verified)",
        ) from error
    answers = answers_of(classified)
    return export_images(
        project, answers, choice, model=classified.model.name, setting=setting.value, on_progress=on_progress,
        cancel=cancel,
    )  # fmt: skip


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
    """Export labels and answers that are known.

    Args:
        project: may be open for reading only; none of its images is changed.
        answers: the model's, by image id.
        choice: format, place, and which images.
        model, setting: how the answers came about.
        on_progress, cancel: of long exports; one that is stopped leaves nothing.

    Raises:
        TakenError, InputError: as `check_target`.
        StorageError: the disk or folder refuses.
        Cancelled: it was stopped.
    """
    one = format_named(choice.format_name)
    check_target(project, choice)
    images = gather(project, answers, choice.which, model=model, setting=setting)
    meter = ProgressMeter(len(images.images), on_progress)

    def on_image() -> None:
        meter.advance()
        if cancel is not None:
            cancel.raise_if_cancelled()

    return _write(one, LabelledImages(**{**vars(images), "on_image": on_image}), choice, project)


def check_target(project: Project, choice: ExportChoice) -> None:
    """Refuse a place that is taken, before any work is done.

    Raises:
        TakenError: a file that no earlier export wrote is there, and nobody asked to replace it.
        InputError: it is the project, one of its images, or, for a folder, not empty.
        StorageError: there is no folder around it.
    """
    one = format_named(choice.format_name)
    if one.write_folder is None:
        check_file(choice.out, choice.format_name, project=project, is_overwriting=choice.is_overwriting)
    elif not one.writes_into:
        check_folder(choice.out, project)


def _write(one: ImageFormat, images: LabelledImages, choice: ExportChoice, project: Project) -> WrittenExport:
    with writing(choice.out, _NOT_WRITTEN, _REMEDY):
        if one.write_file is not None:
            clear_abandoned_drafts(choice.out.parent)  # of exports that were killed
            with output_file(choice.out) as file:
                if choice.has_byte_order_mark and one.is_spreadsheet:
                    file.write(BOM_UTF8)
                written = one.write_file(images, file)
                check_target(project, choice)  # a long export: something may have come in between
            return written
        assert one.write_folder is not None, "one of them"
        if one.writes_into:
            return one.write_folder(images, choice.out, choice.folder)
        with new_folder(choice.out) as draft:
            return one.write_folder(images, draft, choice.folder)

"""Preview of an export: its first rows, lines or files, with images of the project."""

import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path, PurePosixPath

import numpy as np

from engine.arrays import Flags, Integers
from engine.collection.state import NO_CLASS, CollectionState
from engine.exporting.export import Which, answers_in, gather
from engine.interchange.labelled_images.class_folders import FolderOptions, coarse_classes
from engine.interchange.labelled_images.csv_table import cell
from engine.interchange.labelled_images.formats import FormatGroup, ImageFormat
from engine.interchange.labelled_images.records import LabelledImages
from engine.interchange.labelled_images.table_rows import COLUMNS, rows
from engine.new_file import write_file
from engine.new_folder import Placing, scratch_folder
from engine.project import Project

IMAGES = 8  # of a preview. Chosen: the preview of a folder is a short list
MOST_LINES = 60  # of a file or folder. Chosen: a few screens
MOST_SERIES = 3  # files of a suffix whose content is shown; of more, only the first
LONGEST_LINE = 400  # characters of a line
_INDENT = "    "


@dataclass(frozen=True)
class ExportPreview:
    """The first rows of a table, or lines."""

    columns: tuple[str, ...] = ()  # of a table
    rows: tuple[tuple[str, ...], ...] = ()
    lines: tuple[str, ...] = ()  # of a text file, or of the listing of a folder, indented
    images: int = 0  # in the preview


@dataclass(frozen=True)
class ChosenImages:
    """Size of a selection of images."""

    count: int
    size_bytes: int  # of all files, when they were added
    coarse: int = 0  # images whose class is an ancestor of other images' classes


def chosen_images(project: Project, state: CollectionState) -> dict[Which, ChosenImages]:
    """Size of each selection, without images that were added after `state`."""
    table = project.images.table()
    sizes = dict(zip(table.ids, table.sizes_bytes, strict=True))
    each = np.array(
        [sizes.get(image_id, 0) for image_id in state.image_ids.tolist()], dtype=np.int64
    )
    masks = _masks(state)
    classes = np.where(state.label_class != NO_CLASS, state.label_class, state.safe_class)
    classes[~masks[Which.SURE]] = NO_CLASS
    return {
        which: ChosenImages(
            int(chosen.sum()), int(each[chosen].sum()), _count_coarse(project, classes[chosen])
        )
        for which, chosen in masks.items()
    }


def _count_coarse(project: Project, classes: Integers) -> int:
    used, counts = np.unique(classes[classes > 0], return_counts=True)
    known = [class_id for class_id in used.tolist() if class_id in project.classes.graph]
    coarse = coarse_classes(project.classes.graph, known)
    return int(counts[np.isin(used, list(coarse))].sum())


def preview_export(
    project: Project,
    state: CollectionState,
    one: ImageFormat,
    which: Which,
    options: FolderOptions | None = None,
) -> ExportPreview:
    """Make the preview; no image is copied.

    Raises:
        OSError: the folder for temporary files cannot be written.
    """
    places = _places(state, which, is_varied=one.write_folder is not None)
    answers = answers_in(state, places)
    only = frozenset(state.image_ids[places].tolist())
    images = gather(project, answers, which, model=state.model_name, only=only)
    count = len(images.images)
    if one.group is FormatGroup.TABLES:
        cells = tuple(tuple(cell(row[name]) for name in COLUMNS) for row in rows(images))
        return ExportPreview(COLUMNS, cells, images=count)
    if one.write_file is not None:
        file = io.BytesIO()
        one.write_file(images, file)
        return ExportPreview(lines=tuple(_first(_lines_of(file.getvalue()))), images=count)
    return ExportPreview(
        lines=tuple(_first(_folder_lines(one, images, options or FolderOptions()))), images=count
    )


def _masks(state: CollectionState) -> dict[Which, Flags]:
    verified = state.is_labelled & ~state.is_hidden
    is_known = (state.best_class != NO_CLASS) & (state.safe_class != NO_CLASS) & ~state.is_unknown
    sure = verified | (state.is_unlabelled & is_known & ~state.is_hidden)
    return {Which.VERIFIED: verified, Which.SURE: sure, Which.ALL: ~state.is_hidden}


def _places(state: CollectionState, which: Which, *, is_varied: bool) -> Integers:
    """Rows of the first images, or of the first two of several classes."""
    places = np.flatnonzero(_masks(state)[which])
    if is_varied:
        classes = np.where(state.label_class != NO_CLASS, state.label_class, state.safe_class)[
            places
        ]
        order = np.argsort(classes, kind="stable")
        starts = np.flatnonzero(np.diff(classes[order], prepend=classes[order][:1] - 1))
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        has_class = classes[order] >= 0
        places = places[order[np.lexsort((order, rank // 2, ~has_class))]]
    return np.sort(places[:IMAGES])


def _folder_lines(
    one: ImageFormat, images: LabelledImages, options: FolderOptions
) -> Iterator[str]:
    assert one.write_folder is not None, "a format that is not a file"
    with scratch_folder() as scratch:
        draft = scratch / "preview"
        draft.mkdir()
        taken = _with_empty_files(images, scratch) if one.has_images else images
        one.write_folder(taken, draft, replace(options, placing=Placing.COPY))
        files = {
            path.relative_to(draft).as_posix(): path for path in draft.rglob("*") if path.is_file()
        }
        if one.has_images:
            yield from _tree(files)
        else:
            yield from _files_lines({name: files[name].read_bytes() for name in sorted(files)})


def _with_empty_files(images: LabelledImages, scratch: Path) -> LabelledImages:
    """Replace the files by empty ones; headers are read from the real files."""
    real: dict[Path, Path] = {}
    placeholders = []
    for image in images.images:
        file = scratch / str(image.image_id) / image.file.name
        file.parent.mkdir()
        write_file(file, b"")
        real[file] = image.file
        placeholders.append(replace(image, file=file))
    return replace(
        images,
        images=placeholders,
        facts_of=lambda image: images.facts_of(
            replace(image, file=real.get(image.file, image.file))
        ),
        crop_of=lambda _file, _part: b"",
    )


def _lines_of(content: bytes) -> Sequence[str]:
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return list(
                _files_lines({name: archive.read(name) for name in sorted(archive.namelist())})
            )
    return _text_lines(content)


def _files_lines(files: Mapping[str, bytes]) -> Iterator[str]:
    """Listing of files, then their first lines, tables first; of a series only the first."""
    tree = list(_tree(files))
    yield from tree
    series = Counter(PurePosixPath(name).suffix for name in files)
    seen: set[str] = set()
    inside = []
    for name in sorted(files, key=lambda name: (PurePosixPath(name).suffix != ".csv", name)):
        suffix = PurePosixPath(name).suffix
        if series[suffix] <= MOST_SERIES or suffix not in seen:
            inside.append(name)
        seen.add(suffix)
    room = max(1, (MOST_LINES - len(tree)) // max(1, len(inside)) - 2)
    for name in inside:
        yield ""
        yield f"{name}:"
        yield from islice(_text_lines(files[name]), room)


def _text_lines(content: bytes) -> list[str]:
    text = content.decode("utf-8", "replace")
    if text.count("\n") <= 1 and text.lstrip().startswith(("{", "[")):
        text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    return text.splitlines()


def _tree(names: Iterable[str]) -> Iterator[str]:
    """Indented listing of files in folders."""
    open_folders: tuple[str, ...] = ()
    for parts in sorted(
        (PurePosixPath(name).parts for name in names), key=lambda parts: (len(parts) == 1, parts)
    ):
        folders = parts[:-1]
        shared = len(
            list(
                takewhile(lambda pair: pair[0] == pair[1], zip(folders, open_folders, strict=False))
            )
        )
        for depth in range(shared, len(folders)):
            yield f"{_INDENT * depth}{folders[depth]}/"
        open_folders = folders
        yield f"{_INDENT * len(folders)}{parts[-1]}"


def _first(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == MOST_LINES:
            yield "…"
            return
        yield line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"

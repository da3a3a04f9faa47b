"""Class folders, Bird/Gull/photo.jpg, as torchvision's ImageFolder reads them; images in folders.

A class with several parents has one folder, on its first path. The export has two tables:
`images.csv` has all columns of the CSV format and each image's path in the folder, so that
annotators are not lost and predictions are not read as labels; `classes.csv` has all paths of the
classes.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from engine.errors import FormatError, ImageError, ProtoleafError, reason_of
from engine.file_parts import WHOLE_FILE, FilePart
from engine.files import FileFailure
from engine.full_disk import is_full
from engine.graph.category_graph import CategoryGraph
from engine.interchange.labelled_images import csv_table
from engine.interchange.labelled_images.box_formats import refuse_data_set_folders
from engine.interchange.labelled_images.foreign_labels import ForeignLabel, ForeignLabels
from engine.interchange.labelled_images.records import (
    CropOf,
    LabelledImage,
    LabelledImages,
    WrittenExport,
)
from engine.interchange.table_writer import write_table
from engine.interchange.text_file import files_below, words
from engine.new_file import ORDINARY_FILE, new_file, text_into
from engine.new_folder import Placing, place_file
from engine.texts import marked

BOXES_IN_FOLDERS = marked(
    "boxes: their pictures are included once for each class, or the boxes are cropped"
)
IMAGES_TABLE = "images.csv"
CLASSES_TABLE = "classes.csv"
_CLASS_COLUMNS = ("folder", "class", "path", "source_id", "other_paths")
NO_CLASS_REASON = marked("no class")
_NO_CLASS_FOLDER = "no class"
COARSE_REASON = marked("of a broader class")
_OURS = (
    IMAGES_TABLE,
    CLASSES_TABLE,
    *words("metadata.parquet metadata.jsonl metadata.csv labels.json"),
)
"""Names that no class folder gets: files of exports of this or another format."""
_REFUSED = re.compile(r'[<>:"/\\|?*\x00-\x1f]')  # by Windows and exFAT
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{name}{sign}" for name in ("com", "lpt") for sign in "0123456789¹²³"}
)
_NOT_LAST = ". "  # characters that Windows strips from the end of a name
_LONGEST_BYTES = 200
"""Bytes of a name: file systems allow 255, and a number may be added. Chosen."""
_LONGEST_PLACE_BYTES = 400
"""Bytes of a path in the export to which folders are added: macOS allows 1,024. Chosen."""


@dataclass(frozen=True)
class FolderOptions:
    """Options of a folder of images."""

    placing: Placing = Placing.COPY
    is_flat: bool = False  # class folders side by side, not nested; formats with one way ignore it
    has_coarse: bool = False  # whether coarse classes have flat folders, too
    has_crops: bool = False  # whether boxes are cropped to JPEGs; formats with boxes ignore it

    def is_cut_out(self, image: LabelledImage) -> bool:
        """Whether a new file is made of the image: a crop, a page or a frame."""
        return image.part.picture != WHOLE_FILE or (self.has_crops and image.part.box is not None)


def safe_name(name: str) -> str:
    """A name that all file systems allow: refused characters become "_"."""
    cleaned = _REFUSED.sub("_", name).rstrip(_NOT_LAST)
    cleaned = cleaned if cleaned.strip() else "_"
    if cleaned.startswith(".") or cleaned.split(".", 1)[0].rstrip().casefold() in _DEVICES:
        cleaned = "_" + cleaned  # hidden folders are ignored
    while len(os.fsencode(cleaned)) > _LONGEST_BYTES:
        stem, suffix = os.path.splitext(cleaned)  # noqa: PTH122 (a name, no path)
        cleaned = stem[:-1] + suffix if len(stem) > 1 else cleaned[:-1]
    return cleaned.rstrip(_NOT_LAST)


class FreeNames:
    """Makes names unique in each folder, ignoring case.

    Args:
        reserved: names of other files; see `reserve`.
        are_stems_free: whether stems are unique, too, unlike gull.jpg and gull.png.
    """

    def __init__(self, reserved: Iterable[str] = (), *, are_stems_free: bool = False) -> None:
        self._taken: set[str] = set()
        self._reserved = set(map(_compared, reserved))
        self._last: dict[str, int] = {}
        self._are_stems_free = are_stems_free

    def take(self, folder: str, name: str) -> str:
        """A path in the folder with the name, numbered if it is taken: "gull (2).jpg"."""
        stem, suffix = os.path.splitext(safe_name(name))  # noqa: PTH122
        path = f"{folder}/{stem}" if folder else stem
        seen = "" if self._are_stems_free else _compared(suffix)
        wanted = _compared(path) + seen
        number = self._last.get(wanted, 1)  # continue numbering, in constant time
        free = path if number == 1 else f"{path} ({number})"
        while _compared(free) + seen in self._taken or _compared(free + suffix) in self._reserved:
            number += 1
            free = f"{path} ({number})"
        self._last[wanted] = number
        self._taken.add(_compared(free) + seen)
        return free + suffix

    def reserve(self, path: str) -> None:
        """Reserve a path and those of its parent folders."""
        parts = path.split("/")
        self._reserved.update(
            _compared("/".join(parts[:length])) for length in range(1, len(parts) + 1)
        )


def _compared(path: str) -> str:
    """A path as file systems compare it, ignoring case and Unicode normalization."""
    return unicodedata.normalize("NFC", path).casefold()


def nested_folders(images: LabelledImages) -> dict[int, str]:
    """A folder for each used class, nested along its first path.

    A branch that is too deep for file systems continues at the top.
    """
    free, known = FreeNames(_OURS), dict[int, str]()
    for used in images.used_classes:
        above = ""
        for class_id in images.graph.paths(used)[0]:
            if class_id not in known:
                place = above if len(os.fsencode(above)) <= _LONGEST_PLACE_BYTES else ""
                known[class_id] = free.take(place, images.graph.name(class_id))
            above = known[class_id]
    return {class_id: known[class_id] for class_id in images.used_classes}


def flat_folders(images: LabelledImages, options: FolderOptions) -> dict[int, str]:
    """A folder for each of `leaf_classes`; ambiguous names are preceded by their parent's."""
    class_ids = leaf_classes(images, options)
    names = [images.graph.name(each) for each in class_ids]
    free = FreeNames(_OURS)
    called = Counter(names)
    return {
        class_id: free.take(
            "", name if called[name] == 1 else " - ".join(images.paths(class_id)[0][-2:])
        )
        for class_id, name in zip(class_ids, names, strict=True)
    }


def coarse_classes(graph: CategoryGraph, class_ids: Collection[int]) -> frozenset[int]:
    """Those of some classes that are ancestors of others."""
    above = frozenset[int]().union(*(graph.ancestors(each) for each in class_ids))
    return above & frozenset(class_ids)


def leaf_classes(images: LabelledImages, options: FolderOptions) -> list[int]:
    """The used classes without coarse ones, which trainers take for independent classes.

    With `has_coarse` all of them.
    """
    used = images.used_classes
    coarse = frozenset() if options.has_coarse else coarse_classes(images.graph, used)
    return [each for each in used if each not in coarse]


def place_images(
    images: LabelledImages,
    draft: Path,
    folder_of: Callable[[LabelledImage], str | None],
    options: FolderOptions,
    names: FreeNames | None = None,
) -> tuple[WrittenExport, dict[int, str]]:
    """Place images in folders.

    Args:
        images: the collection.
        draft: the folder that is filled.
        folder_of: path of an image's folder; None skips an image without a class, or a coarse one.
        options: how images are placed; a picture of several images is placed once per folder,
            unless they are cropped.
        names: makes the names of the files.

    Returns:
        The result, and each image's path below `draft` by image id. A file that cannot be read is
        a failure; a full disk is an error.
    """
    free, placed = names or FreeNames(), dict[int, str]()
    for folder in {folder_of(image) for image in images.images}:
        free.reserve(folder or "")
    failures: list[FileFailure] = []
    without: list[str] = []
    picture = "", WHOLE_FILE  # the current one
    of_picture: dict[str, str] = {}  # its path by folder
    for image in images.each():
        if (image.path, image.part.picture) != picture:
            picture, of_picture = (image.path, image.part.picture), {}
        if (folder := folder_of(image)) is None:
            without.append(NO_CLASS_REASON if image.class_id is None else COARSE_REASON)
            continue
        is_crop = options.has_crops and image.part.box is not None
        if not is_crop and image.part != image.part.picture and folder in of_picture:
            placed[image.image_id] = of_picture[folder]
            continue
        name = free.take(folder, _name_in_folder(image, options))
        crop_of = images.crop_of if options.is_cut_out(image) else None
        part = image.part if is_crop else image.part.picture
        if reason := _placed(image, draft / name, options.placing, crop_of, part):
            failures.append(FileFailure(image.file, reason))
            continue
        placed[image.image_id] = name
        if not is_crop:
            of_picture[folder] = name
    return WrittenExport(len(placed), dict(Counter(without)), tuple(failures)), placed


def place_all(
    images: LabelledImages,
    draft: Path,
    top: str,
    folders: Mapping[int, str],
    options: FolderOptions,
    *,
    names: FreeNames | None = None,
) -> tuple[WrittenExport, dict[int, str]]:
    """Place all pictures in folders of one folder, those without a class in a separate one.

    A picture of several images is in the folder of the first.
    """
    of_picture: dict[str, str] = {}

    def folder_of(image: LabelledImage) -> str:
        own = f"{top}/{_NO_CLASS_FOLDER if image.class_id is None else folders[image.class_id]}"
        return of_picture.setdefault(image.path, own)

    (draft / top).mkdir()
    return place_images(images, draft, folder_of, options, names)


@contextmanager
def file_in(draft: Path, name: str) -> Iterator[BinaryIO]:
    """Write a file of a draft."""
    with new_file(draft / name, replace=False, mode=ORDINARY_FILE, durable=False) as made:
        yield made.file


def write_tables(
    images: LabelledImages,
    draft: Path,
    placed: Mapping[int, str],
    folders: Mapping[int, str],
    options: FolderOptions | None = None,
) -> None:
    """Write `images.csv` and `classes.csv`.

    Args:
        images: the collection.
        draft: the folder.
        placed: path of each image by image id.
        folders: of the classes, by id.
        options: see `FolderOptions.is_cut_out`.
    """
    with file_in(draft, IMAGES_TABLE) as table:
        is_cut_out = (options or FolderOptions()).is_cut_out
        cut_out = frozenset(image.image_id for image in images.images if is_cut_out(image))
        csv_table.write_placed(images, table, placed, cut_out)
    with file_in(draft, CLASSES_TABLE) as file, text_into(file, errors="surrogateescape") as text:
        write_table(text, _CLASS_COLUMNS, (_class_row(images, *each) for each in folders.items()))


def _class_row(images: LabelledImages, class_id: int, folder: str) -> tuple[str, ...]:
    first, *others = images.path_texts(class_id)
    graph = images.graph
    return (
        folder,
        graph.name(class_id),
        first,
        graph.attributes(class_id).source_id,
        csv_table.SEVERAL.join(others),
    )


def read_table(folder: Path) -> ForeignLabels | None:
    """Read the folder's `images.csv`; None if it has none of ours."""
    table = folder / IMAGES_TABLE
    return csv_table.read(table) if table.is_file() and csv_table.fits(table) else None


def each_file(folder: Path) -> Iterator[tuple[PurePosixPath, Path]]:
    """Files in a folder and below that may be images: relative path and file."""
    for file in files_below(folder):
        if not file.name.startswith(".") and file.suffix.casefold() not in _NO_IMAGES:
            yield PurePosixPath(file.relative_to(folder).as_posix()), file


_NO_IMAGES = frozenset(words(".csv .tsv .txt .json .jsonl .xml .yaml .yml .md .xmp .ini .db"))


def _name_in_folder(image: LabelledImage, options: FolderOptions) -> str:
    """The file's name; of a crop with page, time, and box in thousandths of the sides."""
    if not options.is_cut_out(image):
        return image.file.name
    page, seconds, box, _ = image.part
    names = [image.file.stem]
    names += [] if page is None else [f"p{page}"]
    names += [] if seconds is None else [f"{seconds:g}s"]
    if options.has_crops and box is not None:
        names.append("-".join(str(round(share * 1000)) for share in box))
    return f"{' '.join(names)}.jpg"


def _placed(
    image: LabelledImage, target: Path, placing: Placing, crop_of: CropOf | None, part: FilePart
) -> str:
    """Place an image; the reason of a failure, or ""."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if crop_of is None:
            place_file(image.file, target, placing)
        else:
            with file_in(target.parent, target.name) as file:
                file.write(crop_of(image.file, part))
    except ImageError as error:
        return reason_of(error)
    except ProtoleafError:
        raise
    except OSError as error:
        target.unlink(missing_ok=True)
        if is_full(target, error):
            raise
        return reason_of(error)
    return ""


def write(images: LabelledImages, draft: Path, options: FolderOptions) -> WrittenExport:
    """Place the images in folders of their classes, and write both tables."""
    folders = flat_folders(images, options) if options.is_flat else nested_folders(images)
    written, placed = place_images(
        images, draft, lambda image: folders.get(image.class_id or 0), options
    )
    write_tables(images, draft, placed, folders, options)
    return written


def read(source: Path) -> ForeignLabels:
    """Read the labels of our table, else of the folders' names; other images have none."""
    return read_folders(
        source, (), marked("folders that are named like classes, with images in them")
    )


def read_folders(source: Path, parts: Collection[str], expected: str) -> ForeignLabels:
    """Read the labels of our table, or of folders.

    Args:
        source: the folder.
        parts: top folders, such as train, that hold the class folders; () for the source itself.
        expected: what is missing in a folder without labels.

    Raises:
        FormatError: there are no labels.
    """
    if (ours := read_table(source)) is not None:
        return ours
    files = [
        (path, file) for path, file in each_file(source) if not parts or path.parts[0] in parts
    ]
    named = [(path, path.parts[bool(parts) : -1], file) for path, file in files]
    refuse_data_set_folders(source.name, (name for _, names, _ in named for name in names))
    labels = tuple(
        ForeignLabel(str(path), names, file=file) for path, names, file in named if names
    )
    if not labels:
        raise FormatError(
            "{source} has no class folders",
            expected=expected,
            remedy="choose the folder around them",
            source=source.name,
        )
    return ForeignLabels(labels, len(named) - len(labels))


def fits(source: Path) -> bool:
    """Whether a folder has files in folders, or our table; checked after all other formats."""
    return source.is_dir() and (
        any(len(path.parts) > 1 for path, _ in each_file(source))
        or csv_table.fits(source / IMAGES_TABLE)
    )

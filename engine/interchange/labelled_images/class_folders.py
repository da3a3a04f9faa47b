"""Class folders: Bird/Gull/photo.jpg, as torchvision's ImageFolder and most trainers read them; and images in folders.

A class with several parents has one folder, on its first path. Beside the images are two tables. `images.csv` has every
column of the CSV format and each image's path in the folder, so that annotators are not lost and the model's
predictions never come back as a person's. `classes.csv` has the classes with all their paths.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

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
from engine.interchange.text_file import words
from engine.new_file import ORDINARY_FILE, new_file, text_into
from engine.new_folder import Placing, place_file
from engine.texts import marked

IMAGES_TABLE: Final = "images.csv"
CLASSES_TABLE: Final = "classes.csv"
_CLASS_COLUMNS: Final = ("folder", "class", "path", "source_id", "other_paths")
NO_CLASS_REASON: Final = marked("no class")
_NO_CLASS_FOLDER: Final = "no class"
COARSE_REASON: Final = marked("of a broader class")
_OURS: Final = (
    IMAGES_TABLE, CLASSES_TABLE, "metadata.parquet", "metadata.jsonl", "metadata.csv", "labels.json",
)  # fmt: skip
"""Names that no folder of a class gets: files of an export, or of others that a reader looks for beside it."""
_REFUSED: Final = re.compile(
    r'[<>:"/\\|?*\x00-\x1f]'
)  # by Windows and by exFAT, which sticks are formatted with
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{name}{sign}" for name in ("com", "lpt") for sign in "0123456789¹²³"}
)
_NOT_LAST: Final = ". "  # signs that Windows takes away from the end of a name
_LONGEST_BYTES: Final = 200
"""Bytes of a folder's or file's name: file systems take 255, and a number may be added. Chosen."""
_LONGEST_PLACE_BYTES: Final = 400
"""Bytes of a path in the export, beyond which nothing is put below it: macOS takes 1,024 in all. Chosen."""


@dataclass(frozen=True)
class FolderOptions:
    """Options of a folder of images."""

    placing: Placing = Placing.COPY  # how the images come into it
    is_flat: bool = False
    """One folder for each class beside one another, instead of folders within folders; formats that know one way only
    pass it over."""
    has_coarse: bool = False
    """Whether folders beside one another are also made for classes above others, which trainers take for one more class
    each."""
    has_crops: bool = False
    """Whether a box is cut out of its picture, as a JPEG; formats that carry boxes pass it over."""

    def is_cut_out(self, image: LabelledImage) -> bool:
        """Whether what lies in the folder is made of an image's file: a crop, a page or a moment of a video."""
        return image.part.picture != WHOLE_FILE or (self.has_crops and image.part.box is not None)


def safe_name(name: str) -> str:
    """A name that every file system takes: refused characters become "_"."""
    cleaned = _REFUSED.sub("_", name).rstrip(_NOT_LAST)
    cleaned = cleaned if cleaned.strip() else "_"
    if cleaned.startswith(".") or cleaned.split(".", 1)[0].rstrip().casefold() in _DEVICES:
        cleaned = "_" + cleaned  # hidden folders are no classes to trainers
    while len(os.fsencode(cleaned)) > _LONGEST_BYTES:
        stem, suffix = os.path.splitext(cleaned)  # noqa: PTH122 (a name, no path)
        cleaned = stem[:-1] + suffix if len(stem) > 1 else cleaned[:-1]
    return cleaned.rstrip(_NOT_LAST)


class FreeNames:
    """Names that are unique in each folder, whatever their case.

    Args:
        kept: names that are reserved; see `keep`.
        are_stems_free: whether a name is also taken by one with another suffix, as gull.jpg and gull.png.
    """

    def __init__(self, kept: Iterable[str] = (), *, are_stems_free: bool = False) -> None:
        self._taken: set[str] = set()
        self._kept = set(map(_compared, kept))
        self._last: dict[str, int] = {}
        self._are_stems_free = are_stems_free

    def take(self, folder: str, name: str) -> str:
        """The name, with a number where the folder has it: "gull (2).jpg"; as a path with "/" below the folder."""
        stem, suffix = os.path.splitext(safe_name(name))  # noqa: PTH122
        path = f"{folder}/{stem}" if folder else stem
        seen = "" if self._are_stems_free else _compared(suffix)
        wanted = _compared(path) + seen
        number = self._last.get(
            wanted, 1
        )  # thousands of one name are numbered without asking for each number again
        free = path if number == 1 else f"{path} ({number})"
        while _compared(free) + seen in self._taken or _compared(free + suffix) in self._kept:
            number += 1
            free = f"{path} ({number})"
        self._last[wanted] = number
        self._taken.add(_compared(free) + seen)
        return free + suffix

    def keep(self, path: str) -> None:
        """Reserve a path, and those of the folders around it."""
        parts = path.split("/")
        self._kept.update(
            _compared("/".join(parts[:length])) for length in range(1, len(parts) + 1)
        )


def _compared(path: str) -> str:
    """A path as file systems compare it that ignore case and the normal form of accents."""
    return unicodedata.normalize("NFC", path).casefold()


def nested_folders(images: LabelledImages) -> dict[int, str]:
    """A folder for each used class, within those of the classes above on its first path.

    A branch that is too deep for the names of file systems goes on beside those at the top.
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
    """A folder for each used class, all beside one another; namesakes get their parent's name before.

    Classes above others have none unless `has_coarse`.
    """
    coarse = (
        frozenset[int]()
        if options.has_coarse
        else coarse_classes(images.graph, images.used_classes)
    )
    class_ids = [each for each in images.used_classes if each not in coarse]
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
    """Those of some classes that lie above others of them."""
    above = frozenset[int]().union(*(graph.ancestors(each) for each in class_ids))
    return above & frozenset(class_ids)


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
        folder_of: of an image, with "/" between names; None where it has no place: it has no class, or a coarse one.
        options: how they are placed; a picture of several images lies once in a folder, unless they are cut out.
        names: that the files may have.

    Returns:
        The result, and each image's path below `draft` by image id. A file that cannot be read is a failure and stays
        out; a full disk is an error.
    """
    free, placed = names or FreeNames(), dict[int, str]()
    for folder in {folder_of(image) for image in images.images}:
        free.keep(folder or "")
    failures: list[FileFailure] = []
    without: list[str] = []
    picture = "", WHOLE_FILE  # at hand
    of_picture: dict[str, str] = {}  # where it was placed, by folder
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
    """Place all pictures below one folder of the draft, those without a class in a folder of their own.

    A picture of several images lies in the folder of the first.
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
    """Write `images.csv` and `classes.csv`, with the paths of images by image id and the folders of classes."""
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
    """The labels in the folder's `images.csv`; None where it has none of ours."""
    table = folder / IMAGES_TABLE
    return csv_table.read(table) if table.is_file() and csv_table.fits(table) else None


def each_file(folder: Path) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files that may be images in a folder and those below it: their paths within, and where they are."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and path.suffix.casefold() not in _NO_IMAGES:
                yield PurePosixPath(path.relative_to(folder).as_posix()), path


_NO_IMAGES: Final = frozenset(
    words(".csv .tsv .txt .json .jsonl .xml .yaml .yml .md .xmp .ini .db")
)


def _name_in_folder(image: LabelledImage, options: FolderOptions) -> str:
    """The file's name; of what is cut out with page, time, and where it lies in thousandths of the picture's sides."""
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
    """Place one; the reason why it could not be, or ""."""
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
    """Place the images in folders of their classes, with both tables beside them."""
    folders = flat_folders(images, options) if options.is_flat else nested_folders(images)
    written, placed = place_images(
        images, draft, lambda image: folders.get(image.class_id or 0), options
    )
    write_tables(images, draft, placed, folders, options)
    return written


def read(source: Path) -> ForeignLabels:
    """Read the labels of our table, or else of the folders' names; images outside of any folder have none."""
    found = read_folders(source)
    if found is None:
        raise FormatError(
            "{source} has no class folders",
            expected="folders that are named like classes, with images in them",
            remedy="choose the folder around them",
            source=source.name,
        )
    return found


def read_folders(source: Path, parts: Collection[str] = ()) -> ForeignLabels | None:
    """The labels of our table, or of the folders' names, below those of these parts, if any; None without labels."""
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
    return ForeignLabels(labels, len(named) - len(labels)) if labels else None


def fits(source: Path) -> bool:
    """Whether it is a folder with files in folders; tested last, for many formats are such folders."""
    return source.is_dir() and any(len(path.parts) > 1 for path, _ in each_file(source))

"""YOLO detection as Ultralytics reads it: images/train/a.jpg, labels/train/a.txt and data.yaml.

A row of a text is the number of the class, then the box's centre, width and height as shares, or
the corners of a polygon, which counts as its bounding box. Our exports have the tables of
`class_folders`, too: with the annotators, and the boxes without a label. They are used for rows
that no other program changed or removed.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath

from engine.errors import FormatError
from engine.file_parts import BoundingBox, FilePart
from engine.graph.names import join_path
from engine.interchange import limits
from engine.interchange.labelled_images import class_folders
from engine.interchange.labelled_images.box_formats import (
    YOLO,
    files_of,
    is_yolo_settings,
    is_yolo_text,
)
from engine.interchange.labelled_images.class_labels import (
    ClassLabels,
    are_detector_categories,
    detected_box,
    is_near,
)
from engine.interchange.labelled_images.foreign_boxes import (
    ImageFinder,
    bounds,
    numbers,
    part_of_shares,
)
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
)
from engine.interchange.labelled_images.records import (
    LabelledImage,
    LabelledImages,
    WrittenExport,
    by_picture,
)
from engine.interchange.labelled_images.yolo import TRAIN, VALIDATION, validation_ids
from engine.interchange.text_file import head_of, read_text
from engine.texts import Message

CANNOT_CARRY = (
    "images and boxes without a class are left out, and listed in a table",
    "the label of a whole image becomes a box around it",
    "the hierarchy is flattened; full paths are kept in a table",
)
DATA = "data.yaml"
_WHOLE = BoundingBox(0, 0, 1, 1)
_NAME_LISTS = ("classes.txt", "obj.names", "labels.txt", "predefined_classes.txt")
_BOX_NUMBERS = 5  # of a row: the class, and four of the box
_SCORED = 6  # with the score of a detector
_PARENTS = 4  # folders above a text that are searched for class names. Chosen.
_LISTED = re.compile(r"^names\s*:\s*(\[.*?\])", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^\s*(?:-|(\d+)\s*:)\s+(.+?)\s*$")
_NAME = re.compile(r"\s*(?:'((?:[^']|'')*)'|\"((?:[^\"\\]|\\.)*)\"|([^,]*?))\s*(?:,|$)")
_SHORT_CODE = re.compile(r"(?<!\\)((?:\\\\)*)\\x(?=[0-9A-Fa-f]{2})")
"""Escape of YAML for letters up to U+00FF; JSON has only `_LONG_CODE`."""
_LONG_CODE = r"\1\\u00"


def write(
    images: LabelledImages, draft: Path, options: class_folders.FolderOptions
) -> WrittenExport:
    """Place pictures that have boxes with a class or are empty, with a text of boxes for each."""
    labels, classes = ClassLabels(images), _classes(images, options)
    pictures = [
        items
        for items in by_picture(images.images)
        if any(_is_written(each, classes) for each in items)
    ]
    firsts = [_first(items, classes) for items in pictures]
    validation = set(validation_ids(firsts))

    def folder_of(image: LabelledImage) -> str:
        return f"images/{VALIDATION if image.image_id in validation else TRAIN}"

    for part in (TRAIN, VALIDATION):
        (draft / "images" / part).mkdir(parents=True)
        (draft / "labels" / part).mkdir(parents=True)
    names = class_folders.FreeNames(are_stems_free=True)
    written, placed = class_folders.place_images(
        replace(images, images=firsts), draft, folder_of, replace(options, has_crops=False), names
    )
    for _ in range(len(images.images) - len(firsts)):
        images.on_image()
    for first, items in zip(firsts, pictures, strict=True):
        if (place := placed.get(first.image_id)) is not None:
            rows = [_row(each, classes) for each in items if each.class_id in classes]
            _write_text(draft / _text_of(place), "".join(rows))
            placed |= {each.image_id: place for each in items}
    _write_text(draft / DATA, _description([labels.of_class(each) for each in classes]))
    class_folders.write_tables(
        images, draft, placed, {each: labels.of_class(each) for each in classes}
    )
    count = sum(each.image_id in placed and _is_written(each, classes) for each in images.images)
    return WrittenExport(count, _left_out(images, classes), written.failures)


def read(source: Path) -> ForeignLabels:
    """Read a folder, its data.yaml, or one text of boxes."""
    root = source if source.is_dir() else source.parent
    own = class_folders.read_table(root) if source.is_dir() or source.name == DATA else None
    names = _names_of(source, may_be_none=own is not None)
    reading = _Reading(names, ImageFinder(root), _by_file(() if own is None else own.labels))
    texts = [source] if source.suffix.casefold() == ".txt" else sorted(root.rglob("*.txt"))
    found = sum(reading.is_read(source, text) for text in texts)
    if not found and own is None:
        raise FormatError(
            "{source} has no YOLO boxes",
            expected="text files of numbers in labels, next to images",
            source=source.name,
        )
    return reading.collected()


def _classes(images: LabelledImages, options: class_folders.FolderOptions) -> dict[int, int]:
    """Numbers of the written classes; without coarse ones, which would be classes of their own."""
    class_ids = class_folders.leaf_classes(images, options)
    return {class_id: number for number, class_id in enumerate(class_ids)}


def _is_written(image: LabelledImage, classes: Mapping[int, int]) -> bool:
    return image.is_empty or image.class_id in classes


def _first(items: Sequence[LabelledImage], classes: Mapping[int, int]) -> LabelledImage:
    """The first written image of a picture."""
    return next(each for each in items if _is_written(each, classes))


def _left_out(images: LabelledImages, classes: Mapping[int, int]) -> dict[str, int]:
    left = (each for each in images.images if not _is_written(each, classes))
    reasons = (
        class_folders.NO_CLASS_REASON if each.class_id is None else class_folders.COARSE_REASON
        for each in left
    )
    return dict(Counter(reasons))


def _row(image: LabelledImage, classes: Mapping[int, int]) -> str:
    assert image.class_id is not None, "only such are written"
    left, top, width, height = image.part.box or _WHOLE
    numbers_of = (left + width / 2, top + height / 2, width, height)
    return f"{classes[image.class_id]} {' '.join(f'{each:.8f}' for each in numbers_of)}\n"


def _text_of(place: str) -> str:
    """Path of the text of boxes for a picture at `images/train/a.jpg`."""
    return str(PurePosixPath("labels", *PurePosixPath(place).parts[1:]).with_suffix(".txt"))


def _write_text(file: Path, text: str) -> None:
    with class_folders.file_in(file.parent, file.name) as opened:
        opened.write(text.encode())


def _description(names: Iterable[str]) -> str:
    listed = "".join(f"  {number}: {json.dumps(name)}\n" for number, name in enumerate(names))
    return f"train: images/{TRAIN}\nval: images/{VALIDATION}\nnames:\n{listed}"


def _by_file(labels: Iterable[ForeignLabel]) -> dict[str, list[ForeignLabel]]:
    found = defaultdict[str, list[ForeignLabel]](list)
    for label in labels:
        found[str(label.file)].append(label)
    return found


class _Reading:
    """Collects the boxes of a data set.

    Args:
        names: of the classes, by number.
        images: finds the images of texts.
        own: labels of our table, by file.
    """

    def __init__(
        self, names: Mapping[int, str], images: ImageFinder, own: Mapping[str, list[ForeignLabel]]
    ) -> None:
        self._names = names
        self._images = images
        self._own = own
        self._are_of_detectors = are_detector_categories(names.values())
        self._collector = LabelCollector()
        self._texts_read: set[str] = set()

    def is_read(self, source: Path, text: Path) -> bool:
        """Read a text, and return whether it is one of boxes."""
        limits.RECORDS.check(len(self._collector.labels), source.name)
        if text.name in _NAME_LISTS:
            return False
        image, file = self._images.find(text)
        if not is_yolo_text(head_of(text).decode("utf-8", "replace")) and not file.is_file():
            return False
        with self._collector.file_of(source, text):
            self._read_rows(
                [line.split() for line in read_text(text).splitlines() if line.strip()], image, file
            )
        return True

    def _read_rows(self, rows: list[list[str]], image: str, file: Path) -> None:
        own = list(self._own.get(str(file), ()))
        self._texts_read.add(str(file))
        self._collector.unlabelled += not rows and not own
        for row in rows:
            self._collector.add(image, self._labels(row, image, file, own))
        self._collector.labels += [each for each in own if not self._has_place(each)]

    def collected(self) -> ForeignLabels:
        rest = (labels for file, labels in self._own.items() if file not in self._texts_read)
        self._collector.labels += (label for labels in rest for label in labels)
        return self._collector.collected()

    def _labels(
        self, row: list[str], image: str, file: Path, own: list[ForeignLabel]
    ) -> Iterator[ForeignLabel]:
        number, *values = numbers(row)
        name = self._names.get(int(number)) if number.is_integer() else None
        if name is None:
            raise ValueError(Message("no class has the number {number}", {"number": row[0]}))
        score = values[_BOX_NUMBERS - 1] if len(row) == _SCORED else None
        part = _part(values)
        for label in own:
            if _is_called(label, name) and _is_same_box(label.part, part):
                own.remove(label)
                yield label
                return
        if self._are_of_detectors:
            yield detected_box(image, part, file=file, category=name, score=score)
            return
        yield ForeignLabel(
            image, (name,), file=file, part=part, is_machine=score is not None, score=score
        )

    def _has_place(self, label: ForeignLabel) -> bool:
        """Whether a label of ours has a row in its text."""
        return any(_is_called(label, name) for name in self._names.values())


def _is_called(label: ForeignLabel, name: str) -> bool:
    return bool(label.names) and name in {label.names[-1], join_path(label.names)}


def _is_same_box(own: FilePart, part: FilePart) -> bool:
    if own.box is None or part.box is None:
        return own.box is part.box
    return is_near(own.box, part.box)


def _part(values: Sequence[float]) -> FilePart:
    if len(values) in (_BOX_NUMBERS - 1, _SCORED - 1):
        x, y, width, height = values[: _BOX_NUMBERS - 1]
        return part_of_shares((x - width / 2, y - height / 2, width, height))
    if len(values) % 2:
        raise ValueError(
            Message(
                "a polygon has two numbers for each corner, not {count}", {"count": len(values)}
            )
        )
    return part_of_shares(bounds(list(zip(values[::2], values[1::2], strict=True))))


def _names_of(source: Path, *, may_be_none: bool) -> dict[int, str]:
    """Names of the classes, by number.

    Args:
        may_be_none: whether an empty list is valid, as in an export of empty images.

    Raises:
        FormatError: there are none.
    """
    if source.is_file() and source.suffix.casefold() in {".yaml", ".yml"}:
        places: list[Path] = [source]
    elif source.is_dir():
        places = [*_described(files_of(source, YOLO)), *_lists_in(source.rglob)]
    else:
        above = list(islice(source.parents, _PARENTS))
        places = [
            each
            for folder in above
            for each in (*_described(folder.glob("*.y*ml")), *_lists_in(folder.glob))
        ]
    for place in places:
        text = read_text(place)
        names = _names_in(text) if place.suffix.casefold() in {".yaml", ".yml"} else _lines(text)
        if names:
            return names
    if may_be_none:
        return {}
    raise FormatError(
        "{source} has YOLO boxes without class names",
        expected="names in data.yaml, or classes.txt next to the boxes",
        source=source.name,
    )


def _described(files: Iterable[Path]) -> list[Path]:
    yamls = (each for each in files if each.suffix.casefold() in {".yaml", ".yml"})
    return [each for each in yamls if is_yolo_settings(head_of(each).decode("utf-8", "replace"))]


def _lists_in(glob: Callable[[str], Iterable[Path]]) -> list[Path]:
    return [
        *(each for name in _NAME_LISTS for each in sorted(glob(name))),
        *sorted(glob("*.names")),
    ]


def _lines(text: str) -> dict[int, str]:
    return dict(enumerate(line.strip() for line in text.splitlines() if line.strip()))


def _names_in(text: str) -> dict[int, str]:
    """Names in data.yaml: a list in brackets or with dashes, or a mapping of numbers."""
    if listed := _LISTED.search(text):
        return dict(
            enumerate(_plain(each) for each in _NAME.finditer(listed[1][1:-1]) if each[0].strip())
        )
    names: dict[int, str] = {}
    below = re.split(r"^names\s*:[^\n]*\n", text, maxsplit=1, flags=re.MULTILINE)
    for line in below[1].splitlines() if len(below) > 1 else ():
        item = _ITEM.match(line)
        if item is None and line.strip() and not line.lstrip().startswith("#"):
            break
        if item is not None:
            name = _NAME.match(item[2])
            names[len(names) if item[1] is None else int(item[1])] = (
                _plain(name) if name else item[2]
            )
    return names


def _plain(found: re.Match[str]) -> str:
    """Unquote a scalar of YAML."""
    single, double, plain = found.groups()
    if single is not None:
        return str(single).replace("''", "'")
    if double is not None:
        with suppress(ValueError):
            return str(json.loads(f'"{_SHORT_CODE.sub(_LONG_CODE, double)}"'))
        return str(double)
    return str(plain).strip()

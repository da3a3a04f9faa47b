"""Rows of labelled images: the columns that CSV, JSON lines and Parquet share; labels from rows.

The column `class` is the class of the image by a person or by the model, as `decided_by` states.
The most likely leaf and the safe class are the model's, for labelled images, too.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from engine.file_parts import WHOLE, file_part
from engine.graph.names import SEPARATOR, loose_name, split_path
from engine.interchange.labelled_images.foreign_labels import ForeignLabel, distinct_keywords
from engine.interchange.labelled_images.records import (
    GivenNote,
    LabelledImage,
    LabelledImages,
    ModelAnswer,
)
from engine.interchange.predictions_file import UNKNOWN_NAME
from engine.interchange.text_file import words
from engine.texts import Message

Value = str | float | int | bool | datetime | Sequence[str] | Mapping[str, str] | None
Row = dict[str, Value]

PERSON = "person"
MODEL = "model"
LABEL_COLUMNS = words(
    "image class path all_paths source_id decided_by labelled_by labelled_at label_source "
    "stars flagged comment score leaf leaf_path leaf_score safe_class safe_path safe_score "
    "is_unknown model setting exported_at sequence part box_left box_top box_width box_height "
    "category detection_score is_empty count fields content_hash file"
)
"""Columns of the tables in folders; `evaluate --truth` reads `image`, `class` and `path`."""
COLUMNS = (*LABEL_COLUMNS, "taken_at", "camera", "serial", "latitude", "longitude")
"""Columns of single tables: with metadata of the photo."""
KINDS = {
    column: kind
    for kind, columns in {
        "float": (
            "latitude longitude score leaf_score safe_score "
            "box_left box_top box_width box_height detection_score"
        ),
        "flag": "is_unknown flagged is_empty",
        "time": "labelled_at exported_at",
        "whole": "stars count",
        "texts": "all_paths",
    }.items()
    for column in columns.split()
}
"""Types of the columns that are not texts."""
PLACED = "placed"  # additional column of tables in folders: path in the folder
CANNOT_CARRY = (
    "classes without images and notes of classes are not included: export the class graph as well",
    (
        "of predictions, the most likely and the confident class are included, "
        "not the score of every class"
    ),
)
NONE_LABEL = "none of the classes"
"""Label of an image of none of the classes, in tools that have nothing else than labels."""
EMPTY_LABEL = "blank"
"""Label of an empty image, as in standards for camera traps."""
EMPTY_NAMES = frozenset({EMPTY_LABEL, "blanks", "empty", "nothing"})
"""Names of empty images where no class has the name; case is ignored."""
ITEM_COLUMNS = frozenset({"part", "category", "detection_score", "is_empty", "count", "fields"})
"""Columns of our own tables that are read of a part of a file, besides its label."""
NONE_NAMES = frozenset({UNKNOWN_NAME, NONE_LABEL})
"""Names for none of the classes where no class has the name; case is ignored."""
ORIGINAL = "original_path"  # the column `image` where a program uses that name itself
_SHOWN = 40  # characters
YES = frozenset({"true", "yes", "1"})
OTHER_NAMES = "other_names"  # field: fallback names of the class, one per line
KEYWORDS = "keywords"  # field: keywords of a photo, one path per line
NOTE_COLUMNS = ("stars", "flagged", "comment")
MOST_STARS = 5
_BOX_COLUMNS = words("box_left box_top box_width box_height")
_LEAF_COLUMNS = words("leaf leaf_path leaf_score")
_SAFE_COLUMNS = words("safe_class safe_path safe_score")
_NO_NOTE = GivenNote(0, False, "")


def rows(images: LabelledImages) -> Iterator[Row]:
    """Rows with every column; None and () are empty cells."""
    for image in images.each():
        facts = images.facts_of(image)
        yield {
            **row_of(images, image),
            "taken_at": facts.date_text or None,
            "camera": facts.camera or None,
            "serial": facts.serial or None,
            "latitude": facts.latitude,
            "longitude": facts.longitude,
        }


def row_of(images: LabelledImages, image: LabelledImage) -> Row:
    """The row of an image, without the columns of its metadata."""
    label, class_id, note = image.label, image.class_id, image.note or _NO_NOTE
    who, when, source = None, None, None
    if label:
        who, when, source = label.who, label.when.astimezone(UTC), label.source
    is_answered = class_id is not None or image.is_of_none
    return {
        "image": image.path,
        **_class_cells(images, image),
        "decided_by": PERSON if label else MODEL if is_answered else None,
        "labelled_by": who,
        "labelled_at": when,
        "label_source": source,
        "stars": note.stars or None,
        "flagged": note.is_flagged,
        "comment": note.comment or None,
        "score": image.score,
        **_answer_cells(images, image.answer),
        "is_unknown": image.is_of_none,
        "model": images.model or None,
        "setting": images.setting if image.answer else None,
        "exported_at": images.made_at.astimezone(UTC),
        "sequence": image.sequence or None,
        **_item_cells(image),
        "content_hash": image.content_hash or None,
        "file": str(image.file),
    }


def _class_cells(images: LabelledImages, image: LabelledImage) -> Row:
    class_id = image.class_id
    if class_id is None:
        name = EMPTY_LABEL if image.is_empty else UNKNOWN_NAME if image.is_of_none else None
        return {"class": name, "path": None, "all_paths": (), "source_id": None}
    return {
        "class": images.graph.name(class_id),
        "path": images.path_text(class_id),
        "all_paths": images.path_texts(class_id),
        "source_id": images.graph.attributes(class_id).source_id or None,
    }


def _item_cells(image: LabelledImage) -> Row:
    return {
        "part": image.part.text or None,
        **dict(zip(_BOX_COLUMNS, image.part.box or (None,) * 4, strict=True)),
        "category": image.category or None,
        "detection_score": image.detection_score,
        "is_empty": image.is_empty,
        "count": image.count,
        "fields": dict(image.fields) or None,
    }


def _answer_cells(images: LabelledImages, answer: ModelAnswer | None) -> Row:
    def cells(columns: Sequence[str], class_id: int | None, score: float) -> Row:
        if class_id is None:
            return dict.fromkeys(columns)
        values = images.graph.name(class_id), images.path_text(class_id), score
        return dict(zip(columns, values, strict=True))

    if answer is None:
        return dict.fromkeys((*_LEAF_COLUMNS, *_SAFE_COLUMNS))
    return {
        **cells(_LEAF_COLUMNS, answer.leaf_id, answer.leaf_score),
        **cells(_SAFE_COLUMNS, answer.safe_id, answer.safe_score),
    }


def label_in(row: Mapping[str, str], folder: Path) -> ForeignLabel | None:
    """The label in a row; None if it names no image, or neither a class nor a box.

    Args:
        row: texts by our column names; all but `image` and `class` may be missing.
        folder: base of relative paths.

    Raises:
        ValueError: `labelled_at` is not a time, or a number is invalid.
        InputError: `part` is not a part of a file.
    """
    named, text = row.get("image", ""), row.get("class", "").strip()
    image = row.get(ORIGINAL) or named
    part = file_part(row.get("part", WHOLE))
    if not image or not (text or part.box):
        return None
    named_class = class_in(row)
    score, count = row.get("detection_score", "").strip(), row.get("count", "").strip()
    return ForeignLabel(
        image,
        **vars(named_class),
        source_id=row.get("source_id", ""),
        file=folder / (row.get(PLACED) or row.get("file") or named),
        content_hash=row.get("content_hash", ""),
        who=row.get("labelled_by", ""),
        when=time_in(row.get("labelled_at", "")),
        is_machine=_is_machine(row) or not text,
        is_ours="content_hash" in row,
        part=part,
        is_empty=_is_yes(row, "is_empty")
        or (named_class.may_be_none and loose_name(text) in EMPTY_NAMES),
        category=row.get("category", ""),
        score=float(score) if score else None,
        count=int(count.removesuffix(".0")) if count else None,
        fields=_own_fields(row.get("fields", "")),
    )


def _own_fields(text: str) -> tuple[tuple[str, str], ...]:
    try:
        found = json.loads(text) if text.startswith("{") else {}
    except (ValueError, RecursionError):
        return ()
    return tuple((str(name), str(value)) for name, value in found.items())


def _is_yes(row: Mapping[str, str], column: str) -> bool:
    return row.get(column, "").strip().casefold() in YES


@dataclass(frozen=True)
class NamedClass:
    """The class that a row names; attributes as of `ForeignLabel`."""

    names: tuple[str, ...]
    other_names: tuple[str, ...] = ()
    may_be_none: bool = False


def class_in(row: Mapping[str, str]) -> NamedClass:
    """The class of a row as in `label_in`; without names it is none of the classes."""
    text, path = row.get("class", "").strip(), row.get("path", "").strip()
    may_be_none = split_path(path)[-1:] != (text,) and (
        loose_name(text) in NONE_NAMES | EMPTY_NAMES or "may_be_none" in row
    )
    if not text or _is_yes(row, "is_empty") or (may_be_none and _is_yes(row, "is_unknown")):
        return NamedClass(())
    others = tuple(filter(None, row.get(OTHER_NAMES, "").split("\n")))
    return NamedClass(_names(text, path), others, may_be_none)


def keywords_in(row: Mapping[str, str], folder: Path) -> list[ForeignLabel]:
    """The labels of a row of keywords."""
    image = row.get("image", "")
    paths = [split_path(each) for each in row.get(KEYWORDS, "").split("\n")]
    whole = distinct_keywords(
        (path for path in paths if len(path) > 1), (path[0] for path in paths if len(path) == 1)
    )
    return [
        ForeignLabel(image, names, file=folder / image, is_keyword=True) for names in whole if image
    ]


def noted_in(row: Mapping[str, str], folder: Path) -> ForeignLabel | None:
    """The image of a row with its stars, flag and comment; None if it has none of them."""
    named = row.get("image", "")
    note = note_of(row.get("stars", ""), row.get("flagged", ""), row.get("comment", ""))
    if not named or note is None:
        return None
    return ForeignLabel(
        row.get(ORIGINAL) or named,
        (),
        file=folder / (row.get(PLACED) or row.get("file") or named),
        content_hash=row.get("content_hash", ""),
        note=note,
    )


def note_of(stars: str, flagged: str, comment: str) -> GivenNote | None:
    """Parse a note; None if it is empty. An invalid number of stars counts as none."""
    number = stars.strip().removesuffix(".0")
    count = int(number) if number.isascii() and number.isdigit() and len(number) == 1 else 0
    given = GivenNote(min(count, MOST_STARS), flagged.strip().casefold() in YES, comment.strip())
    return given if given.stars or given.is_flagged or given.comment else None


def time_in(text: str) -> datetime | None:
    """Parse a time in ISO 8601, UTC if it has no time zone; None for an empty text.

    Raises:
        ValueError: it is not a time; the message is for users.
    """
    if not text.strip():
        return None
    part = {"text": text.strip()[:_SHOWN]}
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            Message('"{text}" is not a time, such as 2026-05-01T10:00:00+02:00', part)
        ) from None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    try:
        found.astimezone(UTC)
    except OverflowError:
        raise ValueError(Message('"{text}" is outside of the years 1 to 9999', part)) from None
    return found


def time_or_none(text: str) -> datetime | None:
    """As `time_in`; None for anything else, such as a range or only a year."""
    try:
        return time_in(text)
    except ValueError:
        return None


@lru_cache(maxsize=10_000)
def _names(text: str, path: str) -> tuple[str, ...]:
    names = split_path(path)
    if names and (names[-1] == text or path == text):
        return names
    return split_path(text) if SEPARATOR in text else (text,)


def _is_machine(row: Mapping[str, str]) -> bool:
    """Whether a model decided: by `decided_by`, or by a score without an annotator."""
    if decided := row.get("decided_by"):
        return decided == MODEL
    return bool(row.get("score")) and not row.get("labelled_by")

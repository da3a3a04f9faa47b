"""Tables of labels of any program: rows become the fields that `label_in` reads.

`engine.interchange.tables` recognises the columns; those of our own tables without a role are read
by name. How a program's values are interpreted is below, by dialect.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import final
from urllib.parse import unquote

from engine.file_parts import WHOLE_FILE, FilePart
from engine.graph.names import SEPARATOR, join_path
from engine.interchange import limits
from engine.interchange.labelled_images.box_formats import unread_boxes_error
from engine.interchange.labelled_images.foreign_boxes import (
    image_folders,
    image_in,
    numbers,
    part_of_pixels,
    part_of_shares,
    picture_size,
    relative_image,
)
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
    TableReading,
)
from engine.interchange.labelled_images.table_rows import (
    ITEM_COLUMNS,
    MODEL,
    NOTE_COLUMNS,
    ORIGINAL,
    OTHER_NAMES,
    PERSON,
    PLACED,
    YES,
    keywords_in,
    label_in,
    noted_in,
)
from engine.interchange.predictions_file import UNKNOWN_NAME
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.recognise import ColumnLayout, Row, recognised
from engine.interchange.tables.roles import Role, column_key
from engine.interchange.text_file import words
from engine.texts import marked

_OWN = frozenset(
    {
        *(ORIGINAL, PLACED, *NOTE_COLUMNS),
        *words("file content_hash source_id decided_by labelled_at is_unknown"),
    }
)
"""Columns of our own tables without a role."""
_OF_OURS = frozenset({"content_hash", "is_unknown"})
_SAFE = "safe_class"  # column of predictions; without `is_unknown` in old files
_NO_ANSWER = "no cv result"  # of Wildlife Insights, in every column of the taxon
_NO_TAXON = frozenset(
    {
        _NO_ANSWER,
        *words("unknown unidentified undetermined na n/a nan null none -"),
        *words("sp sp. spp spp. indet indet."),
    }
)
_SCIENTIFIC = frozenset(
    map(column_key, ("scientificName", "canonicalName", "taxon", "taxonName", "latinName"))
)
_CLASS_ROLES = (Role.CLASS, Role.SPECIES_EPITHET, Role.PATH, Role.VERNACULAR)
_ALONE = (Role.FILE, Role.FOLDER, Role.ANNOTATOR, Role.SCORE)
_CORNERS = (("xmin", "ymin", "xmax", "ymax"), ("x1", "y1", "x2", "y2"))
"""Columns of boxes in tables of TensorFlow, RetinaNet and Open Images."""
_BOX = "corners"  # field: corners of the box and size of the picture, one per line
_SIZE = ("width", "height")
_BELOW_GENUS = ("species", "subspecies")
_LINE = marked("line {place}: {reason}")

Fields = dict[str, str]
Cell = Callable[[str], str]  # cell of a row by column; "" for a missing one


@final
class LabelRows:
    """Reads the rows of one table.

    Args:
        source: its file, whose folder is the base of relative paths.
        columns: of the table.
        sample: its first rows.
        given: column by role, set by the user.
        name: of the table, for errors; the file's by default.

    Raises:
        UsageError, FormatError: see `recognised`.
    """

    def __init__(
        self,
        source: Path,
        columns: Sequence[str],
        sample: Iterable[Row] = (),
        given: Mapping[str, str] | None = None,
        name: str = "",
    ) -> None:
        self._source, self._folders = source, image_folders(source)
        self._columns = columns
        layout = recognised(columns, sample, TablePurpose.LABELS, given, name=name or source.name)
        self._layout = layout
        self._keys = {column_key(name): at for at, name in reversed(list(enumerate(columns)))}
        names = [name.strip().casefold() for name in columns]
        image_at = layout.columns.get(Role.FILE)
        own = _OWN if _OF_OURS.isdisjoint(names) else _OWN | ITEM_COLUMNS
        self._own = {
            name: names.index(name)
            for name in own
            if name in names and names.index(name) != image_at
        }
        self._dialect = "" if layout.dialect is None else layout.dialect.name
        self._meaning, self._further = _MEANINGS.get(self._dialect, _NO_MEANING)
        self._box = next((each for each in _CORNERS if self._keys.keys() >= set(each)), ())
        self._is_old_prediction = _SAFE in names and "is_unknown" not in names

    @property
    def has_header(self) -> bool:
        """Whether the first row has the names of the columns."""
        return self._layout.has_header

    @property
    def is_ours(self) -> bool:
        """Whether it is our export or file of predictions."""
        return not _OF_OURS.isdisjoint(self._own) or self._is_old_prediction

    @property
    def _used(self) -> Mapping[str, tuple[str, ...]]:
        layout, columns = self._layout, self._columns
        of_class = [at for _, at in layout.ranks]
        of_class += [layout.columns[role] for role in _CLASS_ROLES if role in layout.columns]
        used = {
            role.value: (columns[at],)
            for role in _ALONE
            if (at := layout.columns.get(role)) is not None
        }
        keywords = [name for name in self._further if column_key(name) in self._keys]
        if self._dialect == "exiftool":
            return used | {"keywords": tuple(keywords)}
        names = (columns[at] for at in dict.fromkeys(of_class))
        return {"file": used["file"], "class": tuple(names)} | used if "file" in used else used

    @property
    def needed(self) -> list[str]:
        """The columns that are read."""
        layout = self._layout
        roles = (layout.columns.get(role) for role in (*_ALONE, *_CLASS_ROLES))
        places = {*self._own.values(), *(at for at in roles if at is not None)}
        places |= {at for _, at in (*layout.ranks, *layout.vernacular)}
        further = (*map(column_key, self._further), *self._box, *(_SIZE if self._box else ()))
        places |= {self._keys[key] for key in further if key in self._keys}
        return [self._columns[at] for at in sorted(places)]

    def labels(self, rows: Iterable[Row], problem: str = _LINE) -> ForeignLabels:
        """Read the labels of all rows.

        Args:
            rows: with their numbers in the source.
            problem: template of messages about rows that cannot be read.

        Raises:
            FormatError: there are too many, or they are boxes.
        """
        held, folder = 0, self._source.parent
        collector = LabelCollector()
        for number, fields in self.fields(rows):
            held += sum(map(len, fields.values()))
            limits.TEXT.check(held, self._source.name)
            collector.add(number, _labels_of(fields, folder), problem)
            if (noted := noted_in(fields, folder)) is not None:
                collector.noted.append(noted)
        title = "" if self._layout.dialect is None else self._layout.dialect.title
        return replace(collector.collected(), table=TableReading(title, self._used))

    def fields(self, rows: Iterable[Row]) -> Iterator[tuple[int, Fields]]:
        """Number and fields of each row for `label_in`."""
        read = ((number, self._fields(cells)) for number, cells in rows)
        return _with_folders(read) if self._dialect == "wildlife-insights" else read

    def _fields(self, cells: Sequence[str]) -> Fields:
        layout = self._layout
        fields = {name: _at(cells, at) for name, at in self._own.items()}
        fields = self._image(cells) | fields
        fields["labelled_by"] = layout.cell(cells, Role.ANNOTATOR)
        fields["score"] = layout.cell(cells, Role.SCORE)
        fields |= self._class(cells)
        if self._is_old_prediction and fields["class"] == UNKNOWN_NAME and not fields["path"]:
            fields["is_unknown"] = "true"
        if self._meaning is not None:
            self._meaning(
                fields, lambda column: _at(cells, self._keys.get(column_key(column))).strip()
            )
        if self._box:
            places = (self._keys.get(key) for key in (*self._box, *_SIZE))
            fields[_BOX] = "\n".join(_at(cells, at).strip() for at in places)
        if "box" in fields or self._has_box(cells):
            raise unread_boxes_error(
                self._source, (layout.dialect and layout.dialect.title) or Role.BOX
            )
        return fields

    def _image(self, cells: Sequence[str]) -> Fields:
        """The image with its folder, and its file with "/" as separator."""
        name = _at(cells, self._layout.columns.get(Role.FILE))
        if self.is_ours or not name:
            return {"image": name}  # a backslash is a part of a name
        plain, folder = (
            each.replace("\\", "/") for each in (name, self._layout.cell(cells, Role.FOLDER))
        )
        above = folder.rstrip("/")
        if not above or plain.startswith((f"{above}/", "/")) or "://" in plain or plain[1:2] == ":":
            return {
                "image": name,
                "file": str(image_in(self._folders, plain)) if len(self._folders) > 1 else plain,
            }
        return {"image": f"{above}/{plain}", "file": f"{above}/{plain}"}

    def _class(self, cells: Sequence[str]) -> Fields:
        """The class by its ranks, its name or its vernacular names."""
        layout = self._layout
        text = layout.cell(cells, Role.CLASS)
        is_json = text.startswith(("{", "[{"))
        if is_json and _BOX_OF_JSON.search(text):
            return {"class": "", "path": "", "box": text}
        text = _class_among(text) if is_json else text
        path = layout.cell(cells, Role.PATH)
        spoken = [
            layout.cell(cells, Role.VERNACULAR),
            *(name for _, name in layout.names_in_languages(cells)),
        ]
        ranks = _taxa(layout, cells)
        if ranks and text and not self._is_scientific(text, ranks[-1]):
            spoken, ranks = [ranks[-1], *spoken], []
        elif ranks and text and text.casefold() not in _NO_TAXON and not text.startswith(ranks[-1]):
            ranks.append(text)
        if ranks:
            text, path = ranks[-1], join_path(ranks)
            spoken.insert(0, text)
        others = [each for each in spoken if each.casefold() not in {"", _NO_ANSWER}]
        if not text:
            text = path or next(iter(others), "")
        return {"class": text, "path": path, OTHER_NAMES: "\n".join(others)}

    def _is_scientific(self, text: str, finest: str) -> bool:
        """Whether the name of the class is part of the ranks, and not an independent label."""
        at = self._layout.columns.get(Role.CLASS)
        return text.startswith(finest) or (
            at is not None and column_key(self._columns[at]) in _SCIENTIFIC
        )

    def _has_box(self, cells: Sequence[str]) -> bool:
        """Whether a row has boxes: as JSON, or corners after the label in a headerless table."""
        if self._dialect == "label-studio":
            return any(map(_BOX_OF_JSON.search, cells))
        at = self._layout.columns.get(Role.CLASS, 0)
        numbers = [text for text in cells[at + 1 :] if text.strip().replace(".", "", 1).isdigit()]
        return not self._layout.has_header and len(numbers) > 1


def _labels_of(fields: Fields, folder: Path) -> Iterator[ForeignLabel | None]:
    if _BOX in fields:
        fields = fields | {"part": _part(fields, folder).text}
    if keywords := keywords_in(fields, folder):
        yield from keywords
        return
    for each in fields["class"].split("\n"):
        yield label_in({**fields, "class": each}, folder)


def _part(fields: Fields, folder: Path) -> FilePart:
    """The box of a row by its corners; in shares if none is above 1."""
    *corners, width, height = fields[_BOX].split("\n")
    if not any(corners):
        return WHOLE_FILE
    left, top, right, bottom = numbers(corners, 4)
    if max(left, top, right, bottom) <= 1:
        return part_of_shares((left, top, right - left, bottom - top))
    size = picture_size(
        width, height, relative_image(folder, fields.get("file") or fields["image"])
    )
    return part_of_pixels((left, top, right - left, bottom - top), size)


def _at(cells: Sequence[str], place: int | None) -> str:
    return cells[place] if place is not None and place < len(cells) else ""


def _taxa(layout: ColumnLayout, cells: Sequence[str]) -> list[str]:
    """Names of the filled ranks; epithets become binomials: Vulpes, Vulpes vulpes."""
    names: list[str] = []
    ranks = layout.path(cells)
    if epithet := layout.cell(cells, Role.SPECIES_EPITHET):
        ranks += [] if any(rank in _BELOW_GENUS for rank, _ in ranks) else [("species", epithet)]
    for rank, name in ranks:
        if name.casefold() in _NO_TAXON:
            continue
        is_epithet = rank in _BELOW_GENUS and names and name[:1].islower() and " " not in name
        names.append(f"{names[-1]} {name}" if is_epithet else name)
    return names


def _with_folders(rows: Iterable[tuple[int, Fields]]) -> Iterator[tuple[int, Fields]]:
    """Rows of Wildlife Insights, with the deployment as folder of ambiguous file names."""
    held = list(rows)
    places = Counter(
        name for name, _ in {(fields["image"], fields[_DEPLOYMENT]) for _, fields in held}
    )
    for number, fields in held:
        name = fields["image"]
        yield (
            number,
            fields | {"image": f"{fields[_DEPLOYMENT]}/{name}"} if places[name] > 1 else fields,
        )


_DEPLOYMENT = "deployment_id"


def _wildlife_insights(fields: Fields, cell: Cell) -> None:
    fields[_DEPLOYMENT] = cell(_DEPLOYMENT)
    if cell("is_blank").casefold() in YES and not fields["path"]:
        fields["class"] = fields["class"] or "Blank"
    _blank_is_none(fields)
    if cell("identified_by").casefold() == "computer vision":
        fields["decided_by"] = MODEL


def _blank_is_none(fields: Fields, _cell: Cell | None = None) -> None:
    if fields["class"].casefold() in {"blank", "empty", "none", "nothing"}:
        fields["may_be_none"] = "true"


def _camtrap_dp(fields: Fields, cell: Cell) -> None:
    kind = cell("observationType")
    if kind == "unclassified":
        fields["class"] = ""
    elif not fields["class"] and kind not in {"animal", "unknown"}:
        fields["class"] = kind
    _blank_is_none(fields)
    fields["decided_by"] = MODEL if cell("classificationMethod") == "machine" else PERSON


def _addaxai(fields: Fields, cell: Cell) -> None:
    if cell("human_verified").casefold() in YES:
        fields["decided_by"] = PERSON
    _blank_is_none(fields)


def _open_images(fields: Fields, cell: Cell) -> None:
    score = cell("Confidence")
    if score and float(score) == 0:
        fields["class"] = ""  # verified as absent
    is_sure = not score or float(score) == 1
    fields["decided_by"] = PERSON if is_sure and "machine" not in cell("Source") else MODEL
    fields["source_id"] = fields["class"]


def _exiftool(fields: Fields, cell: Cell) -> None:
    """Keywords of exiftool: separated by commas, names of a path by bars."""
    deep = [each.replace("|", SEPARATOR) for each in _listed(cell("HierarchicalSubject"))]
    flat = [
        each for column in ("Keywords", "Subject", "XPKeywords") for each in _listed(cell(column))
    ]
    fields["keywords"] = "\n".join((*deep, *flat))


def _listed(text: str) -> list[str]:
    separators = "\n" if "\n" in text else "[;,]"  # of JSON lists; of CSV cells
    return [each.strip() for each in re.split(separators, text) if each.strip()]


def _via(fields: Fields, cell: Cell) -> None:
    """The class is a value of the file's attributes; a region without one is a box."""
    fields["class"] = _class_among(cell("file_attributes"))
    if not fields["class"] and cell("region_shape_attributes") not in {"", "{}"}:
        fields["box"] = "true"


def _label_studio(fields: Fields, _cell: Cell) -> None:
    """Images are URLs of its server, annotators are numbers."""
    fields["image"] = fields["file"] = unquote(_SERVED.sub("", fields["image"]))
    if (who := fields["labelled_by"]).isdigit():
        fields["labelled_by"] = f"Label Studio user {who}"


_SERVED = re.compile(r"^/data/(?:upload/(?:\d+/)?[0-9a-f]{8}-|local-files/\?d=)")


def _class_among(text: str) -> str:
    """Names of classes in a JSON value, one per line."""
    names: list[str] = []
    try:
        waiting = [json.loads(text or "{}")]
    except (ValueError, RecursionError):
        return ""
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and (paths := _paths_in(value.get("taxonomy"))):
            names += paths
        elif isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict) and all(isinstance(each, bool) for each in value.values()):
            names += [name for name, is_chosen in value.items() if is_chosen]
        elif isinstance(value, dict):
            fields = {
                str(name).casefold(): each for name, each in value.items() if each not in _EMPTY
            }
            waiting += [fields[name] for name in (*_NAMES_OF_CLASS, *fields) if name in fields][:1]
        elif value is not None:
            names.append(str(value).strip())
    return "\n".join(names)


def _paths_in(taxonomy: object) -> list[str]:
    """Paths of Label Studio's taxonomy, which are lists of names from the top down."""
    listed = taxonomy if isinstance(taxonomy, list) else []
    return [join_path(map(str, path)) for path in listed if isinstance(path, list)]


_EMPTY: tuple[object, ...] = (None, "", [], {})
_BOX_OF_JSON = re.compile(
    r'(?i)"(?:bbox|bounding\w+|(?:rectangle|polygon|brush|keypoint)labels|points?)"\s*:'
)
_NAMES_OF_CLASS = words(
    "class label species category choices classifications answer displayname name title type"
)

Meaning = tuple[Callable[[Fields, Cell], None] | None, tuple[str, ...]]
_NO_MEANING: Meaning = None, ()
_MEANINGS: Mapping[str, Meaning] = {
    "wildlife-insights": (_wildlife_insights, (_DEPLOYMENT, "is_blank", "identified_by")),
    "timelapse": (_blank_is_none, ()),
    "camtrap-dp-observations": (_camtrap_dp, ("observationType", "classificationMethod")),
    "addaxai": (_addaxai, ("human_verified",)),
    "open-images": (_open_images, ("Confidence", "Source")),
    "exiftool": (_exiftool, ("HierarchicalSubject", "Keywords", "Subject", "XPKeywords")),
    "label-studio": (_label_studio, ()),
    "via": (_via, ("file_attributes", "region_shape_attributes")),
}
"""By dialect: interpretation of values, and the columns it needs besides those with a role."""

"""Reader of Camtrap DP: a folder or a ZIP file, with the package itself or in one subfolder.

An observation is of one medium or of an event. That of an event counts for its media, except for
those with an observation of their own by a person. Media belong to an event by its id, or by their
deployment and time.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from engine.errors import FormatError, InputError, StorageError
from engine.file_parts import WHOLE_FILE, BoundingBox, FilePart
from engine.interchange import limits
from engine.interchange.archives import has_member
from engine.interchange.file_package import ArchiveTable, FilePackage, opened_package
from engine.interchange.labelled_images.camtrap_dp_package import (
    BOX_COLUMNS,
    NOT_CLASSIFIED,
    PACKAGE,
    tagged_class,
)
from engine.interchange.labelled_images.class_folders import read_table
from engine.interchange.labelled_images.class_labels import detected_box, is_near
from engine.interchange.labelled_images.foreign_boxes import numbers, scored
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    LabelCollector,
    numbered_things,
)
from engine.interchange.labelled_images.table_rows import time_in, time_or_none
from engine.interchange.text_file import (
    SURROGATES,
    WESTERN,
    decoded,
    json_value,
    object_in,
    objects_in,
    words,
)
from engine.texts import Message, marked

_READ_COLUMNS = frozenset(
    words(
        "mediaID filePath deploymentID timestamp eventID sequenceID eventStart eventEnd "
        "scientificName observationType observationTags classifiedBy classificationTimestamp "
        "classificationMethod classificationProbability count sex lifeStage behavior"
    )
).union(BOX_COLUMNS)
"""Of the tables of media and observations; `sequenceID` was in both before version 1.0."""
OBSERVATIONS = "observations.csv"
_OF_PACKAGE = frozenset({PACKAGE, OBSERVATIONS})  # files read as their folder
_PASSED_OVER = marked("{count:,} observations of events without media were skipped")
_OBSERVATION = marked("observation {place}: {reason}")
_CATEGORIES = {"human": "person"}  # of detectors, by the type of an observation
_FIELDS = ("sex", "lifeStage", "behavior")
Row = Mapping[str, str]
Event = tuple[str, str]  # ids of the deployment and of the event in it, "" without one
MediaTimes = dict[str, list[tuple[datetime, str]]]  # times and media, sorted, by deployment


def read(source: Path) -> ForeignLabels:
    """Read the observations of a package; labels in our own table win if the class is the same."""
    with _opened(source) as package:
        return _Reading(package).labels()


def fits(source: Path) -> bool:
    """Whether it is a Camtrap DP, or its description."""
    if source.is_file() and source.name not in _OF_PACKAGE and not has_member(source):
        return False
    try:
        with _opened(source) as package:
            return "camtrap-dp" in str(package.description.get("profile"))
    except (FormatError, StorageError):
        return False


@dataclass(frozen=True)
class _Package:
    """An open package."""

    folder: Path  # base of the paths of media
    files: FilePackage
    is_unpacked: bool

    @cached_property
    def description(self) -> Mapping[str, Any]:
        found = json_value(decoded(self.files.data(PACKAGE), PACKAGE), PACKAGE)
        if not isinstance(found, dict):
            raise FormatError("{package} is not a JSON object", package=PACKAGE)
        return found

    def rows(self, name: str) -> Iterator[dict[str, str]]:
        """Rows of a table, restricted to the columns that are read."""
        table = next(
            (
                each
                for each in objects_in(self.description, "resources")
                if each.get("name") == name
            ),
            {},
        )
        if not isinstance(table.get("path"), str):
            raise FormatError(
                "the package has no table of {name}",
                expected="{name}.csv next to {package}",
                name=name,
                package=PACKAGE,
            )
        separator = object_in(table, "dialect").get("delimiter", ",")
        encoding = str(table.get("encoding", ""))
        described = ArchiveTable(
            name, table["path"], {}, separator, header_lines=0, encoding=encoding
        )
        rows = self.files.rows(described, SURROGATES if self.is_unpacked else WESTERN)
        columns = next(rows, (0, ()))[1]
        for _, cells in rows:
            yield {
                key: cell for key, cell in zip(columns, cells, strict=False) if key in _READ_COLUMNS
            }


@contextmanager
def _opened(source: Path) -> Iterator[_Package]:
    is_archive = source.is_file() and source.name not in _OF_PACKAGE
    folder = source.parent if source.is_file() else _folder_of_package(source)
    if not is_archive and not (folder / PACKAGE).is_file():
        raise FormatError(
            "{folder} is not a data package",
            expected="a folder with {package}",
            folder=folder.name,
            package=PACKAGE,
        )
    with opened_package(source if is_archive else folder, PACKAGE) as files:
        yield _Package(folder, files, not is_archive)


def _folder_of_package(folder: Path) -> Path:
    """The folder, or its only subfolder with a package."""
    if (folder / PACKAGE).is_file():
        return folder
    with suppress(OSError):
        inner = [each for each in folder.iterdir() if (each / PACKAGE).is_file()]
        return inner[0] if len(inner) == 1 else folder
    return folder


@dataclass
class _Reading:
    """Collects the labels of a package."""

    package: _Package
    collector: LabelCollector = field(default_factory=LabelCollector)
    decided: set[str] = field(default_factory=set)  # media with an observation by a person
    media_of: dict[Event, list[str]] = field(default_factory=lambda: defaultdict(list))
    events: list[tuple[int, Row]] = field(default_factory=list)  # observations of events

    def labels(self) -> ForeignLabels:
        """The labels of all observations."""
        media: dict[str, str] = {}
        for row in self.package.rows("media"):
            media[row.get("mediaID", "")] = row.get("filePath", "")
            self._add_to_event(row)
        self._read_observations(media)
        self.collector.labels = list(numbered_things(self.collector.labels))
        if self.events:
            self._read_events(media)
        return self.collector.collected()

    def _add_to_event(self, row: Row) -> None:
        event = _event_of(row)
        if event[1]:
            self.media_of[event].append(row.get("mediaID", ""))

    def _read_observations(self, media: Mapping[str, str]) -> None:
        table = read_table(self.package.folder) if self.package.is_unpacked else None
        own_labels = () if table is None else table.labels
        ours: dict[str, list[ForeignLabel]] = defaultdict(list)
        for label in own_labels:
            for place in {label.image, str(label.file)}:
                ours[place].append(label)
        taxa = _taxa(self.package.description)
        for number, row in enumerate(self.package.rows("observations"), start=1):
            medium = row.get("mediaID", "")
            path = media.get(medium, "")
            if not path:
                self.events.append((number, row))
                continue
            self._add_to_event(row)
            if (own := _own_label(row, ours.get(_local(path), ()))) is not None:
                self.collector.labels.append(own)
            elif not _class_name(row) and not _has_box(row):
                self.collector.unlabelled += 1
                continue
            else:
                labels = _labels(row, [path], self.package.folder, taxa)
                self.collector.add(number, labels, _OBSERVATION)
            if row.get("classificationMethod") != "machine":
                self.decided.add(medium)

    def _read_events(self, media: Mapping[str, str]) -> None:
        taxa = _taxa(self.package.description)
        times = _media_times(self.package.rows("media"))
        event_of = {medium: event for event, found in self.media_of.items() for medium in found}
        without_media = 0
        for number, row in self.events:
            found = self._media_of_event(row, times, event_of)
            paths = [media[each] for each in found if each not in self.decided and media.get(each)]
            if not found:
                without_media += 1
            elif not _class_name(row):
                self.collector.unlabelled += len(paths)
            else:
                labels = _labels(row, paths, self.package.folder, taxa)
                self.collector.add(number, labels, _OBSERVATION)
            limits.RECORDS.check(len(self.collector.labels), PACKAGE)
        if without_media:
            self.collector.problems.append(Message(_PASSED_OVER, {"count": without_media}))

    def _media_of_event(
        self, row: Row, times: MediaTimes, event_of: Mapping[str, Event]
    ) -> list[str]:
        """Media with the id of the event, and those within its time without another event."""
        event = deployment, event_id = _event_of(row)
        found = list(self.media_of.get(event, ()))
        start = _moment(row.get("eventStart", ""))
        end = _moment(row.get("eventEnd", "")) or start
        if start is not None and end is not None:
            timed = times.get(deployment, [])
            first = bisect_left(timed, start, key=_TIME)
            last = bisect_right(timed, end, key=_TIME)
            within = [medium for _, medium in timed[first:last]]
            found += [each for each in within if not event_id or event_of.get(each, event) == event]
        return list(dict.fromkeys(found))


_TIME = itemgetter(0)


def _event_of(row: Row) -> Event:
    return row.get("deploymentID", ""), row.get("eventID") or row.get("sequenceID") or ""


def _media_times(rows: Iterator[dict[str, str]]) -> MediaTimes:
    found: MediaTimes = defaultdict(list)
    for row in rows:
        if (moment := _moment(row.get("timestamp", ""))) is not None:
            found[row.get("deploymentID", "")].append((moment, row.get("mediaID", "")))
    for each in found.values():
        each.sort()
    return found


def _moment(text: str) -> datetime | None:
    found = time_or_none(text)
    return None if found is None else found.astimezone(UTC)


def _count(row: Row) -> int | None:
    text = row.get("count", "").strip()
    return int(text) if text.isdecimal() else None


def _class_name(row: Row) -> str:
    """The class of an observation; "" for none."""
    kind = row.get("observationType", "")
    name = row.get("scientificName", "") if kind not in NOT_CLASSIFIED else ""
    return (
        name
        or tagged_class(row.get("observationTags", ""))
        or ("" if kind in NOT_CLASSIFIED else kind)
    )


def _has_box(row: Row) -> bool:
    return bool(row.get(BOX_COLUMNS[0]))


def _is_named(row: Row) -> bool:
    """Whether an observation names a class, and not only a type."""
    return bool(row.get("scientificName") or tagged_class(row.get("observationTags", "")))


def _part(row: Row) -> FilePart:
    if not _has_box(row):
        return WHOLE_FILE
    return FilePart(box=BoundingBox.of(*numbers(map(row.get, BOX_COLUMNS), 4)))


def _own_label(row: Row, own: Sequence[ForeignLabel]) -> ForeignLabel | None:
    """The label in our own table with the class and the box of an observation."""
    name, kind = _class_name(row), row.get("observationType", "")
    try:
        box = _part(row).box
    except (ValueError, InputError):
        return None
    for label in own:
        is_there = is_near(label.part.box, box) if label.part.box and box else label.part.box is box
        is_same = "".join(label.names[-1:]) == name or (label.is_empty and kind == "blank")
        is_alone = label.is_box_alone and not _is_named(row)
        if is_there and (is_same or is_alone):
            return label
    return None


def _local(path: str) -> str:
    """A local path, also if it is a file URL."""
    is_url = path.startswith("file://")
    return unquote(path.removeprefix("file://"), errors="surrogateescape") if is_url else path


def _taxa(description: Mapping[str, Any]) -> dict[str, str]:
    """Ids of taxa by name; "" for ambiguous names."""
    ids: dict[str, str] = {}
    listed = description.get("taxonomic")
    for taxon in listed if isinstance(listed, list) else ():
        if isinstance(taxon, dict) and isinstance(name := taxon.get("scientificName"), str):
            taxon_id = taxon.get("taxonID", "")
            taxon_id = taxon_id if isinstance(taxon_id, str) else ""
            ids[name] = taxon_id if ids.get(name, taxon_id) == taxon_id else ""
    return ids


def _labels(
    row: Row, paths: Sequence[str], folder: Path, taxa: Mapping[str, str]
) -> Iterator[ForeignLabel]:
    name, part = _class_name(row), _part(row)
    if part.box is not None and not _is_named(row):
        kind = row.get("observationType", "")
        category = _CATEGORIES.get(kind, kind)
        score = scored(row.get("classificationProbability"))
        for path in paths:
            yield detected_box(
                path, part, file=folder / _local(path), category=category, score=score
            )
        return
    when = time_in(row.get("classificationTimestamp", ""))
    for path in paths:
        yield ForeignLabel(
            path,
            (name,),
            source_id=taxa.get(name, ""),
            file=folder / _local(path),
            who=row.get("classifiedBy", ""),
            when=when,
            may_be_none=name == "blank",
            is_machine=row.get("classificationMethod") == "machine",
            part=part,
            is_empty=name == "blank",
            count=_count(row),
            fields=tuple((term, row[term]) for term in _FIELDS if row.get(term)),
        )

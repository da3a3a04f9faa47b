"""Metadata of image files: size, time, camera, place and further fields. Not journaled.

Times are those of corrected clocks: corrections are applied only here; see `clock_corrections`.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import final

from engine.project.camera_clocks import ProjectClocks
from engine.project.clock_corrections import ClockCorrection, ClockCorrections, ClockSource
from engine.project.connection import Row
from engine.project.records import ImageDetails, ImageId
from engine.project.store import ProjectStore, shown_path

MOST_FIELDS_LENGTH = 1_000_000
_COLUMNS = """SELECT image_id, image_detail.modified_ns, width, height, taken_at, camera, latitude,
longitude, fields
    FROM image_detail"""
_SHOTS = """
    SELECT image_id, CAST(STRFTIME('%s', SUBSTR(taken_at, 1, 19)) AS INTEGER) AS clock,
        CASE WHEN LENGTH(taken_at) > 19 THEN CAST(STRFTIME('%s', taken_at) AS INTEGER) END,
        DENSE_RANK() OVER (ORDER BY camera, serial, folder)
    FROM (
        SELECT image_id, taken_at, camera,
            CASE WHEN JSON_VALID(fields) THEN JSON_EXTRACT(fields, '$.serial') END AS serial,
            RTRIM(path, REPLACE(path, '/', '')) AS folder
        FROM image_detail JOIN image USING (image_id) WHERE taken_at IS NOT NULL
    ) ORDER BY image_id"""
"""Clock time, UTC where the file has a time zone, and source of each image with a time."""
_SOURCES = """
    SELECT CAST(folder AS BLOB), camera, serial, COUNT(*), MIN(taken_at), MAX(taken_at) FROM (
        SELECT taken_at, camera, RTRIM(path, REPLACE(path, '/', '')) AS folder,
            CASE WHEN JSON_VALID(fields) THEN JSON_EXTRACT(fields, '$.serial') END AS serial
        FROM image_detail JOIN image USING (image_id) WHERE taken_at IS NOT NULL
    ) GROUP BY camera, serial, folder ORDER BY camera, serial, folder"""
"""In the order of the numbers of the sources in `_SHOTS`."""
_NONE = ClockCorrection("")
_AT_ONCE = 5_000

_UNREAD = "image_detail.image_id IS NULL AND part NOT GLOB 'page=*' AND part NOT GLOB 't=*'"
"""Images whose metadata is read from headers; that of pages and frames comes with pixels."""


_STORE = """INSERT INTO image_detail
    (image_id, modified_ns, width, height, taken_at, camera, latitude, longitude, fields)
    SELECT image_id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM image WHERE image_id = ?1
    ON CONFLICT (image_id) DO UPDATE SET modified_ns = excluded.modified_ns,
    width = excluded.width, height = excluded.height, taken_at = excluded.taken_at,
    camera = excluded.camera, latitude = excluded.latitude, longitude = excluded.longitude,
    fields = excluded.fields"""


@final
class ProjectDetails:
    """Metadata of a project's images. It is not affected by undo, nor deleted with an image."""

    def __init__(self, store: ProjectStore) -> None:
        self._store = store
        self._clocks = ProjectClocks(store)

    def each(self) -> Iterator[ImageDetails]:
        """The metadata of all images in ascending id order, few in memory at once.

        The project may change meanwhile.
        """
        last: ImageId = 0
        while some := self._store.connection.rows(
            f"{_COLUMNS} JOIN image USING (image_id) WHERE image_id > ? ORDER BY image_id LIMIT ?",
            (last, _AT_ONCE),
        ):
            yield from self.corrected(map(_details, some))
            last = some[-1][0]

    def shot_times(self) -> list[tuple[ImageId, int, int, int]]:
        """Images with a known time, in ascending id order: id, UTC time, clock time, and source.

        Both times are seconds since 1970, and equal without a time zone: a time without one is
        assumed to be in the zone of the others of its source. Sources are numbers, equal for images
        of one camera and folder whose moments can be compared.
        """
        corrections, ahead = self._corrections_by_source(), dict[int, int]()
        shots = list[tuple[ImageId, int, int | None, int]]()
        for image_id, clock, moment, source in self._store.connection.rows(_SHOTS):
            if clock is None:
                continue
            correction = corrections.get(source, _NONE)
            if correction.zone_minutes is not None:
                ahead[source], moment = correction.zone_minutes * 60, None  # noqa: PLW2901
            elif moment is not None:
                ahead[source] = max(clock - moment, ahead.get(source, clock - moment))
                moment += correction.seconds  # noqa: PLW2901
            shots.append((image_id, clock + correction.seconds, moment, source))
        return [
            (image_id, clock - ahead.get(source, 0) if moment is None else moment, clock, source)
            for image_id, clock, moment, source in shots
        ]

    def _corrections_by_source(self) -> dict[int, ClockCorrection]:
        corrections = self._clocks.corrections()
        sources = self._store.connection.rows(_SOURCES) if corrections else []
        found = {
            number: corrections.of(*map(_text, row[:3]))
            for number, row in enumerate(sources, start=1)
        }
        return {number: each for number, each in found.items() if each is not None}

    def clock_sources(self) -> list[ClockSource]:
        """Folders with their cameras, and the times that the files have, by folder and camera."""
        found = []
        for folder, camera, serial, images, first, last in self._store.connection.rows(_SOURCES):
            begin, end = _time(first), _time(last)
            if begin is not None and end is not None:
                found.append(ClockSource(_text(folder), camera, _text(serial), images, begin, end))
        return found

    def as_read(self, image_id: ImageId) -> ImageDetails | None:
        """As `of`, with the time that the file has."""
        row = self._store.connection.row(f"{_COLUMNS} WHERE image_id = ?", (int(image_id),))
        return None if row is None else _details(row)

    def corrected(self, details: Iterable[ImageDetails]) -> Sequence[ImageDetails]:
        """Details as files have them, with the times that corrected clocks have."""
        corrections, given = self._clocks.corrections(), tuple(details)
        if not corrections:
            return given
        wanted = json.dumps([each.image_id for each in given if each.taken_at is not None])
        statement = (
            "SELECT image_id, path FROM image WHERE image_id IN (SELECT value FROM json_each(?))"
        )
        paths = {
            image_id: shown_path(path)
            for image_id, path in self._store.connection.rows(statement, (wanted,))
        }
        return [_corrected(each, paths.get(each.image_id, ""), corrections) for each in given]

    def of(self, image_id: ImageId) -> ImageDetails | None:
        """The details of one image, or None where its file was not read yet."""
        return self.of_many([image_id]).get(image_id)

    def of_many(self, image_ids: Iterable[ImageId]) -> dict[ImageId, ImageDetails]:
        """The details of these images by id; those that were not read yet are left out."""
        wanted = json.dumps([int(image_id) for image_id in image_ids])
        which = "image_id IN (SELECT value FROM json_each(?))"
        rows = self._store.connection.rows(f"{_COLUMNS} WHERE {which}", (wanted,))
        return {each.image_id: each for each in self.corrected(map(_details, rows))}

    def missing(self, limit: int = -1, *, after: ImageId = 0) -> list[tuple[ImageId, str]]:
        """Id and stored path of images that were not read yet, in ascending id order.

        Args:
            after: only of images with a higher id.
        """
        rows = self._store.connection.rows(
            "SELECT image_id, path FROM image LEFT JOIN image_detail USING (image_id)"  # noqa: S608
            f" WHERE {_UNREAD} AND image_id > ? ORDER BY image_id LIMIT ?",
            (int(after), limit),
        )
        return [(image_id, shown_path(path)) for image_id, path in rows]

    def missing_count(self, *, after: ImageId = 0) -> int:
        """Number of images that were not read yet, as `missing`."""
        return int(
            self._store.connection.value(
                "SELECT COUNT(*) FROM image LEFT JOIN image_detail USING (image_id)"  # noqa: S608
                f" WHERE {_UNREAD} AND image_id > ?",
                (int(after),),
            )
        )

    def store(self, details: Iterable[ImageDetails]) -> None:
        """Store metadata in place of earlier one; removed images are skipped."""
        self._store.write_facts(_STORE, list(map(_row, details)))


def _corrected(details: ImageDetails, path: str, corrections: ClockCorrections) -> ImageDetails:
    if details.taken_at is None:
        return details
    found = corrections.of(
        path.rpartition("/")[0], details.camera, details.fields.get("serial", "")
    )
    return (
        details if found is None else replace(details, taken_at=found.applied_to(details.taken_at))
    )


def _text(value: object) -> str:
    """A serial number, or a folder as paths are stored."""
    return (
        ""
        if value is None
        else os.fsdecode(value).rstrip("/")
        if isinstance(value, bytes)
        else str(value)
    )


def _row(details: ImageDetails) -> Row:
    taken_at = None if details.taken_at is None else details.taken_at.isoformat()
    return (
        int(details.image_id),
        details.modified_ns,
        details.width,
        details.height,
        taken_at,
        details.camera,
        details.latitude,
        details.longitude,
        _fields_text(details.fields),
    )


def _fields_text(fields: Mapping[str, str]) -> str:
    text = json.dumps(dict(fields), ensure_ascii=False)
    return text if len(text) <= MOST_FIELDS_LENGTH else "{}"


def _details(row: Row) -> ImageDetails:
    image_id, modified_ns, width, height, taken_at, camera, latitude, longitude, fields = row
    return ImageDetails(
        image_id,
        modified_ns,
        width,
        height,
        _time(taken_at),
        camera,
        latitude,
        longitude,
        _fields(fields),
    )


def _time(text: str | None) -> datetime | None:
    """A stored time; None for an invalid one, since files can be read again."""
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None


def _fields(text: str) -> Mapping[str, str]:
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return (
        {str(name): str(value) for name, value in loaded.items()}
        if isinstance(loaded, dict)
        else {}
    )

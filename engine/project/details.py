"""What image files say of themselves: size, time, camera, place and further fields. Facts of the machine."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final, final

from engine.project.connection import Connection, Row
from engine.project.records import ImageDetails, ImageId
from engine.project.store import ProjectStore, shown_path

MOST_FIELDS_LENGTH: Final = 1_000_000
_COLUMNS = """SELECT image_id, image_detail.modified_ns, width, height, taken_at, camera, latitude, longitude, fields
    FROM image_detail"""
_SHOT_TIMES: Final = """
    SELECT image_id, COALESCE(seconds, clock_seconds - MAX(clock_seconds - seconds) OVER source, clock_seconds),
        clock_seconds, DENSE_RANK() OVER (ORDER BY camera, serial, folder)
    FROM (
        SELECT image_id, camera, CAST(STRFTIME('%s', SUBSTR(taken_at, 1, 19)) AS INTEGER) AS clock_seconds,
            CASE WHEN LENGTH(taken_at) > 19 THEN CAST(STRFTIME('%s', taken_at) AS INTEGER) END AS seconds,
            CASE WHEN JSON_VALID(fields) THEN JSON_EXTRACT(fields, '$.serial') END AS serial,
            RTRIM(path, REPLACE(path, '/', '')) AS folder
        FROM image_detail JOIN image USING (image_id) WHERE taken_at IS NOT NULL
    ) WHERE clock_seconds IS NOT NULL
    WINDOW source AS (PARTITION BY camera, serial, folder) ORDER BY image_id"""
"""A time without a zone is taken for one in the zone of the others of its camera and folder."""
_AT_ONCE: Final = 5_000

_UNREAD: Final = "image_detail.image_id IS NULL AND part NOT GLOB 'page=*' AND part NOT GLOB 't=*'"
"""Images whose details are to be read from headers; those of pages and frames come with their pixels."""


@final
class ProjectDetails:
    """The details of a project's images. Undo leaves them, and those of removed images wait for their return."""

    def __init__(self, store: ProjectStore) -> None:
        self._store = store

    def each(self) -> Iterator[ImageDetails]:
        """The details of all images that are there, in ascending image id order, few in memory at once.

        The project may change meanwhile.
        """
        last: ImageId = 0
        while some := self._store.connection.rows(
            f"{_COLUMNS} JOIN image USING (image_id) WHERE image_id > ? ORDER BY image_id LIMIT ?", (last, _AT_ONCE)
        ):
            yield from map(_details, some)
            last = some[-1][0]

    def shot_times(self) -> list[tuple[ImageId, int, int, int]]:
        """Images whose time is known, in ascending id order: id, moment, time by the camera's clock, and source.

        Both times are seconds since 1970, and equal where the file has no time zone. Sources are numbers, equal for
        images of one camera and folder whose moments can be compared.
        """
        return self._store.connection.rows(_SHOT_TIMES)

    def of(self, image_id: ImageId) -> ImageDetails | None:
        """The details of one image, or None where its file was not read yet."""
        row = self._store.connection.row(f"{_COLUMNS} WHERE image_id = ?", (int(image_id),))
        return None if row is None else _details(row)

    def of_many(self, image_ids: Iterable[ImageId]) -> dict[ImageId, ImageDetails]:
        """The details of these images by id; those that were not read yet are left out."""
        wanted = json.dumps([int(image_id) for image_id in image_ids])
        which = "image_id IN (SELECT value FROM json_each(?))"
        rows = self._store.connection.rows(f"{_COLUMNS} WHERE {which}", (wanted,))
        return {row[0]: _details(row) for row in rows}

    def missing(self, limit: int = -1, *, after: ImageId = 0) -> list[tuple[ImageId, str]]:
        """Id and stored path of images that were not read yet, at most so many, in ascending id order.

        Args:
            after: only of images with a higher id.
        """
        rows = self._store.connection.rows(
            "SELECT image_id, path FROM image LEFT JOIN image_detail USING (image_id)"  # noqa: S608 (our names)
            f" WHERE {_UNREAD} AND image_id > ? ORDER BY image_id LIMIT ?",
            (int(after), limit),
        )
        return [(image_id, shown_path(path)) for image_id, path in rows]

    def missing_count(self, *, after: ImageId = 0) -> int:
        """Number of images that were not read yet, as `missing`."""
        return int(
            self._store.connection.value(
                "SELECT COUNT(*) FROM image LEFT JOIN image_detail USING (image_id)"  # noqa: S608 (our names)
                f" WHERE {_UNREAD} AND image_id > ?",
                (int(after),),
            )
        )

    def store(self, details: Iterable[ImageDetails]) -> None:
        """Store details in place of earlier ones; images that are gone by now are passed over."""
        rows = list(map(_row, details))
        for connection in self._store.fact_connections:
            _store(connection, rows)


def _store(connection: Connection, rows: list[Row]) -> None:
    with connection.transaction():
        connection.write_many(
            "INSERT INTO image_detail"
            " (image_id, modified_ns, width, height, taken_at, camera, latitude, longitude, fields)"
            " SELECT image_id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM image WHERE image_id = ?1"
            " ON CONFLICT (image_id) DO UPDATE SET modified_ns = excluded.modified_ns, width = excluded.width,"
            " height = excluded.height, taken_at = excluded.taken_at, camera = excluded.camera,"
            " latitude = excluded.latitude, longitude = excluded.longitude, fields = excluded.fields",
            rows,
        )


def _row(details: ImageDetails) -> Row:
    taken_at = None if details.taken_at is None else details.taken_at.isoformat()
    return (
        int(details.image_id), details.modified_ns, details.width, details.height, taken_at, details.camera,
        details.latitude, details.longitude, _fields_text(details.fields),
    )  # fmt: skip


def _fields_text(fields: Mapping[str, str]) -> str:
    text = json.dumps(dict(fields), ensure_ascii=False)
    return text if len(text) <= MOST_FIELDS_LENGTH else "{}"


def _details(row: Row) -> ImageDetails:
    image_id, modified_ns, width, height, taken_at, camera, latitude, longitude, fields = row
    return ImageDetails(
        image_id, modified_ns, width, height, _time(taken_at), camera, latitude, longitude, _fields(fields)
    )


def _time(text: str | None) -> datetime | None:
    """A time as it was stored; None where another program wrote something else, since files can be read again."""
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None


def _fields(text: str) -> Mapping[str, str]:
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {str(name): str(value) for name, value in loaded.items()} if isinstance(loaded, dict) else {}

"""What files say of themselves, as columns (n,) in ascending image id."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.text_column import TextColumn
from engine.images.found_details import SEPARATOR
from engine.project.records import ImageDetails

NO_TIME: Final = np.iinfo(np.int64).min  # of an image without a date
NO_CAMERA: Final = 0
TEXTS: Final = ("title", "description", "keywords")
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class DetailColumns:
    """Empty values stand for what is not known."""

    ids: Ids  # (n,) int64, ascending
    taken: NDArray[np.int64]  # (n,) seconds of wall time since 1970, or `NO_TIME`
    cameras: tuple[str, ...]  # distinct ones; the first is ""
    camera_code: NDArray[np.int32]  # (n,) place in `cameras`
    latitude: NDArray[np.float32]  # (n,) degrees, or NaN
    longitude: NDArray[np.float32]  # (n,) degrees, or NaN
    width: NDArray[np.int32]  # (n,) pixels as shown, or 0
    height: NDArray[np.int32]  # (n,)
    texts: Mapping[str, Mapping[int, str]]  # of each of `TEXTS`, by image id, where there is one

    @cached_property
    def text_columns(self) -> Mapping[str, TextColumn]:
        """Columns (n,) of titles, descriptions and keywords."""
        ids = self.ids.tolist()
        return {
            name: TextColumn([texts.get(each, "") for each in ids])
            for name, texts in self.texts.items()
            if texts
        }

    @cached_property
    def taken_rank(self) -> NDArray[np.int32]:
        """(n,) rank by date, the earliest first; images without a date last."""
        order = np.lexsort((self.ids, self.taken, self.taken == NO_TIME))
        ranks = np.empty(len(order), dtype=np.int32)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        return ranks


def no_details(ids: Ids) -> DetailColumns:
    """Nothing known of images."""
    zeros, nan = np.zeros(len(ids), dtype=np.int32), np.full(len(ids), np.nan, dtype=np.float32)
    taken = np.full(len(ids), NO_TIME, dtype=np.int64)
    return DetailColumns(
        ids, taken, ("",), zeros, nan, nan, zeros, zeros, {name: {} for name in TEXTS}
    )


def with_details(columns: DetailColumns, details: Iterable[ImageDetails]) -> DetailColumns:
    """The columns with newer details of some images; those of images that are gone are passed over."""
    rows = {each.image_id: each for each in details}
    places = places_of(columns.ids, np.array(list(rows), dtype=np.int64))
    found = [rows[image_id] for image_id in columns.ids[places].tolist()]
    if not found:
        return columns
    codes = {camera: code for code, camera in enumerate(columns.cameras)}
    return DetailColumns(
        columns.ids,
        taken=_with(columns.taken, places, [_taken_seconds(each) for each in found]),
        camera_code=_with(
            columns.camera_code,
            places,
            [codes.setdefault(each.camera, len(codes)) for each in found],
        ),
        cameras=tuple(codes),
        latitude=_with(columns.latitude, places, [_or_nan(each.latitude) for each in found]),
        longitude=_with(columns.longitude, places, [_or_nan(each.longitude) for each in found]),
        width=_with(columns.width, places, [each.width for each in found]),
        height=_with(columns.height, places, [each.height for each in found]),
        texts={name: _texts(name, columns.texts[name], found) for name in TEXTS},
    )


def _texts(
    name: str, before: Mapping[int, str], found: Sequence[ImageDetails]
) -> Mapping[int, str]:
    if not any(each.fields.get(name) or each.image_id in before for each in found):
        return before
    texts = dict(before)
    for each in found:
        if text := each.fields.get(name, ""):
            texts[each.image_id] = text.replace(SEPARATOR, " ")
        else:
            texts.pop(each.image_id, None)
    return texts


def _with(column: NDArray[Any], places: Ids, values: Sequence[float]) -> NDArray[Any]:
    changed = column.copy()
    changed[places] = values
    return changed


def _or_nan(degrees: float | None) -> float:
    return float("nan") if degrees is None else degrees


def _taken_seconds(details: ImageDetails) -> int:
    """As `wall_seconds`; of a date without a time, the beginning of that day, month or year."""
    if not details.taken_on:
        return wall_seconds(details.taken_at)
    return int(np.datetime64(details.taken_on, "s").astype(np.int64))


def wall_seconds(taken_at: datetime | None) -> int:
    """Seconds since 1970 by the clock on the wall, whatever its zone; `NO_TIME` for None."""
    return NO_TIME if taken_at is None else round(taken_at.replace(tzinfo=UTC).timestamp())


def with_images(columns: DetailColumns, ids: Ids) -> DetailColumns:
    """What is known of another list of images; nothing of those that are new."""
    moved = no_details(ids)
    places = places_of(ids, columns.ids)
    before = places_of(columns.ids, ids)
    names = ("taken", "camera_code", "latitude", "longitude", "width", "height")
    parts = {
        name: _with(getattr(moved, name), places, getattr(columns, name)[before]) for name in names
    }
    kept = frozenset(ids.tolist())
    texts = {
        name: {each: text for each, text in found.items() if each in kept}
        for name, found in columns.texts.items()
    }
    return DetailColumns(ids=ids, cameras=columns.cameras, texts=texts, **parts)


def places_of(ids: Ids, wanted: Ids) -> Ids:
    """Places among ascending ids of those that are there, in ascending order."""
    places = np.searchsorted(ids, wanted)
    is_there = places < len(ids)
    is_there[is_there] = ids[places[is_there]] == wanted[is_there]
    return np.sort(places[is_there]).astype(np.int64)

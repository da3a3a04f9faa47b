"""Corrected camera clocks: times are corrected when read, files and details are unchanged."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from engine.collection.clock_preview import preview_correction
from engine.errors import InputError
from engine.files import FoundFile, PhotoDetails
from engine.project import ImageDetails, Project
from engine.project.clock_corrections import (
    ClockCorrection,
    are_corrections,
    offset_text,
    read_offset,
    read_zone,
)
from tests.support.projects import dump, new_project

NOON = datetime(2024, 5, 1, 12)  # noqa: DTZ001 (cameras know no zone)
NAMES = ("a/1.jpg", "a/b/2.jpg", "ab/3.jpg", "4.jpg")
HOUR_LATE = ClockCorrection("a", seconds=3_720)


@pytest.fixture
def photos(tmp_path: Path) -> Project:
    """Photos of two cameras of one model, taken at noon; the last one has a time zone."""
    project = new_project(tmp_path)
    project.images.add([FoundFile(tmp_path / name, 1, 1) for name in NAMES])
    zoned = NOON.replace(tzinfo=timezone(timedelta(hours=1)))
    project.details.store(
        [
            ImageDetails(1, 1, taken_at=NOON, camera="Trap", fields={"serial": "7"}),
            ImageDetails(2, 1, taken_at=NOON, camera="Trap"),
            ImageDetails(3, 1, taken_at=NOON, camera="Trap", fields={"serial": "8"}),
            ImageDetails(4, 1, taken_at=zoned, camera="Phone"),
        ]
    )
    return project


def hours(project: Project) -> list[str]:
    return [
        f"{each.taken_at:%H:%M}" for each in project.details.each() if each.taken_at is not None
    ]


def test_a_folder_is_corrected_with_all_below_it(photos: Project) -> None:
    before = dump(photos)
    change = photos.clocks.set(HOUR_LATE)
    assert (change.text, change.settings) == ("Corrected the clock of a", ("clock_corrections",))
    assert hours(photos) == ["13:02", "13:02", "12:00", "12:00"]
    assert photos.details.of(1) == photos.details.of_many([1])[1]
    as_read = photos.details.as_read(1)
    assert as_read is not None
    assert as_read.taken_at == NOON
    photos.history.undo()
    assert (hours(photos), dump(photos)) == (4 * ["12:00"], before)
    photos.history.redo()
    assert photos.check() == []


def test_the_deepest_folder_wins_and_a_folder_over_a_camera(photos: Project) -> None:
    photos.clocks.set(HOUR_LATE)
    photos.clocks.set(ClockCorrection("a/b", seconds=-60))
    photos.clocks.set(ClockCorrection(None, "Trap", seconds=120))
    photos.clocks.set(ClockCorrection(None, "Trap", "8", seconds=180))
    assert hours(photos) == ["13:02", "11:59", "12:03", "12:00"]
    photos.clocks.set(ClockCorrection("", seconds=60))
    assert hours(photos) == ["13:02", "11:59", "12:01", "12:01"]


def test_a_correction_is_replaced_and_removed(photos: Project) -> None:
    photos.clocks.set(HOUR_LATE)
    photos.clocks.set(ClockCorrection("a", seconds=60))
    assert photos.clocks.corrections().all == (ClockCorrection("a", seconds=60),)
    change = photos.clocks.set(ClockCorrection("a"))
    assert change.text == "Removed the correction of the clock of a"
    assert not photos.clocks.corrections()


def test_shot_times_are_those_of_the_details(photos: Project) -> None:
    photos.clocks.set(HOUR_LATE)
    photos.clocks.set(ClockCorrection(None, "Trap", "8", 60, 120))
    photos.clocks.set(ClockCorrection(None, "Phone", seconds=-60))
    shots = {
        image_id: (moment, clock)
        for image_id, moment, clock, _source in photos.details.shot_times()
    }
    for each in photos.details.each():
        assert each.taken_at is not None
        clock = each.taken_at.replace(tzinfo=timezone.utc).timestamp()  # noqa: UP017
        moment = clock if each.taken_at.tzinfo is None else each.taken_at.timestamp()
        assert shots[each.image_id] == (moment, clock)
    third, last = photos.details.of(3), photos.details.of(4)
    assert third is not None
    assert last is not None
    assert f"{third.taken_at:%H:%M %z}" == "12:01 +0200"
    assert f"{last.taken_at:%H:%M %z}" == "11:59 +0100"


def test_what_a_correction_would_change(photos: Project) -> None:
    preview = preview_correction(photos, HOUR_LATE)
    late = NOON + timedelta(seconds=3_720)
    assert (preview.images, preview.before, preview.after) == (2, (NOON, NOON), (late, late))
    photos.clocks.set(HOUR_LATE)
    assert preview_correction(photos, HOUR_LATE).images == 0
    assert preview_correction(photos, ClockCorrection(None, "Trap", seconds=5)).images == 1
    assert preview_correction(photos, ClockCorrection("a")).after == (NOON, NOON)


def test_a_folder_as_it_is_on_this_computer(photos: Project, tmp_path: Path) -> None:
    assert photos.clocks.stored_folder(tmp_path / "a" / "b") == "a/b"
    assert photos.clocks.stored_folder(tmp_path) == ""


def test_headers_of_files_are_read_corrected(photos: Project, tmp_path: Path) -> None:
    facts = PhotoDetails(1, 1, NOON, "Trap", fields={"serial": "7"})

    def taken(name: str) -> datetime | None:
        return photos.clocks.corrected(lambda _path: facts)(tmp_path / name).taken_at

    assert taken("a/1.jpg") == NOON
    photos.clocks.set(HOUR_LATE)
    assert [taken(name) for name in NAMES[1:3]] == [NOON + timedelta(seconds=3_720), NOON]
    photos.clocks.set(ClockCorrection(None, "Trap", "7", seconds=1))
    assert taken("ab/3.jpg") == NOON + timedelta(seconds=1)


def test_a_time_that_no_calendar_has_stays(photos: Project) -> None:
    last = datetime.fromisoformat("9999-12-31T23:59:59")
    photos.details.store([ImageDetails(1, 1, taken_at=last, camera="Trap")])
    photos.clocks.set(HOUR_LATE)
    assert next(each.taken_at for each in photos.details.each()) == last


@pytest.mark.parametrize(
    "correction",
    [
        ClockCorrection(),
        ClockCorrection("a", "Trap", seconds=1),
        ClockCorrection("a", serial="7", seconds=1),
        ClockCorrection("a", seconds=10**11),
        ClockCorrection("a", zone_minutes=841),
    ],
)
def test_corrections_that_are_none(photos: Project, correction: ClockCorrection) -> None:
    with pytest.raises(InputError):
        photos.clocks.set(correction)


@pytest.mark.parametrize(
    "values", [None, {}, [1], [{"folder": 1}], [{"folder": "a", "seconds": True}], [{"odd": 1}]]
)
def test_plain_values_that_are_no_corrections(values: object) -> None:
    assert not are_corrections(values)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("+1h02m", 3_720),
        ("-3:30", -12_600),
        ("+1:02:15", 3_735),
        ("2d", 172_800),
        ("45 s", 45),
        ("+1 h 02 min", 3_720),
    ],
)
def test_offsets(text: str, seconds: int) -> None:
    assert read_offset(text) == seconds
    assert read_offset(offset_text(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "+", "an hour", "1", "1:75", "1h1h", "99999999999h"])
def test_offsets_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="not a clock offset"):
        read_offset(text)


@pytest.mark.parametrize(
    ("text", "minutes"), [("+02:00", 120), ("UTC-3", -180), ("utc", 0), ("+0530", 330)]
)
def test_zones(text: str, minutes: int) -> None:
    assert read_zone(text) == minutes


@pytest.mark.parametrize("text", ["", "Berlin", "+15", "02:00"])
def test_zones_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="not a time zone"):
        read_zone(text)


def test_times_without_a_zone_are_in_the_zone_of_their_source(photos: Project) -> None:
    """The zone of other photos of the same camera and folder.

    A photo's own zone has priority.
    """
    zones = (None, timezone(timedelta(hours=2)), timezone(timedelta(hours=1)))
    photos.images.add([FoundFile(photos.path.parent / f"d/{hour}.jpg", 1, 1) for hour in range(3)])
    photos.details.store(
        ImageDetails(5 + place, 1, taken_at=NOON.replace(tzinfo=zone), camera="Other")
        for place, zone in enumerate(zones)
    )
    noon = int(NOON.replace(tzinfo=timezone.utc).timestamp())  # noqa: UP017
    moments = [
        moment - noon
        for image_id, moment, _clock, _source in photos.details.shot_times()
        if image_id >= 5
    ]
    assert moments == [-7_200, -7_200, -3_600]
    photos.clocks.set(ClockCorrection("d", seconds=60))
    moments = [
        moment - noon
        for image_id, moment, _clock, _source in photos.details.shot_times()
        if image_id >= 5
    ]
    assert moments == [-7_140, -7_140, -3_540]

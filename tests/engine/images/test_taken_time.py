"""Capture times in file metadata: no invented times, no lost zones."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from engine.images.taken_time import TakenTime, first_taken, taken_time

EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1912-06-03", "1912-06-03"),
        ("1912-06", "1912-06"),
        ("1912", "1912"),
        ("19120603", "1912-06-03"),
        ("2012:06:00 00:00:00", "2012-06"),
        ("2012:00:00 00:00:00", "2012"),
        ("2012:06:03   :  :  ", "2012-06-03"),
        ("0000:00:00 00:00:00", ""),
        ("    :  :     :  :  ", ""),
        ("1600-01-01", ""),
        ("2199-06", ""),
        ("1912-13-40", ""),
        ("some day in 1912", ""),
        ("", ""),
    ],
)
def test_a_date_without_a_time(text: str, date: str) -> None:
    assert taken_time(text) == TakenTime(None, date)


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2024:05:01 06:00:00", "+02:00", datetime(2024, 5, 1, 6, tzinfo=EAST)),
        ("2024-05-01T06:00:00.25+02:00", "", datetime(2024, 5, 1, 6, tzinfo=EAST)),
        ("2024-05-01T06:00Z", "", datetime(2024, 5, 1, 6, tzinfo=UTC)),
        ("2024-05-01 06:00:00", "+0200", datetime(2024, 5, 1, 6, tzinfo=EAST)),
        ("2024:05:01 06:00:00", "+99:99", datetime(2024, 5, 1, 6)),  # noqa: DTZ001
    ],
)
def test_a_moment_keeps_its_zone(text: str, zone: str, expected: datetime) -> None:
    found = taken_time(text, zone).at
    assert found == expected
    assert found.tzinfo == expected.tzinfo


def test_the_zone_of_another_block_with_the_same_time() -> None:
    """EXIF often has none; a date with time has priority over a date, earlier tags over later."""
    bare, zoned = taken_time("2024:05:01 06:00:00"), taken_time("2024-05-01T06:00:00+02:00")
    assert first_taken([taken_time("2012"), bare, zoned]).at == zoned.at
    assert first_taken([bare, taken_time("2024-05-01T07:00:00+02:00")]) == bare
    assert first_taken([TakenTime(), taken_time("2012-06")]).date == "2012-06"

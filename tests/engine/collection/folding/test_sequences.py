import numpy as np
import pytest
from numpy.typing import NDArray

from engine.collection.folding.partitions import ALONE
from engine.collection.folding.sequences import (
    MOST_IN_A_SECOND,
    UNKNOWN_TIME,
    ShotTimes,
    sequences,
    sound_seconds,
)

NOON = 1_714_564_800  # on 1 May 2024


def _shots(seconds: list[int], sources: list[int] | None = None) -> ShotTimes:
    times = np.array(seconds, dtype=np.int64)
    return ShotTimes(times, times, np.array(sources or [0] * len(seconds), dtype=np.int64))


def test_successive_shots_by_hand() -> None:
    """Gaps of at most 5 s make sequences (0, 3, 8 and 60, 65; not 20), in any order of images."""
    shots = _shots([NOON + each for each in (60, 0, 20, 3, 65, 8)])
    assert sequences(shots, 5).tolist() == [1, 0, ALONE, 0, 1, 0]
    assert sequences(shots, 60).max() == 0
    assert sequences(shots, 2).tolist() == [ALONE] * 6


def test_another_camera_or_folder_is_another_sequence() -> None:
    found = sequences(_shots([NOON, NOON + 1, NOON + 1, NOON + 2], [0, 1, 0, 1]), 5).tolist()
    assert found == [0, 1, 0, 1]


def test_times_that_say_nothing() -> None:
    """Images without a time, with a reset clock or an invalid year are in no sequence."""
    texts = [
        "NaT",
        "1970-01-01T00:00:03",
        "1899-12-31T00:00:00",
        "2999-01-01T00:00:00",
        "2024-05-01T12:00:00",
    ]
    seconds = sound_seconds(np.array(texts, "datetime64[s]").astype(np.int64))
    assert seconds.tolist() == [UNKNOWN_TIME] * 4 + [NOON]
    assert sequences(ShotTimes(seconds, seconds, np.zeros(5, dtype=np.int64)), 60).max() == ALONE


def test_more_shots_in_a_second_than_a_camera_takes_have_no_time() -> None:
    """A stopped clock makes no sequence of a whole folder; earlier shots keep theirs."""
    still = [NOON + 100] * (MOST_IN_A_SECOND + 1)
    found = sequences(_shots([NOON, NOON + 1, *still]), 5)
    assert found.tolist() == [0, 0] + [ALONE] * len(still)
    assert sequences(_shots(still[:-1]), 5).max() == 0


def _sizes(seconds: NDArray[np.int64], most_seconds: int) -> list[int]:
    """Sizes of the sequences, largest first; images in none are omitted."""
    found = sequences(
        ShotTimes(seconds, seconds, np.zeros(len(seconds), dtype=np.int64)), most_seconds
    )
    return sorted(np.bincount(found[found != ALONE]).tolist(), reverse=True)


@pytest.mark.parametrize(("interval_s", "frames"), [(1, 600), (30, 40), (60, 60), (120, 12)])
@pytest.mark.parametrize("jitter_s", [0, 0.04])
def test_frames_at_an_even_interval_over_minutes_are_no_sequence(
    interval_s: int, frames: int, jitter_s: float
) -> None:
    """Time-lapse frames, also at slightly uneven intervals, are no sequence; bursts are."""
    jitter = np.random.default_rng(3).uniform(-jitter_s, jitter_s, frames) * interval_s
    lapse = NOON + (interval_s * np.arange(frames) + jitter + 0.5).astype(np.int64)
    assert _sizes(lapse, 120) == []
    burst = lapse[-1] + 1_000 + np.array([0, 1, 2])
    assert _sizes(np.concatenate([lapse, burst]), 120) == [3]


def test_triggers_of_three_shots_every_few_seconds_fold() -> None:
    """Triggers of a camera trap in quick succession are cut into sequences of limited length."""
    triggers = NOON + np.cumsum(np.random.default_rng(5).integers(5, 20, 60))
    seconds = (triggers[:, None] + np.array([0, 1, 2])).ravel()
    sizes = _sizes(seconds, 60)
    assert sum(sizes) == len(seconds)
    assert all(size % 3 == 0 for size in sizes)


@pytest.mark.parametrize(("most_seconds", "longest_s"), [(5, 60), (60, 600), (120, 1_200)])
def test_a_sequence_has_a_longest_span(most_seconds: int, longest_s: int) -> None:
    seconds = NOON + np.cumsum(np.random.default_rng(7).integers(0, most_seconds + 1, 5_000))
    found = sequences(
        ShotTimes(seconds, seconds, np.zeros(len(seconds), dtype=np.int64)), most_seconds
    )
    spans = [np.ptp(seconds[found == each]) for each in range(found.max() + 1)]
    assert longest_s / 2 < max(spans) <= longest_s
    assert len(spans) > 10

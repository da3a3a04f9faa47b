import numpy as np

from engine.collection.folding.partitions import ALONE
from engine.collection.folding.sequences import MOST_IN_A_SECOND, UNKNOWN_TIME, ShotTimes, sequences, sound_seconds

NOON = 1_714_564_800  # on 1 May 2024


def _shots(seconds: list[int], sources: list[int] | None = None) -> ShotTimes:
    times = np.array(seconds, dtype=np.int64)
    return ShotTimes(times, times, np.array(sources or [0] * len(seconds), dtype=np.int64))


def test_successive_shots_by_hand() -> None:
    """0, 3 and 8 s follow each other within 5 s, as do 60 and 65; 20 s stands alone, whatever the images' order."""
    shots = _shots([NOON + each for each in (60, 0, 20, 3, 65, 8)])
    assert sequences(shots, 5).tolist() == [1, 0, ALONE, 0, 1, 0]
    assert sequences(shots, 60).max() == 0
    assert sequences(shots, 2).tolist() == [ALONE] * 6


def test_another_camera_or_folder_is_another_sequence() -> None:
    found = sequences(_shots([NOON, NOON + 1, NOON + 1, NOON + 2], [0, 1, 0, 1]), 5).tolist()
    assert found == [0, 1, 0, 1]


def test_times_that_say_nothing() -> None:
    """None at all, a clock at its beginning, and years that are none: in no sequence."""
    texts = ["NaT", "1970-01-01T00:00:03", "1899-12-31T00:00:00", "2999-01-01T00:00:00", "2024-05-01T12:00:00"]
    seconds = sound_seconds(np.array(texts, "datetime64[s]").astype(np.int64))
    assert seconds.tolist() == [UNKNOWN_TIME] * 4 + [NOON]
    assert sequences(ShotTimes(seconds, seconds, np.zeros(5, dtype=np.int64)), 60).max() == ALONE


def test_more_shots_in_a_second_than_a_camera_takes_have_no_time() -> None:
    """A clock that stands still makes no burst of the whole folder; the shots before it stay one."""
    still = [NOON + 100] * (MOST_IN_A_SECOND + 1)
    found = sequences(_shots([NOON, NOON + 1, *still]), 5)
    assert found.tolist() == [0, 0] + [ALONE] * len(still)
    assert sequences(_shots(still[:-1]), 5).max() == 0


def test_one_sequence_of_50_000_among_100_000_takes_no_time() -> None:
    seconds = np.concatenate([NOON + 3 * np.arange(50_000), np.full(50_000, UNKNOWN_TIME)])
    found = sequences(ShotTimes(seconds, seconds, np.zeros(100_000, dtype=np.int64)), 5)
    assert [int(np.count_nonzero(found == each)) for each in (0, ALONE)] == [50_000, 50_000]

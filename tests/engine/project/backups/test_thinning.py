"""Properties of thinning for arbitrary lists of times."""

from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.project.backups.keeping import KEPT_BEFORE_ACTIONS, Moment, superfluous
from engine.project.backups.place import BackupReason

NOW = datetime(2026, 6, 1, 12).astimezone()
AUTOMATIC = (BackupReason.QUARTER_HOUR, BackupReason.DAY)
MOST_KEPT = 8 + 24 + 14 + 12

moments = st.lists(
    st.builds(
        Moment,
        st.integers(-2 * 86_400, 400 * 86_400).map(
            lambda seconds: NOW - timedelta(seconds=seconds)
        ),
        st.sampled_from(BackupReason),
    ),
    max_size=200,
)


def kept_of(given_moments: list[Moment]) -> list[Moment]:
    gone = set(superfluous(given_moments, NOW))
    return [moment for place, moment in enumerate(given_moments) if place not in gone]


@pytest.mark.slow
@given(moments)
def test_what_must_stay_stays(given_moments: list[Moment]) -> None:
    """The newest, requested ones, future ones, and two weeks of backups before actions stay."""
    gone = [given_moments[place] for place in superfluous(given_moments, NOW)]
    past = [moment.when for moment in given_moments if moment.when <= NOW]
    assert not past or max(past) in {moment.when for moment in kept_of(given_moments)}
    for moment in gone:
        assert moment.when <= NOW
        assert moment.reason is not BackupReason.ASKED
        assert not moment.reason.is_before_action or NOW - moment.when > KEPT_BEFORE_ACTIONS


@pytest.mark.slow
@given(moments)
def test_few_automatic_ones_stay(given_moments: list[Moment]) -> None:
    kept = [
        each for each in kept_of(given_moments) if each.when <= NOW and each.reason in AUTOMATIC
    ]
    assert len(kept) <= MOST_KEPT


@pytest.mark.slow
@given(moments)
def test_thinning_twice_takes_nothing_more(given_moments: list[Moment]) -> None:
    assert superfluous(kept_of(given_moments), NOW) == []


@pytest.mark.slow
@given(moments, st.randoms(use_true_random=False))
def test_the_order_does_not_matter(given_moments: list[Moment], random: Random) -> None:
    shuffled = list(given_moments)
    random.shuffle(shuffled)
    assert sorted(kept_of(shuffled), key=_key) == sorted(kept_of(given_moments), key=_key)


def _key(moment: Moment) -> tuple[datetime, str]:
    return moment.when, moment.reason.value


@pytest.mark.slow
def test_a_year_of_work_by_hand() -> None:
    """Thinned after each backup: 8 quarter hours, 24 hours, 14 days and 12 weeks are left."""
    start = NOW - timedelta(days=120)
    kept: list[Moment] = []
    quarters = [start + timedelta(minutes=15 * count) for count in range(120 * 96 + 1)]
    for when in quarters:
        kept.append(Moment(when, BackupReason.QUARTER_HOUR))
        gone = set(superfluous(kept, when))
        kept = [moment for place, moment in enumerate(kept) if place not in gone]
    ages = [NOW - moment.when for moment in kept]
    assert sum(age < timedelta(hours=2) for age in ages) == 8
    assert (
        sum(age < timedelta(days=1) for age in ages) == 8 + 24 - 3
    )  # three are also the last of their hours
    assert (
        len({moment.when.date() for moment in kept if NOW - moment.when < timedelta(days=14)}) == 14
    )
    assert len({tuple(moment.when.isocalendar())[:2] for moment in kept}) == 12
    assert len(kept) < MOST_KEPT


def test_a_long_holiday_costs_nothing() -> None:
    """Backups before a break of months stay after it."""
    before = [Moment(NOW - timedelta(days=200 + count), BackupReason.DAY) for count in range(30)]
    gone = superfluous([*before, Moment(NOW, BackupReason.DAY)], NOW)
    assert min(gone) >= 13, "the day of the return takes one of the 14 places"
    assert len(gone) < 17, "of the weeks before, one is left of each"


def test_the_latest_states_stay_whatever_their_dates_say() -> None:
    """Newest generations stay, also with dates years in the past."""
    right = [Moment(NOW - timedelta(days=day), BackupReason.DAY, day) for day in range(400, 0, -1)]
    behind = [
        Moment(NOW - timedelta(days=9_000 - hour), BackupReason.DAY, 1_000 + hour)
        for hour in range(12)
    ]
    gone = {(right + behind)[place].generation for place in superfluous(right + behind, NOW)}
    assert gone.isdisjoint(range(1_004, 1_012))


def test_one_of_the_future_takes_nobodys_place() -> None:
    good = [
        Moment(NOW - timedelta(minutes=15 * number), BackupReason.QUARTER_HOUR, 100 - number)
        for number in range(8)
    ]
    ahead = [
        Moment(NOW + timedelta(days=900 + day), BackupReason.QUARTER_HOUR, 200 + day)
        for day in range(20)
    ]
    assert superfluous(good + ahead, NOW) == []

"""Which backups may go: close together for today, further apart for longer ago."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from engine.project.backups.naming import BackupReason

Slot = Callable[[datetime], tuple[int, ...]]
"""The stretch of time in which a backup lies."""

KEPT_BEFORE_ACTIONS: Final = timedelta(days=14)
_LATEST: Final = 8  # states that stay in any case
_QUARTER_S: Final = 900
_HOUR_S: Final = 3600


@dataclass(frozen=True)
class Moment:
    """A backup, as far as thinning must know it.

    Attributes:
        when: with time zone.
        reason: why it was made.
        generation: how often the project had been committed to.
    """

    when: datetime
    reason: BackupReason
    generation: int = 0


def superfluous(moments: Sequence[Moment], now: datetime) -> list[int]:
    """Which of the sound backups of a project may be deleted.

    The newest stays of each of the last 8 quarter hours, 24 hours, 14 days and 12 weeks that have any, so a long
    holiday costs nothing. The eight latest states stay, whatever their dates say. What was made before an action stays
    for two weeks at least, what a person asked for stays until they delete it, and what seems to come from the future
    (a clock was wrong) is left alone.

    Args:
        moments: in any order.
        now: with time zone.

    Returns:
        Positions in `moments`.
    """
    past = [place for place, each in enumerate(moments) if each.when <= now]
    newest_first = sorted(past, key=lambda place: (moments[place].when, moments[place].reason.value), reverse=True)
    kept = {place for slot, count in _TIERS for place in _newest_of_each(moments, newest_first, slot, count)}
    kept.update(place for place in past if _stays(moments[place], now))
    kept.update(sorted(newest_first, key=lambda place: moments[place].generation, reverse=True)[:_LATEST])
    return [place for place in past if place not in kept]


def _newest_of_each(moments: Sequence[Moment], newest_first: Sequence[int], slot: Slot, count: int) -> Collection[int]:
    newest: dict[tuple[int, ...], int] = {}
    for place in newest_first:
        newest.setdefault(slot(moments[place].when), place)
    return list(newest.values())[:count]


def _stays(moment: Moment, now: datetime) -> bool:
    if moment.reason is BackupReason.ASKED:
        return True
    return moment.reason.is_before_action and now - moment.when <= KEPT_BEFORE_ACTIONS


def _quarter(when: datetime) -> tuple[int, ...]:
    return (int(when.timestamp() // _QUARTER_S),)


def _hour(when: datetime) -> tuple[int, ...]:
    return (int(when.timestamp() // _HOUR_S),)


def _day(when: datetime) -> tuple[int, ...]:
    return (when.toordinal(),)


def _week(when: datetime) -> tuple[int, ...]:
    return tuple(when.isocalendar())[:2]


_TIERS: Final[Sequence[tuple[Slot, int]]] = ((_quarter, 8), (_hour, 24), (_day, 14), (_week, 12))

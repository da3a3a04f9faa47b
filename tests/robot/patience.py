"""Waiting for a condition with a deadline, never for a fixed time."""

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")

DEADLINE_S = 10.0
LOOK_S = 0.03


def wait_for(look: Callable[[], Seen | None], what: str, deadline_s: float = DEADLINE_S) -> Seen:
    """Poll until a value is true, and return it.

    Args:
        look: gives the value.
        what: description for the error message.
        deadline_s: time limit.

    Raises:
        AssertionError: the value was not true in time.
    """
    end = time.monotonic() + deadline_s
    while not (seen := look()):
        assert time.monotonic() < end, f"not seen within {deadline_s:g} s: {what}"
        time.sleep(LOOK_S)
    return seen


def wait_until_still(look: Callable[[], Seen], what: str, *, still_s: float = 0.4) -> Seen:
    """Poll until the value has not changed for a while."""
    seen, since = look(), time.monotonic()

    def at_rest() -> bool:
        nonlocal seen, since
        now = look()
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since >= still_s

    wait_for(at_rest, f"{what} at rest")
    return seen

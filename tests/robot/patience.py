"""Waiting for what must come, with a deadline; never for a fixed time."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

Seen = TypeVar("Seen")

DEADLINE_S: Final = 10.0
LOOK_S: Final = 0.03


def wait_for(look: Callable[[], Seen | None], what: str, deadline_s: float = DEADLINE_S) -> Seen:
    """Look again and again until something is there.

    Args:
        look: gives something true once it is there.
        what: is waited for, for the message.
        deadline_s: how long a person would wait at most.

    Raises:
        AssertionError: it did not come in time.
    """
    end = time.monotonic() + deadline_s
    while not (seen := look()):
        assert time.monotonic() < end, f"not seen within {deadline_s:g} s: {what}"
        time.sleep(LOOK_S)
    return seen


def wait_until_still(look: Callable[[], Seen], what: str, *, still_s: float = 0.4) -> Seen:
    """Look until the same was seen for a while: what moved has come to rest."""
    seen, since = look(), time.monotonic()

    def at_rest() -> bool:
        nonlocal seen, since
        now = look()
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since >= still_s

    wait_for(at_rest, f"{what} at rest")
    return seen

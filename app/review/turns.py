"""Keys in the order in which they were pressed: none is lost while one of them waits for what it stands for."""

from collections import deque
from collections.abc import Callable
from typing import final

Act = Callable[[], None]
Attempt = Callable[[], bool]
"""Does what a key means; False while that cannot be told yet."""


@final
class Turns:
    """Does one act after another; an attempt that must wait holds up those after it."""

    def __init__(self) -> None:
        self._held_up: Attempt | None = None
        self._is_trying = False
        self._waiting: deque[Act] = deque()

    @property
    def is_waiting(self) -> bool:
        """Whether keys are still to be worked off."""
        return self._held_up is not None

    def take(self, act: Act) -> None:
        """Do it now, or when those before it are done."""
        if self.is_waiting:
            self._waiting.append(act)
        else:
            act()

    def attempt(self, attempt: Attempt) -> None:
        """Do it now, or hold everything up until `go_on` finds that it can be done."""
        if not attempt():
            self._held_up = attempt

    def go_on(self) -> None:
        """Try again what holds things up, then do what waits behind it."""
        attempt = self._held_up
        if attempt is None or self._is_trying:
            return
        self._is_trying = True  # what it does is news, and news make whoever listens go on
        try:
            is_done = attempt()
        finally:
            self._is_trying = False
        if not is_done:
            return
        self._held_up = None
        while self._waiting and not self.is_waiting:
            self._waiting.popleft()()

    def forget(self) -> None:
        """Drop all: the project was left."""
        self._held_up = None
        self._waiting.clear()

"""Reading the image under review from the screen: the framed card and the class of digit 1."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import final

import numpy as np

from app.session.current_card import REACTION_S
from tests.robot.eyes import Area, Picture
from tests.robot.marked_images import Seen, read_marked
from tests.robot.patience import DEADLINE_S, wait_for
from tests.robot.person import Person
from tests.robot.print_reader import PrintReader

FRAME_REACH = 9
"""Pixels left of a card's picture to the background between cards; a frame is nearer."""
STANDS_OUT = 90
"""Minimum difference of a frame from the background in a channel; a selected card's is less."""
KEY_WIDTH = 26
"""Width of the painted key before a name in the inspector."""
MARGIN = 16
CAPTION_HEIGHT = 22
CALM_S = 0.5
"""Without a key for this long, rankings of a card may change: a person reads them once more."""


@dataclass(frozen=True)
class Shown:
    """Contents of the screen at one moment; None for what could not be read.

    Attributes:
        framed: numbers of the pictures on framed cards; there should be one.
        on_card: the name below the framed picture.
        described: number of the picture in the inspector; None while it is loading.
        guesses: the first names in the inspector, as many as were requested.
    """

    framed: tuple[int, ...]
    on_card: str | None
    described: int | None
    guesses: tuple[str, ...]

    @property
    def first_guess(self) -> str | None:
        """The first name in the inspector."""
        return self.guesses[0] if self.guesses else None

    @property
    def is_whole(self) -> bool:
        """Whether there is exactly one framed picture and a prediction."""
        return len(self.framed) == 1 and self.first_guess is not None


@final
class Review:
    """Read cards and inspector during a review.

    Args:
        person: the simulated user.
        names: of all classes.
    """

    def __init__(self, person: Person, names: Sequence[str]) -> None:
        self._person = person
        self._pressed_s = -math.inf
        self._reader = PrintReader([*names, *(f"{name}?" for name in names)])
        self._grid = person.grid
        window = person.window
        self._inspector = Area(
            self._grid.right, window.top, window.right - self._grid.right, window.height
        )
        self._whole = Area(
            self._grid.left, window.top, window.right - self._grid.left, window.height
        )

    def shown(self, rows: int = 1) -> Shown:
        """The current contents of the screen."""
        return self._read(self._person.eyes.look(self._whole), rows)

    def wait_until_whole(self, deadline_s: float = DEADLINE_S) -> Shown:
        """Wait until there is a framed card and a prediction."""
        return self.wait_until(
            lambda shown: shown.is_whole, "a framed card and its first guess", deadline_s
        )

    def wait_until(
        self,
        is_so: Callable[[Shown], bool],
        what: str,
        deadline_s: float = DEADLINE_S,
        *,
        rows: int = 1,
    ) -> Shown:
        """Wait until cards and inspector fulfil a condition."""
        return wait_for(lambda: now if is_so(now := self.shown(rows)) else None, what, deadline_s)

    def press(self, key: str, *, rows: int = 1) -> Shown:
        """Press a key; returns the contents of the screen at that moment."""
        return self._press(key, self.shown(rows), rows)

    def _press(self, key: str, read: Shown, rows: int) -> Shown:
        while not self._press_if_same(key, read, rows):
            read = self.shown(rows)
        self._pressed_s = time.monotonic()
        return read

    def _press_if_same(self, key: str, read: Shown, rows: int) -> bool:
        """Press a key unless the screen has changed since it was read; returns whether pressed."""
        eyes, hand = self._person.eyes, self._person.hand
        if time.monotonic() - self._pressed_s > CALM_S:
            time.sleep(REACTION_S)
        with eyes.frozen():
            is_same = replace(self.shown(rows), described=read.described) == read
            if is_same:
                hand.key_down(key)
        if is_same:
            hand.key_up(key)
        return is_same

    def label_steadily(self, keys: Sequence[str], a_second: float, *, rows: int = 1) -> list[Shown]:
        """Press keys, one for each image; returns the contents of the screen at each press."""
        seen: list[Shown] = []
        due = time.monotonic()
        for key in keys:
            time.sleep(max(0.0, due - time.monotonic()))
            before = seen[-1].framed if seen else ()
            read = self.wait_until(partial(_is_next, before), "the next card, framed", rows=rows)
            seen.append(self._press(key, read, rows))
            due = max(due + 1 / a_second, time.monotonic())
        return seen

    def _read(self, picture: Picture, rows: int = 1) -> Shown:
        grid = _within(self._grid, self._whole).cut(picture)
        cards = read_marked(grid)
        framed = [card for card in cards if _is_framed(grid, card)]
        inspector = _within(self._inspector, self._whole).cut(picture)
        pictures = read_marked(inspector)
        return Shown(
            tuple(card.number for card in framed),
            self._caption(grid, framed[0].area) if framed else None,
            pictures[0].number if pictures else None,
            self._guesses(inspector, rows),
        )

    def _caption(self, grid: Picture, card: Area) -> str | None:
        return self._reader.first_name(
            Area(card.left - 1, card.bottom + 2, card.width, CAPTION_HEIGHT).cut(grid)
        )

    def _guesses(self, inspector: Picture, rows: int) -> tuple[str, ...]:
        """The first names right of the painted keys."""
        names = self._reader.names(inspector[:, MARGIN + KEY_WIDTH : inspector.shape[1] - MARGIN])
        return tuple(islice(names, rows))


def _is_next(before: tuple[int, ...], shown: Shown) -> bool:
    return shown.is_whole and shown.framed != before


def _within(part: Area, whole: Area) -> Area:
    return part.moved(-whole.left, -whole.top)


def _is_framed(grid: Picture, card: Seen) -> bool:
    """Whether there is a line left of a picture."""
    area = card.area
    beside = grid[
        area.top + area.height // 2, max(0, area.left - FRAME_REACH) : area.left - 1
    ].astype(np.int16)
    return bool(np.abs(beside - beside[0]).max() > STANDS_OUT)

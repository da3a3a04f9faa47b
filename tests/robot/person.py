"""A simulated user: program, mouse and keyboard, screenshots, and accessible names."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import final

import numpy as np

from tests.robot.display import Display
from tests.robot.eyes import Area, Eyes, Picture
from tests.robot.hand import Hand, Point
from tests.robot.marked_images import Seen, read_marked
from tests.robot.patience import DEADLINE_S, LOOK_S, wait_for, wait_until_still
from tests.robot.program import Program
from tests.robot.project_file import parents_in
from tests.robot.screen_reader import Part, ScreenReader
from tests.support.fresh_home import FreshHome

TITLE = "Protoleaf"
TITLE_BAR = 8
"""Pixels above a window's client area to a point of its title bar."""
START_S = 60.0
DRAGGING_PIXELS_A_SECOND = 1500
ARROW = 8
"""Pixels left of a class's row to its expand arrow."""
ANALYSING = "Analysing images"
REFINING = "Refining predictions"
"""Title of the second embedding pass, for further views."""
SECOND_PASS_BEGINS_S = 5.0
SECOND_PASS_S = 60.0
REST_S = 0.2
"""Pause over the drop position, before and after the release."""


@final
class Person:
    """A simulated user at a display, with a home folder.

    Args:
        display: the display.
        home: with the program's settings, caches and projects.
        scale: of the program, 1 or 2.
    """

    def __init__(self, display: Display, home: FreshHome, scale: int = 1) -> None:
        self.display = display
        self.home = home
        self.eyes = Eyes(display)
        self.hand = Hand(self.eyes)
        more = {} if scale == 1 else {"QT_SCALE_FACTOR": str(scale)}
        self.program = Program(display, home, more)
        self.reader = ScreenReader(display, scale)
        self._seen_last: Picture = np.zeros((0, 0, 3), np.uint8)

    # -- start and end

    def start(self, project: Path | None = None, title: str = "") -> None:
        """Start the program and wait for its window."""
        self.program.start(*([] if project is None else [project]))
        wanted = title or (TITLE if project is None else f"{project.stem} - {TITLE}")
        self.wait(lambda: self.eyes.window(wanted), f"the window “{wanted}”", START_S)

    def open(self, project: Path) -> None:
        """Start the program with a project, and wait until its cards do not move."""
        self.start(project)
        grid = self.grid
        self.wait(lambda: self.cards(grid), "cards", START_S)
        self.wait_until_calm()

    def quit(self) -> None:
        """Activate the window if needed, and quit the program by its key."""
        if not self.eyes.is_active(TITLE):
            window = self.window
            self.hand.click((window.centre[0], window.top - TITLE_BAR))
            self.wait(lambda: self.eyes.is_active(TITLE), "the window in front")
        self.hand.key("Ctrl+Q")
        self.program.wait_until_ended()

    def leave(self) -> None:
        """Kill the program and close all connections."""
        self.program.kill()
        self.reader.close()
        self.eyes.connection.close()

    # -- the window

    @property
    def window(self) -> Area:
        """The client area of the window."""
        return self.eyes.place_of(TITLE)

    def wait(self, look: Callable[[], object], what: str, deadline_s: float = DEADLINE_S) -> None:
        """Wait for a condition; fail at once if the program has ended."""

        def seen() -> bool:
            assert self.program.is_running, (
                f"the program ended before {what}: {self.program.output}"
            )
            return bool(look())

        wait_for(seen, what, deadline_s)

    def wait_until_new(self, place: Area, patience_s: float) -> None:
        """Wait until an area differs from the last screenshot taken of it, up to a time limit."""
        end = time.monotonic() + patience_s
        while time.monotonic() < end and np.array_equal(self._seen_last, self.eyes.look(place)):
            time.sleep(LOOK_S)

    def wait_until_at_rest(self, place: Area, still_s: float, patience_s: float) -> None:
        """Wait until an area does not change, up to a time limit."""
        start = still_since = time.monotonic()
        before = self.eyes.look(place)
        while time.monotonic() < min(still_since + still_s, start + patience_s):
            time.sleep(LOOK_S)
            now = self.eyes.look(place)
            if (now != before).any():
                before, still_since = now, time.monotonic()
        self._seen_last = before

    def part(self, name: str, role: str = "") -> Part:
        """Wait for a part of the window by its accessible name."""
        return wait_for(lambda: self.reader.find(name, role), f"{role} “{name}”")

    def part_containing(self, words: str, role: str = "", deadline_s: float = DEADLINE_S) -> Part:
        """Wait for a part of the window whose accessible name contains a text."""
        return wait_for(
            lambda: self.reader.containing(words, role), f"{role} “…{words}…”", deadline_s
        )

    def click(self, name: str, role: str = "") -> None:
        """Click a part by its name."""
        self.hand.click(self.part(name, role).area.centre)

    def show_subset(self, name: str) -> None:
        """Click a subset row."""
        self.hand.click(self.part_containing(f"{name}: ", "list item").area.centre)

    def choose_command(self, text: str) -> None:
        """Choose a command in the palette by typing its name."""
        self.hand.key("Ctrl+K")
        self.part("Search commands and classes", "text")
        self.hand.type(text)
        self.hand.key("Enter")

    def answer_file_dialog(self, path: Path) -> None:
        """Type a path into the open file dialog, and press Enter."""
        field = wait_for(self._file_name_field, "the field for the file's name")
        assert field.is_enabled
        self.hand.key("Ctrl+A")
        self.hand.type(str(path))
        self.hand.key("Enter")

    def name_new_project(self, project: Path) -> None:
        """Open the sheet of a new project, and choose its path."""
        self.hand.key("Ctrl+Shift+N")
        self.click("Choose where the project is saved", "push button")
        self.answer_file_dialog(project)

    def make_empty_project(self, project: Path) -> None:
        """Create a project without photos and classes."""
        self.name_new_project(project)
        self.click("Create project", "push button")
        self.wait(lambda: self.eyes.window(project.stem), "the new project")

    def _file_name_field(self) -> Part | None:
        fields = [part for part in self.reader.of_role("text") if part.is_focused]
        has_dialog = len(self.eyes.windows()) > 1
        return fields[0] if fields and has_dialog else None

    # -- dragging

    def drag(self, start: Point, end: Point) -> None:
        """Drag from one point to another."""
        self.pick_up(start)
        self.drop(end)

    def pick_up(self, point: Point) -> None:
        """Press and move until the drag pixmap is visible."""
        before = self.eyes.floating()
        self.hand.pick_up(point)
        self.wait(lambda: self.eyes.floating() - before, "what is dragged, at the pointer")

    def drop(self, point: Point) -> None:
        """Move the drag to a point, and release once the program has followed."""
        self.hand.move_to(point, DRAGGING_PIXELS_A_SECOND)
        # Moves are dropped while the program answers the previous one, so move again.
        for aside in (1, 0):
            self.hand.move_to((point[0] + aside, point[1]))
            time.sleep(REST_S)
            self.reader.wait_for_answer()
        self.hand.release()
        time.sleep(REST_S)

    # -- the grid

    @property
    def grid(self) -> Area:
        """The area of the grid."""
        return self.part("Images").area

    def cards(self, grid: Area) -> list[Seen]:
        """The marked pictures in the grid."""
        return read_marked(self.eyes.look(grid), grid)

    def card(self, number: int) -> Area:
        """The area of a picture in the grid."""
        grid = self.grid
        return wait_for(
            lambda: next((seen.area for seen in self.cards(grid) if seen.number == number), None),
            f"image {number}",
        )

    def wait_until_calm(self) -> None:
        """Wait until cards do not move any more."""
        grid = self.grid
        wait_until_still(lambda: self.cards(grid), "the cards")

    def wait_until_analysed(self) -> None:
        """Wait for the start and end of the second embedding pass, which sorts unheld cards."""
        begun = time.monotonic()
        while (
            time.monotonic() < begun + SECOND_PASS_BEGINS_S
            and self.reader.containing(REFINING) is None
        ):
            time.sleep(LOOK_S)
        self.wait(
            lambda: self.reader.containing(REFINING) is None,
            "the end of the second pass",
            SECOND_PASS_S,
        )
        self.wait_until_calm()

    def unfold(self, name: str) -> None:
        """Click the expand arrow of a class."""
        row = self.class_row(name)
        self.hand.click((row.left - ARROW, row.centre[1]))

    def class_row(self, name: str) -> Area:
        """The row of a class in the tree, whose accessible name may have a suffix."""

        def look() -> Part | None:
            rows = self.reader.of_role("tree item")
            return next(
                (row for row in rows if row.name == name or row.name.startswith(f"{name}.")), None
            )

        return wait_for(look, f"the class {name}").area

    def make_class(self, project: Path, name: str) -> None:
        """Create a class by the button and its name field."""
        self.click("New class (Ctrl+N)", "push button")
        self.wait(lambda: self.reader.focused("text"), "the field for the name")
        self.hand.type(name)
        self.hand.key("Enter")
        wait_for(lambda: name in parents_in(project), f"the class {name}")

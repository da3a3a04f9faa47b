"""A person at the display: the program, mouse and keyboard, eyes, and what a screen reader would say."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, final

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

TITLE: Final = "Protoleaf"
TITLE_BAR: Final = 8
"""Above a window's contents is its title, to click on."""
START_S: Final = 60.0
DRAGGING_PIXELS_A_SECOND: Final = 1500
ARROW: Final = 8
"""Left of a class's row is the arrow that unfolds it."""
ANALYSING: Final = "Analysing images"
REFINING: Final = "Refining predictions"
"""The second pass over the images, in further views."""
SECOND_PASS_BEGINS_S: Final = 5.0
SECOND_PASS_S: Final = 60.0
REST_S: Final = 0.2
"""A hand rests so long over the place where it lets something go, and after."""


@final
class Person:
    """Sits in front of one display, in a home of their own.

    Args:
        display: at which they work.
        home: in which the program keeps its things.
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

    # -- starting and leaving

    def start(self, project: Path | None = None, title: str = "") -> None:
        """Start the program and wait for its window."""
        self.program.start(*([] if project is None else [project]))
        wanted = title or (TITLE if project is None else f"{project.stem} - {TITLE}")
        self.wait(lambda: self.eyes.window(wanted), f"the window “{wanted}”", START_S)

    def open(self, project: Path) -> None:
        """Start the program with a project, and wait until its cards have come to rest."""
        self.start(project)
        grid = self.grid
        self.wait(lambda: self.cards(grid), "cards", START_S)
        self.wait_until_calm()

    def quit(self) -> None:
        """Leave the program by its key; the window is brought to the front first."""
        if not self.eyes.is_active(TITLE):
            window = self.window
            self.hand.click((window.centre[0], window.top - TITLE_BAR))
            self.wait(lambda: self.eyes.is_active(TITLE), "the window in front")
        self.hand.key("Ctrl+Q")
        self.program.wait_until_ended()

    def leave(self) -> None:
        """Stop, whatever the program is doing."""
        self.program.kill()
        self.reader.close()
        self.eyes.connection.close()

    # -- the window

    @property
    def window(self) -> Area:
        """Where the window is."""
        return self.eyes.place_of(TITLE)

    def wait(self, look: Callable[[], object], what: str, deadline_s: float = DEADLINE_S) -> None:
        """Wait until something is seen; a program that ended meanwhile will not show it any more."""

        def seen() -> bool:
            assert self.program.is_running, (
                f"the program ended before {what}: {self.program.output}"
            )
            return bool(look())

        wait_for(seen, what, deadline_s)

    def wait_until_new(self, place: Area, patience_s: float) -> None:
        """Wait until a place shows something else than when it was looked at here last, at most so long."""
        end = time.monotonic() + patience_s
        while time.monotonic() < end and np.array_equal(self._seen_last, self.eyes.look(place)):
            time.sleep(LOOK_S)

    def wait_until_at_rest(self, place: Area, still_s: float, patience_s: float) -> None:
        """Wait until nothing moves in a place, at most so long."""
        start = still_since = time.monotonic()
        before = self.eyes.look(place)
        while time.monotonic() < min(still_since + still_s, start + patience_s):
            time.sleep(LOOK_S)
            now = self.eyes.look(place)
            if (now != before).any():
                before, still_since = now, time.monotonic()
        self._seen_last = before

    def part(self, name: str, role: str = "") -> Part:
        """A part of the window, waited for."""
        return wait_for(lambda: self.reader.find(name, role), f"{role} “{name}”")

    def part_containing(self, words: str, role: str = "", deadline_s: float = DEADLINE_S) -> Part:
        """A part of the window whose name holds some words, waited for."""
        return wait_for(
            lambda: self.reader.containing(words, role), f"{role} “…{words}…”", deadline_s
        )

    def click(self, name: str, role: str = "") -> None:
        """Click a part by its name."""
        self.hand.click(self.part(name, role).area.centre)

    def show_subset(self, name: str) -> None:
        """Click one of the rows above the classes."""
        self.hand.click(self.part_containing(f"{name}: ", "list item").area.centre)

    def choose_command(self, text: str) -> None:
        """Choose a command in the palette by typing its name."""
        self.hand.key("Ctrl+K")
        self.part("Search commands and classes", "text")
        self.hand.type(text)
        self.hand.key("Enter")

    def answer_file_dialog(self, path: Path) -> None:
        """Type a file's or folder's place into the dialog that is open, and press Enter."""
        field = wait_for(self._file_name_field, "the field for the file's name")
        assert field.is_enabled
        self.hand.key("Ctrl+A")
        self.hand.type(str(path))
        self.hand.key("Enter")

    def name_new_project(self, project: Path) -> None:
        """Open the sheet of a new project, and choose where it is saved."""
        self.hand.key("Ctrl+Shift+N")
        self.click("Choose where the project is saved", "push button")
        self.answer_file_dialog(project)

    def make_empty_project(self, project: Path) -> None:
        """A new project without photos and classes."""
        self.name_new_project(project)
        self.click("Create project", "push button")
        self.wait(lambda: self.eyes.window(project.stem), "the new project")

    def _file_name_field(self) -> Part | None:
        fields = [part for part in self.reader.of_role("text") if part.is_focused]
        has_dialog = len(self.eyes.windows()) > 1
        return fields[0] if fields and has_dialog else None

    # -- dragging

    def drag(self, start: Point, end: Point) -> None:
        """Drag what is at a point to another one, and let go there."""
        self.pick_up(start)
        self.drop(end)

    def pick_up(self, point: Point) -> None:
        """Press on something and move, until it is seen in the hand."""
        before = self.eyes.floating()
        self.hand.pick_up(point)
        self.wait(lambda: self.eyes.floating() - before, "what is dragged, at the pointer")

    def drop(self, point: Point) -> None:
        """Go on to a point with what was picked up; let go once the program has followed."""
        self.hand.move_to(point, DRAGGING_PIXELS_A_SECOND)
        for aside in (
            1,
            0,
        ):  # where the hand gets to while the program answers the last place, it sends no more
            self.hand.move_to((point[0] + aside, point[1]))
            time.sleep(REST_S)
            self.reader.wait_for_answer()
        self.hand.release()
        time.sleep(REST_S)

    # -- the grid

    @property
    def grid(self) -> Area:
        """Where the cards are."""
        return self.part("Images").area

    def cards(self, grid: Area) -> list[Seen]:
        """The marked pictures in the grid."""
        return read_marked(self.eyes.look(grid), grid)

    def card(self, number: int) -> Area:
        """Where a picture is in the grid."""
        grid = self.grid
        return wait_for(
            lambda: next((seen.area for seen in self.cards(grid) if seen.number == number), None),
            f"image {number}",
        )

    def wait_until_calm(self) -> None:
        """Wait until cards do not change their places any more."""
        grid = self.grid
        wait_until_still(lambda: self.cards(grid), "the cards")

    def wait_until_analysed(self) -> None:
        """Wait for the second pass over the images, and for its end: until then cards nobody has touched are sorted."""
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
        """Click the arrow before a class, so that the classes below it are shown."""
        row = self.class_row(name)
        self.hand.click((row.left - ARROW, row.centre[1]))

    def class_row(self, name: str) -> Area:
        """Where a class stands in the tree; more may stand after its name."""

        def look() -> Part | None:
            rows = self.reader.of_role("tree item")
            return next(
                (row for row in rows if row.name == name or row.name.startswith(f"{name}.")), None
            )

        return wait_for(look, f"the class {name}").area

    def make_class(self, project: Path, name: str) -> None:
        """Make a class by the button, whose field takes the name."""
        self.click("New class (Ctrl+N)", "push button")
        self.wait(lambda: self.reader.focused("text"), "the field for the name")
        self.hand.type(name)
        self.hand.key("Enter")
        wait_for(lambda: name in parents_in(project), f"the class {name}")

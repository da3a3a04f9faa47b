"""A person at the display: the program, mouse and keyboard, eyes, and what a screen reader would say."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, final

from tests.robot.display import Display
from tests.robot.eyes import Area, Eyes
from tests.robot.hand import Hand
from tests.robot.marked_images import Seen, read_marked
from tests.robot.patience import DEADLINE_S, wait_for
from tests.robot.program import Program
from tests.robot.screen_reader import Part, ScreenReader
from tests.support.fresh_home import FreshHome

TITLE: Final = "Protoleaf"
START_S: Final = 60.0


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
        self.reader = ScreenReader(display)

    # -- starting and leaving

    def start(self, project: Path | None = None, title: str = "") -> None:
        """Start the program and wait for its window."""
        self.program.start(*([] if project is None else [project]))
        wanted = title or (TITLE if project is None else f"{project.stem} - {TITLE}")
        self.wait(lambda: self.eyes.window(wanted), f"the window “{wanted}”", START_S)

    def quit(self) -> None:
        """Leave the program by its key."""
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
            assert self.program.is_running, f"the program ended before {what}: {self.program.output}"
            return bool(look())

        wait_for(seen, what, deadline_s)

    def part(self, name: str, role: str = "") -> Part:
        """A part of the window, waited for."""
        return wait_for(lambda: self.reader.find(name, role), f"{role} “{name}”")

    def part_containing(self, words: str, role: str = "", deadline_s: float = DEADLINE_S) -> Part:
        """A part of the window whose name holds some words, waited for."""
        return wait_for(lambda: self.reader.containing(words, role), f"{role} “…{words}…”", deadline_s)

    def click(self, name: str, role: str = "") -> None:
        """Click a part by its name."""
        self.hand.click(self.part(name, role).area.centre)

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

    def _file_name_field(self) -> Part | None:
        fields = [part for part in self.reader.of_role("text") if part.is_focused]
        has_dialog = len(self.eyes.windows()) > 1
        return fields[0] if fields and has_dialog else None

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
            lambda: next((seen.area for seen in self.cards(grid) if seen.number == number), None), f"image {number}"
        )

    def class_row(self, name: str) -> Area:
        """Where a class stands in the tree."""
        return self.part(name, "tree item").area

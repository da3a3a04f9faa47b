"""A window of another program from which files are dragged."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.robot import drag_source
from tests.robot.hand import Point
from tests.robot.patience import wait_for
from tests.robot.person import Person

_SCRIPT = Path(drag_source.__file__)


@contextmanager
def files_at_hand(person: Person, *files: Path) -> Iterator[Point]:
    """Show files or folders in a window; yields the point to drag them from."""
    process = subprocess.Popen(
        [sys.executable, _SCRIPT, *files], env=person.home.environment(**person.display.variables)
    )
    try:
        wait_for(lambda: person.eyes.window(drag_source.TITLE), "the other program's window")
        yield person.eyes.place_of(drag_source.TITLE).centre
    finally:
        process.terminate()
        process.wait()

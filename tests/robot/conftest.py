"""One display for all tests; a home folder, a user and a project for each."""

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # this process only renders names for comparison

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.config import CacheFolders
from tests.robot.contact_sheet import NAME
from tests.robot.display import Display
from tests.robot.person import Person
from tests.robot.program_log import faults_in
from tests.support.fresh_home import REPOSITORY, FreshHome

WIDTH = 1600
HEIGHT = 1000
PICTURES = REPOSITORY / "build" / "robot"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--long`."""
    parser.addoption("--long", action="store_true", help="run the long stories too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the slow tests unless requested."""
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="a long story: make robot tells it"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Save a screenshot when a test fails."""
    report: Any = yield
    person = getattr(item, "funcargs", {}).get("person")
    if report.failed and isinstance(person, Person) and call.when != "teardown":
        place = person.eyes.save(PICTURES / "failed" / f"{item.name}.png")
        report.sections.append(("on the screen", str(place)))
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print where the screenshots are."""
    if config.getoption("--long") and (PICTURES / NAME).exists():
        terminalreporter.write_line(f"Pictures of every screen: {PICTURES / NAME}")


@pytest.fixture(scope="session")
def display() -> Iterator[Display]:
    """An X display of its own."""
    with Display(WIDTH, HEIGHT) as started:
        yield started


@pytest.fixture
def home(tmp_path: Path) -> FreshHome:
    """A fresh home folder."""
    return FreshHome.below(tmp_path)


@pytest.fixture
def caches(home: FreshHome) -> CacheFolders:
    """The caches in this home."""
    return CacheFolders(home.cache)


@pytest.fixture
def person(display: Display, home: FreshHome, qapp: object) -> Iterator[Person]:
    """A simulated user at the display; the program's log must have no errors afterwards."""
    somebody = Person(display, home)
    try:
        yield somebody
        if somebody.program.is_running:
            somebody.quit()
    finally:
        somebody.leave()
    assert faults_in(home.log) == [], "the program's log names faults"

"""Screenshots of every screen: light, dark, small, large, at both scales; an HTML overview."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.collection.importing.import_images import import_images
from engine.config import CacheFolders
from engine.project import Project
from research.window.embedded_sample import make_sample_project
from tests.robot.conftest import PICTURES
from tests.robot.contact_sheet import write_contact_sheet
from tests.robot.display import Display
from tests.robot.hand import RIGHT
from tests.robot.person import Person
from tests.support.collections import write_shape
from tests.support.fresh_home import FreshHome

pytestmark = pytest.mark.slow

SCREEN = (2960, 1880)
"""Large enough for the largest window at the larger scale, with its frame."""
SIZES = ((1440, 900), (1000, 640))
SCALES = (1, 2)
SCHEMES = ("light", "dark")
STILL_S = 0.3
PATIENCE_S = 4.0
CLASSIFIED_S = 60.0


@dataclass(frozen=True)
class Studio:
    """Take screenshots.

    Attributes:
        person: the simulated user.
        sample: the sample project, to be copied.
        photos: a folder with subfolders.
        prefix: of the pictures' names.
        size: of the window, in the screen's pixels.
    """

    person: Person
    sample: Path
    photos: Path
    prefix: str
    size: tuple[int, int]

    def take(self, name: str) -> None:
        """Save a screenshot after the window has changed and is at rest; carets may blink."""
        place = self.person.window
        self.person.wait_until_new(place, PATIENCE_S)
        self.person.wait_until_at_rest(place, STILL_S, PATIENCE_S)
        self.person.eyes.save(PICTURES / f"{name}-{self.prefix}.png", place)

    def take_and_close(self, name: str) -> None:
        """Save a screenshot, and close what is shown."""
        self.take(name)
        self.person.hand.key("Esc")
        place = self.person.window
        self.person.wait_until_new(place, PATIENCE_S)
        self.person.wait_until_at_rest(place, STILL_S, PATIENCE_S)

    def resize(self) -> None:
        """Resize the window."""
        person, (width, height) = self.person, self.size
        person.eyes.resize("Protoleaf", width, height)
        person.wait(
            lambda: (person.window.width, person.window.height) == self.size,
            f"a window of {self.size}",
        )
        person.wait_until_at_rest(person.eyes.screen, STILL_S, PATIENCE_S)

    def start(self, project: Path | None = None) -> None:
        """Start the program at the right size."""
        self.person.start(project)
        self.resize()


@pytest.fixture(scope="module")
def large_display() -> Iterator[Display]:
    """A display large enough for the larger scale."""
    with Display(*SCREEN) as started:
        yield started


@pytest.fixture(scope="module")
def studio_home(tmp_path_factory: pytest.TempPathFactory) -> FreshHome:
    """A home with the sample, embedded, and one unreadable file."""
    home = FreshHome.below(tmp_path_factory.mktemp("studio"))
    path = make_sample_project(home.data / "sample", CacheFolders(home.cache))
    broken = home.home / "IMG_broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff no more than a beginning")
    with Project.open(path) as project:
        import_images(project, [broken])
        mislabel(project)
    return home


def mislabel(project: Project) -> None:
    """Mislabel two images of the largest class, so that the label check has results."""
    counts = project.labels.counts()
    largest, other = sorted(counts, key=lambda class_id: (-counts[class_id], class_id))[:2]
    labels = project.labels.by_image()
    project.labels.set(
        [each for each in sorted(labels) if labels[each].class_id == largest][:2], other
    )


LOOKS = [
    pytest.param((scheme, scale, size), id=f"{scheme}-{100 * scale}-{size[0]}x{size[1]}")
    for scheme in SCHEMES
    for scale in SCALES
    for size in SIZES
]


@pytest.fixture(params=LOOKS)
def studio(
    large_display: Display,
    studio_home: FreshHome,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    qapp: object,
) -> Iterator[Studio]:
    """A studio with a colour scheme, a scale and a size."""
    scheme, scale, (width, height) = request.param
    apply_look(studio_home, scheme)
    sample = tmp_path / "field trip.protoleaf"
    shutil.copy(studio_home.data / "sample" / "sample.protoleaf", sample)
    shutil.copytree(studio_home.data / "sample" / "collection", tmp_path / "collection")
    for leaf in ("Red disc", "Blue stripes"):
        write_shape(tmp_path / "photos" / leaf / "0.png", leaf, seed=0)
    person = Person(large_display, studio_home, scale)
    try:
        prefix = f"{scheme}-{100 * scale}-{width}x{height}"
        yield Studio(person, sample, tmp_path / "photos", prefix, (scale * width, scale * height))
    finally:
        person.leave()
        write_contact_sheet(PICTURES)


def apply_look(home: FreshHome, scheme: str) -> None:
    """Choose the colour scheme; all other settings and the log are cleared."""
    shutil.rmtree(home.log.parent, ignore_errors=True)
    settings = home.home / ".config" / "protoleaf" / "protoleaf.ini"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f"[window]\nscheme={scheme}\n", encoding="utf-8")


def test_before_there_are_images(studio: Studio) -> None:
    """The start page, the sheet of a new project, and an empty project."""
    person = studio.person
    studio.start()
    studio.take("welcome")
    person.hand.key("Ctrl+Shift+N")
    person.part("Create project", "push button")
    studio.take("new-project")
    person.hand.key("Escape")
    person.make_empty_project(studio.sample.with_name("empty.protoleaf"))
    studio.take("empty-project")


KEYS: dict[str, str] = {
    "palette-of-labels": "R",
    "palette-of-commands": "Ctrl+K",
    "keys": "Shift+?",
    "settings": "Ctrl+,",
    "performance": "Ctrl+D",
    "backbone": "Ctrl+B",
    "tune": "Ctrl+T",
    "train": "Ctrl+Shift+T",
    "versions": "Ctrl+Shift+M",
    "group-review": "Ctrl+R",
    "check-labels": "Ctrl+Shift+R",
    "why-not": "C",
    "similar": "S",
    "search": "Ctrl+F",
    "report": "Ctrl+E",
    "map": "Ctrl+M",
}
"""Screens that a key opens and Esc closes."""
SLOW = {"map": "Map of the images", "group-review": "Group 1 of"}
"""Texts to wait for on screens that load slowly."""
COMMANDS: dict[str, str] = {
    "backups": "Backups",
    "moved-images": "Find moved",
    "merge": "Merge another",
    "change-keys": "Change shortcuts",
}
"""Screens opened by a command."""


def test_with_images(studio: Studio) -> None:
    """Grid, cards, palettes, panels, classes, menus, notices, a training."""
    person, hand = studio.person, studio.person.hand
    studio.start(studio.sample)
    person.part_containing("%", "push button", CLASSIFIED_S)
    studio.take("grid")
    hand.key("Right")
    hand.key("Shift+Right")
    hand.key("Shift+Down")
    studio.take("selection")
    hand.key("C")
    studio.take_and_close("compare")
    hand.key("Home")
    for name, key in KEYS.items():
        hand.key(key)
        if name in SLOW:
            person.part_containing(SLOW[name], deadline_s=CLASSIFIED_S)
        studio.take_and_close(name)
    for name, words in COMMANDS.items():
        person.choose_command(words)
        studio.take_and_close(name)
    card = (person.window.centre[0], person.window.top + person.window.height // 3)
    hand.click(card, RIGHT)
    studio.take_and_close("menu-of-a-card")
    hand.key("Space")
    studio.take_and_close("image")
    hand.key("U")
    hand.key("Ctrl+Z")
    studio.take("undone")
    person.choose_command("Files that could")
    studio.take_and_close("could-not-be-read")
    person.choose_command("ladybird")
    studio.take("class")
    hand.key("Ctrl+T")
    person.click("Start", "push button")
    person.part("Cancel", "push button")
    studio.take("training")
    hand.key("Ctrl+Shift+O")
    studio.take("dialog")
    person.answer_file_dialog(studio.photos)
    studio.take("question")

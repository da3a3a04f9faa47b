"""300 photos of 12 megapixels and a class list become a table of labels in two minutes."""

import csv
import io
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.collection.new_project import new_project
from tests.robot.exporting import export_all
from tests.robot.marked_images import Seen, draw_marked, number_of
from tests.robot.patience import wait_for, wait_until_still
from tests.robot.person import ANALYSING, Person
from tests.robot.prepared import FAMILIES, LEAVES, NAMES
from tests.robot.project_file import image_count_in, labels_in, parents_in
from tests.support.collections import write_graph

pytestmark = pytest.mark.slow

PHOTOS = 300
OF_A_CLASS = PHOTOS // len(LEAVES)
SHOTS = 3
WIDTH, HEIGHT = 4000, 3000
"""Size of a photo in pixels: 12 megapixels."""
LONGEST_S = 120.0
CORRECT = 0.8
"""Required accuracy; blocks of the number hide some of the colours."""
PATIENCE_S = 240.0
"""Limit for a single step: a slow run is measured, too."""
TURN = 1
"""Clicks of the wheel at once."""
STILL_S = 0.1
"""Time without movement after which cards can be clicked."""
BAR_HEIGHT = 160
"""Height of the bar that appears below the cards when two are selected, with room to spare."""


def test_photos_and_a_list_become_a_table_in_two_minutes(person: Person, tmp_path: Path) -> None:
    """Drop, import, three labels of each class, CSV; prints the time of each step."""
    classes, photos = write_graph(tmp_path / "classes.csv", FAMILIES), tmp_path / "photos"
    write_photos(photos)
    project, table = tmp_path / "birds.protoleaf", tmp_path / "birds.csv"
    with new_project(project):
        pass
    person.start(project)
    clock = Clock()
    with clock.part("choose the folder"):
        person.hand.key("Ctrl+Shift+O")
        person.answer_file_dialog(photos)
    with clock.part("wait for the photos to be added"):
        wait_for(lambda: image_count_in(project) == PHOTOS, "the photos", PATIENCE_S)
    with clock.part("choose the list"):
        person.hand.key("Ctrl+Shift+I")
        person.answer_file_dialog(classes)
    with clock.part("wait for what it would do"):
        button = person.part(f"Import {len(NAMES)} classes", "push button")
    with clock.part("import the classes"):
        person.hand.click(button.area.centre)
        wait_for(lambda: "Smew" in parents_in(project), "the classes")
    with clock.part("wait for the first photos"):
        person.wait(lambda: len(person.cards(person.grid)) > SHOTS, "cards", PATIENCE_S)
    with clock.part("label three of each"):
        label_three_of_each(person, project)
    with clock.part("wait for the analysis"):
        person.wait(
            lambda: person.reader.containing(ANALYSING) is None,
            "the end of the analysis",
            PATIENCE_S,
        )
    with clock.part("export"):
        export_all(person, "CSV", table)
    sys.stdout.write(clock.text)
    check(table)
    assert clock.seconds <= LONGEST_S, clock.text


class Clock:
    """Time of each step."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, float]] = []

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Measure the time of the `with` block."""
        begun = time.monotonic()
        yield
        self._parts.append((name, time.monotonic() - begun))

    @property
    def seconds(self) -> float:
        """The total time."""
        return sum(seconds for _, seconds in self._parts)

    @property
    def text(self) -> str:
        """A line for each step, and the sum."""
        lines = [
            f"{seconds:6.1f} s  {name}"
            for name, seconds in (*self._parts, ("in all", self.seconds))
        ]
        return "\n".join(("", *lines, ""))


def class_of(number: int) -> str:
    """The class of a marked photo; classes are consecutive."""
    return LEAVES[number // OF_A_CLASS]


def write_photos(folder: Path) -> None:
    """Write marked pictures on a background in their class's colour, with camera noise."""
    folder.mkdir()
    random = np.random.default_rng(7)
    grain = random.integers(0, 24, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    tints = random.integers(30, 220, (len(LEAVES), 3))
    for number in range(PHOTOS):
        red, green, blue = map(int, tints[number // OF_A_CLASS])
        tint = red, green, blue
        ground = np.full((HEIGHT, WIDTH, 3), tint, np.uint8)
        sign = draw_marked(number, tint, side=HEIGHT)
        left = (WIDTH - sign.shape[1]) // 2
        ground[: sign.shape[0], left : left + sign.shape[1]] = np.clip(sign, 24, 231)
        Image.fromarray(ground - np.minimum(grain, ground)).save(
            folder / f"photo-{number:05d}.jpg", quality=90
        )


def label_three_of_each(person: Person, project: Path) -> None:
    """Click one card and two more, then type the name; the next class is further down."""
    grid, done = person.grid, 0
    person.hand.move_to(grid.centre)
    for leaf in LEAVES:
        first, *others = three_of(person, leaf)
        person.hand.click(first.area.centre)
        for other in others:
            with person.hand.holding("Ctrl"):
                person.hand.click(other.area.centre)
        person.hand.key("r")
        person.hand.type(leaf)
        person.hand.key("Enter")
        done += SHOTS
        wait_for(partial(has_labels, project, done), f"labels of {leaf}", PATIENCE_S)


def has_labels(project: Path, count: int) -> bool:
    """Whether the project has this number of labels."""
    return len(labels_in(project)) >= count


def three_of(person: Person, leaf: str) -> Sequence[Seen]:
    """Cards of a class that the bar of a selection does not cover, scrolled to."""
    grid = person.grid

    def look() -> Sequence[Seen]:
        found = [
            card
            for card in person.cards(grid)
            if class_of(card.number) == leaf and card.area.bottom < grid.bottom - BAR_HEIGHT
        ]
        if len(found) < SHOTS:
            person.hand.wheel(TURN)
            wait_until_still(lambda: person.cards(grid), "the cards", still_s=STILL_S)
        return found[:SHOTS] if len(found) >= SHOTS else ()

    return wait_for(look, f"three photos of {leaf}", PATIENCE_S)


def check(table: Path) -> None:
    """Each photo has a row, most with the right leaf; labelled ones have their label."""
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8-sig"))))
    assert len(rows) == PHOTOS
    assert sum(row["leaf"] == class_of(number_of(row["image"])) for row in rows) >= CORRECT * PHOTOS
    by_person = [row for row in rows if row["decided_by"] == "person"]
    assert len(by_person) == SHOTS * len(LEAVES)
    assert all(row["class"] == class_of(number_of(row["image"])) for row in by_person)

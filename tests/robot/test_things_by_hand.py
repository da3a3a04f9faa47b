"""Boxes by hand: cells boxed by mouse, two species in one photo, an empty photo."""

import csv
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from engine.file_parts import BoundingBox, file_part
from tests.robot.exporting import export_verified
from tests.robot.eyes import Area
from tests.robot.painted_things import (
    BLOOD,
    PLASMA,
    Thing,
    paint_blood,
    paint_photo,
    picture_seen,
    share_of,
    things_seen,
)
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.project_file import image_count_in, labelled_parts_in

CELLS = 10
TOGETHER = 3
"""Cells whose boxes are all drawn before they are labelled."""
CLOSE = 0.6
"""Overlap of a box with its cell: it is drawn some pixels larger."""
FIRST_CARD = 70
"""Pixels from the corner of the grid to a point in its first card."""
STILL_S = 0.4
PATIENCE_S = 8.0
DRAWING_PIXELS_A_SECOND = 900
BESIDE = 4
"""Pixels from the cell to the start and end of a drag."""


def add_photos(person: Person, tmp_path: Path, photos: int, classes: Sequence[str]) -> Path:
    """A new project with the photos of a folder, and classes."""
    person.start()
    project = tmp_path / "things.protoleaf"
    person.make_empty_project(project)
    person.hand.key("Ctrl+Shift+O")
    person.answer_file_dialog(tmp_path / "photos")
    wait_for(lambda: image_count_in(project) == photos, "the photos")
    for name in classes:
        person.make_class(project, name)
    person.hand.key("Ctrl+6")
    person.wait_until_at_rest(person.grid, STILL_S, PATIENCE_S)
    return project


def open_first(person: Person) -> Area:
    """Open the first card; returns the area of the image."""
    grid = person.grid
    person.hand.click((grid.left + FIRST_CARD, grid.top + FIRST_CARD))
    person.hand.key("Space")
    image = person.part("Image").area
    person.wait_until_at_rest(image, STILL_S, PATIENCE_S)
    return image


@pytest.mark.slow
def test_ten_cells_are_boxed_and_labelled(person: Person, tmp_path: Path) -> None:
    """Each drag is a box around its cell; keys label the current box, at the end or at once."""
    paint_blood(tmp_path / "photos" / "blood.jpg", CELLS)
    paint_blood(tmp_path / "photos" / "later.jpg", CELLS, seed=1)
    project = add_photos(person, tmp_path, 2, tuple(BLOOD))
    image = open_first(person)
    ground = person.eyes.look(image)
    whole = picture_seen(ground, image, PLASMA)
    cells = [
        (name, share_of(area, whole))
        for name, colour in BLOOD.items()
        for area in things_seen(ground, image, colour)
    ]
    assert len(cells) == CELLS
    at_once, later = cells[:-TOGETHER], cells[-TOGETHER:]
    for count, (name, cell) in enumerate(at_once, start=1):
        draw(person, cell, count)
        label(person, name)
        wait_for(partial(has_labels, project, count), f"{count} labels")
    for count, (_name, cell) in enumerate(later, start=len(at_once) + 1):
        draw(person, cell, count)
    for count, (name, _cell) in enumerate(reversed(later), start=len(at_once) + 1):
        label(person, name)
        wait_for(partial(has_labels, project, count), f"{count} labels")
    found = labelled_parts_in(project)
    assert {file for file, _part in found} == {"blood.jpg"}
    for name, cell in cells:
        overlaps = [
            cell.overlap(box_in(part)) for (_file, part), each in found.items() if each == name
        ]
        assert max(overlaps) > CLOSE


def box_in(part: str) -> BoundingBox:
    """The box of a file part."""
    box = file_part(part).box
    assert box is not None
    return box


def has_labels(project: Path, count: int) -> bool:
    """Whether the project has this number of labels."""
    return len(labelled_parts_in(project)) == count


def draw(person: Person, cell: BoundingBox, count: int) -> None:
    """Drag around a cell; wait until the box is current, the last of this number."""
    image = person.part("Image").area
    person.wait_until_at_rest(image, STILL_S, PATIENCE_S)
    whole = picture_seen(person.eyes.look(image), image, PLASMA)
    left, top, width, height = map(round, cell.in_pixels((whole.width, whole.height)))
    area = Area(left, top, width, height).moved(whole.left, whole.top)
    person.hand.move_to((area.left - BESIDE, area.top - BESIDE))
    person.hand.press()
    person.hand.move_to((area.right + BESIDE, area.bottom + BESIDE), DRAWING_PIXELS_A_SECOND)
    person.hand.release()
    wait_for_thing(person, count)


def wait_for_thing(person: Person, count: int) -> None:
    """Wait until the window shows that one of this number of boxes is current."""
    ending = f" of {count}"
    person.wait(
        lambda: any(
            each.name.startswith("Thing ") and each.name.endswith(ending)
            for each in person.reader.of_role("label")
        ),
        f"one of {count} things in hand",
    )


def label(person: Person, name: str) -> None:
    """Label the current box by the name of a class."""
    person.hand.key("r")
    person.hand.type(name)
    person.hand.key("Enter")


def test_two_species_in_one_photo_and_an_empty_one(person: Person, tmp_path: Path) -> None:
    """`+` adds the second species, `E` labels as empty; an exported table has all three."""
    left, right = BoundingBox.of(0.1, 0.3, 0.2, 0.36), BoundingBox.of(0.6, 0.2, 0.2, 0.36)
    paint_photo(tmp_path / "photos" / "a.jpg", [Thing("Fox", left), Thing("Jay", right)])
    paint_photo(tmp_path / "photos" / "b.jpg", [], seed=1)
    project = add_photos(person, tmp_path, 2, ("Fox", "Jay"))
    open_first(person)
    label(person, "Fox")
    wait_for(partial(has_labels, project, 1), "the first species")
    person.hand.key("PageUp")
    person.hand.key("Shift+plus")
    wait_for_thing(person, 1)
    label(person, "Jay")
    wait_for(partial(has_labels, project, 2), "the second species")
    person.hand.key("PageDown")
    person.hand.key("e")
    wait_for(partial(has_labels, project, 3), "the empty photo")
    person.hand.key("Esc")
    export_verified(person, "CSV", tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [
            (Path(row["image"]).name, row["part"], row["class"], row["is_empty"])
            for row in csv.DictReader(file)
        ]
    assert sorted(rows) == [
        ("a.jpg", "", "Fox", "false"),
        ("a.jpg", "thing=2", "Jay", "false"),
        ("b.jpg", "", "blank", "true"),
    ]

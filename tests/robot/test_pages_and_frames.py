"""A document and a video: each page and frame is an image, labelled by keys and searched."""

import random
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from tests.robot.other_program import files_at_hand
from tests.robot.painted_things import COLOURS, paint_photo, things_seen
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.project_file import labelled_parts_in, parts_in

PAGES = 40
PAGE_SIZE = (420, 594)
SPECIES = tuple(COLOURS)
LABELLED = 6
STILL_S = 0.5
PATIENCE_S = 10.0
LONG_S = 60.0
FIRST_CARD = 70
"""Pixels from the corner of the grid to a point in its first card."""
SECONDS = 7
"""Frames of the video, one every two seconds from its start."""


def write_plates(path: Path) -> Path:
    """A PDF of 40 plates, each of one species and unique."""
    chance, plates = random.Random(51), []
    for number in range(PAGES):
        plate = Image.new("RGB", PAGE_SIZE, (247, 244, 236))
        draw = ImageDraw.Draw(plate)
        draw.text((170, 560), f"Plate {number + 1}", (40, 40, 40))
        left, top, side = chance.randint(30, 150), chance.randint(30, 250), chance.randint(90, 220)
        draw.ellipse((left, top, left + side, top + side), COLOURS[SPECIES[number % len(SPECIES)]])
        for _ in range(9):
            draw.line(
                [chance.randint(0, each - 1) for each in (*PAGE_SIZE, *PAGE_SIZE)], (90, 90, 90), 4
            )
        plates.append(plate)
    plates[0].save(path, save_all=True, append_images=plates[1:])
    return path


@pytest.mark.slow
def test_a_document_of_forty_plates(person: Person, tmp_path: Path) -> None:
    """Each page has a card, is labelled by keys, and is found by its file name."""
    document = write_plates(tmp_path / "plates.pdf")
    project = start_with(person, tmp_path, document, PAGES)
    assert parts_in(project) == [("plates.pdf", f"page={number}") for number in range(1, PAGES + 1)]
    for name in SPECIES:
        person.make_class(project, name)
    person.hand.key("Ctrl+7")
    for count in range(1, LABELLED + 1):
        name = SPECIES[count % len(SPECIES)]
        grid = person.grid
        person.wait_until_at_rest(grid, STILL_S, PATIENCE_S)
        person.hand.click(things_seen(person.eyes.look(grid), grid, COLOURS[name])[0].centre)
        person.hand.key("r")
        person.hand.type(name)
        person.hand.key("Enter")
        wait_for(partial(has_labels, project, count), f"{count} labels")
    for (_file, part), name in labelled_parts_in(project).items():
        assert name == SPECIES[(int(part.removeprefix("page=")) - 1) % len(SPECIES)]

    person.hand.key("Ctrl+6")
    person.hand.key("Ctrl+F")
    person.hand.type("plates unlabelled")
    person.hand.key("Enter")
    person.part_containing(f"{PAGES - len(labelled_parts_in(project))} images", "label")


def has_labels(project: Path, count: int) -> bool:
    """Whether the project has at least this number of labels."""
    return len(labelled_parts_in(project)) >= count


def start_with(person: Person, tmp_path: Path, file: Path, pictures: int) -> Path:
    """Drop a file on a new project; returns the project with all its images."""
    person.start()
    project = tmp_path / "plates.protoleaf"
    person.make_empty_project(project)
    with files_at_hand(person, file) as place:
        person.drag(place, person.window.centre)
        wait_for(lambda: len(parts_in(project)) == pictures, "the pictures of the file", LONG_S)
    return project


@pytest.mark.skipif(find_spec("av") is None, reason="PyAV is not installed")
def test_a_video_of_a_camera_trap(person: Person, tmp_path: Path) -> None:
    """Its frames are one card; one is labelled as the animal, the others as empty."""
    from tests.support.videos import FRAMES_PER_S, write_video

    empty = np.asarray(Image.open(paint_photo(tmp_path / "empty.jpg", [])))
    animal = empty.copy()
    animal[100:260, 220:420] = COLOURS["Jay"]
    frames = [
        animal if second == 4 else empty for second in range(SECONDS) for _ in range(FRAMES_PER_S)
    ]
    video = write_video(tmp_path / "trap.mp4", pictures=frames)
    project = start_with(person, tmp_path, video, 4)
    assert parts_in(project) == [("trap.mp4", f"t={second}") for second in (0, 2, 4, 6)]
    person.make_class(project, "Jay")
    person.hand.key("Ctrl+7")
    grid = person.grid
    person.wait_until_at_rest(grid, STILL_S, PATIENCE_S)
    person.hand.click((grid.left + FIRST_CARD, grid.top + FIRST_CARD))
    person.hand.key("b")
    person.wait_until_at_rest(grid, STILL_S, PATIENCE_S)
    (card,) = things_seen(person.eyes.look(grid), grid, COLOURS["Jay"])
    person.hand.click(card.centre)
    person.hand.key("r")
    person.hand.type("Jay")
    person.hand.key("Enter")
    wait_for(partial(has_labels, project, 1), "the label")
    person.hand.key("Ctrl+A")
    person.hand.key("e")
    wait_for(partial(has_labels, project, 4), "the empty frames")
    labels = labelled_parts_in(project)
    assert {part: name for (_file, part), name in labels.items()} == {
        "t=0": "Empty",
        "t=2": "Empty",
        "t=4": "Jay",
        "t=6": "Empty",
    }

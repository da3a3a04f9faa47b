"""A camera trap from memory card to Camtrap DP: MegaDetector, species, groups, export."""

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine.file_parts import FilePart
from tests.robot.exporting import export_verified
from tests.robot.eyes import Area
from tests.robot.hand import Point
from tests.robot.other_program import files_at_hand
from tests.robot.painted_things import COLOURS, Thing, box_beside, paint_photo, things_seen
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.project_file import image_count_in, labelled_parts_in, parts_in

pytestmark = pytest.mark.slow

PHOTOS = 300
EMPTY_SHARE = 0.2
PERSONS = 12
THRESHOLD = 40
"""Percent, as chosen in the card."""
TAUGHT = 3
"""Labels of each species before the review by group."""
SPECIES = tuple(COLOURS)
HEADER = 50
DESCRIBED = 240
"""Pixels from the top of the inspector to below its picture."""
HERD = 12
ANALYSED_S = 120.0
ANSWERED_S = 20.0
PATIENCE_S = 8.0
STILL_S = 0.5
HEADING = re.compile(r"\d+ (images?|look-alikes): ")
MOST_GROUPS = 120


def card_of_a_trap(folder: Path) -> dict[str, list[Thing]]:
    """Write 300 photos with MegaDetector's results; returns the objects of each photo by name."""
    chance = random.Random(51)
    photos: dict[str, list[Thing]] = {}
    for number in range(PHOTOS):
        count = 0 if chance.random() < EMPTY_SHARE else chance.choice((1, 1, 1, 2))
        things: list[Thing] = []
        for _ in range(count):
            box = box_beside([each.box for each in things], chance, chance.uniform(0.22, 0.4))
            things.append(Thing(chance.choice(SPECIES), box, chance.uniform(0.55, 0.98)))
        beside = [each.box for each in things]
        if chance.random() < 0.3:
            things.append(Thing("", box_beside(beside, chance), chance.uniform(0.05, 0.35)))
        if number < PERSONS:
            things.append(
                Thing("", box_beside(beside, chance), chance.uniform(0.1, 0.35), "person")
            )
        name = f"IMG_{number:04d}.JPG"
        paint_photo(folder / "photos" / name, things, number)
        photos[name] = things
    (folder / "results.json").write_text(json.dumps(results_of(photos)), encoding="utf-8")
    return photos


def results_of(photos: dict[str, list[Thing]]) -> dict[str, Any]:
    """The JSON file of MegaDetector."""
    numbers = {"animal": "1", "person": "2", "vehicle": "3"}
    images = [
        {
            "file": f"photos/{name}",
            "detections": [
                {
                    "category": numbers[each.category],
                    "conf": round(each.score, 3),
                    "bbox": list(each.box),
                }
                for each in things
            ],
        }
        for name, things in photos.items()
    ]
    return {
        "info": {"format_version": "1.4", "detector": "v5a.0.0"},
        "detection_categories": {number: name for name, number in numbers.items()},
        "images": images,
    }


def test_from_a_card_to_a_package(person: Person, tmp_path: Path) -> None:
    """Of 300 photos, each animal above the threshold is exported with its box and species."""
    photos = card_of_a_trap(tmp_path)
    project = tmp_path / "photos.protoleaf"
    person.start()
    with files_at_hand(person, tmp_path / "photos") as place:
        person.drag(place, person.window.centre)
    person.part_containing(f"{PHOTOS} images")
    person.click("Create project", "push button")
    person.wait(lambda: person.eyes.window("photos"), "the new project")
    wait_for(lambda: image_count_in(project) == PHOTOS, "the photos")
    for name in SPECIES:
        person.make_class(project, name)
    with files_at_hand(person, tmp_path / "results.json") as place:
        person.drag(place, person.grid.centre)
        import_boxes(person, [thing for things in photos.values() for thing in things])

    animals = {
        (name, FilePart(box=thing.box).text): thing.name
        for name, things in photos.items()
        for thing in things
        if thing.score >= THRESHOLD / 100
    }
    wait_for(lambda: set(parts_in(project)) >= set(animals), "the boxes")
    assert image_count_in(project) == PHOTOS + len(animals)
    teach(person, project)
    review_groups(person, project, len(animals))
    empty = {
        (name, ""): "Empty"
        for name, things in photos.items()
        if not any(each.name for each in things)
    }
    label_the_rest_empty(person, project, len(animals) + len(empty))
    assert labelled_parts_in(project) == animals | empty

    count_a_herd(person)
    package = tmp_path / "package"
    export_verified(person, "Camtrap DP", package)
    check(package, photos)


def import_boxes(person: Person, things: Sequence[Thing]) -> None:
    """Set the threshold in the card, and import."""
    person.part_containing("become images of their own", deadline_s=30.0)
    field = person.part("Boxes with a score of at least", "spin box")
    person.hand.double_click(field.area.centre)
    person.hand.key("Ctrl+A")
    person.hand.type(str(THRESHOLD))
    person.hand.key("Tab")
    taken = sum(thing.score >= THRESHOLD / 100 for thing in things)
    person.part_containing(f"{taken} boxes become images of their own.")
    person.part_containing(f"{len(things) - taken} boxes with a lower score are left out.")
    person.click("Import", "push button")


def teach(person: Person, project: Path) -> None:
    """Select crops of each species by their colour, and label them by keys."""
    person.hand.key("Ctrl+7")
    person.wait_until_at_rest(person.grid, STILL_S, ANALYSED_S)
    for count in range(TAUGHT * len(SPECIES)):
        name = SPECIES[count % len(SPECIES)]
        person.hand.click(find(person, name))
        window, grid = person.window, person.grid
        described = Area(grid.right, grid.top - HEADER, window.right - grid.right, DESCRIBED)
        wait_for(partial(seen_in, person, described, name), f"a {name} in the panel at the right")
        person.hand.key("r")
        person.hand.type(name)
        person.hand.key("Enter")
        wait_for(partial(has_labels, project, count + 1), f"{count + 1} labels")


def find(person: Person, name: str) -> Point:
    """Scroll until an object of a name is visible; returns its position."""
    grid = person.grid
    person.hand.move_to(grid.centre)

    def look() -> Point | None:
        seen = seen_in(person, grid, name)
        if not seen:
            person.hand.wheel(3)
            person.wait_until_at_rest(grid, STILL_S, PATIENCE_S)
        return seen[0].centre if seen else None

    person.wait_until_at_rest(grid, STILL_S, PATIENCE_S)
    return wait_for(look, f"a {name}")


def review_groups(person: Person, project: Path, labels: int) -> None:
    """Label each group as its most frequent species, without the other images."""
    person.hand.key("Ctrl+R")
    group, most = 1, 0
    while not has_labels(project, labels):
        page = person.part_containing(f"Group {group} of", deadline_s=ANSWERED_S)
        person.wait_until_at_rest(person.window, STILL_S, PATIENCE_S)
        looked = person.eyes.look(person.window)
        seen = {
            name: things_seen(looked, person.window, colour) for name, colour in COLOURS.items()
        }
        name = max(seen, key=lambda each: len(seen[each]))
        if not seen[name]:
            person.hand.key("e")
        else:
            answer(person, name, seen[name])
        group += 1
        most = max(most, len(seen[name]))
        assert group < MOST_GROUPS, page.name
    person.hand.key("Esc")
    assert most > 1


def answer(person: Person, name: str, seen: Sequence[Area]) -> None:
    """Untick other species, then accept the group if its class is right, else name it."""
    heading = next(each.name for each in person.reader.parts() if HEADING.match(each.name))
    if heading.split()[0] != str(len(seen)):
        person.hand.key("Ctrl+A")
        for area in seen:
            person.hand.click(area.centre)
    if heading.endswith(f": {name}"):
        person.hand.key("Enter")
        return
    person.hand.key("r")
    person.hand.type(name)
    person.hand.key("Enter")


def label_the_rest_empty(person: Person, project: Path, labels: int) -> None:
    """All remaining images to review are empty: label them at once."""
    person.hand.key("Ctrl+7")
    person.wait_until_at_rest(person.grid, STILL_S, PATIENCE_S)
    assert not any(seen_in(person, person.grid, name) for name in SPECIES)
    person.hand.click(person.grid.centre)
    person.hand.key("Ctrl+A")
    person.hand.key("e")
    wait_for(partial(has_labels, project, labels), "the empty photos")
    person.part_containing("as empty", "label")


def count_a_herd(person: Person) -> None:
    """Set the count of the first labelled image to several."""
    person.hand.key("Ctrl+8")
    person.wait_until_at_rest(person.grid, STILL_S, PATIENCE_S)
    person.hand.click(find(person, SPECIES[0]))
    person.hand.key("k")
    person.hand.type(str(HERD))
    person.hand.key("Enter")
    person.wait_until_at_rest(person.window, STILL_S, PATIENCE_S)


def seen_in(person: Person, area: Area, name: str) -> list[Area]:
    """Areas of objects of a name in a part of the screen."""
    return things_seen(person.eyes.look(area), area, COLOURS[name])


def has_labels(project: Path, count: int) -> bool:
    """Whether the project has at least this number of labels."""
    return len(labelled_parts_in(project)) >= count


def check(package: Path, photos: dict[str, list[Thing]]) -> None:
    """Each animal and each empty photo is one observation of its medium, with required fields."""
    tables = {
        each: list(
            csv.DictReader((package / f"{each}.csv").read_text(encoding="utf-8").splitlines())
        )
        for each in ("deployments", "media", "observations")
    }
    media = {row["mediaID"]: row["fileName"] for row in tables["media"]}
    assert {row["deploymentID"] for row in tables["media"]} == {
        row["deploymentID"] for row in tables["deployments"]
    }
    assert sorted(media.values()) == sorted(photos)
    seen: dict[str, list[tuple[str, ...]]] = {name: [] for name in photos}
    for row in tables["observations"]:
        box = [row[f"bbox{each}"] for each in ("X", "Y", "Width", "Height")]
        rounded = tuple(f"{float(each):.3f}" for each in box if each)
        seen[media[row["mediaID"]]].append(
            (row["observationType"], row["scientificName"], *rounded)
        )
        assert (row["observationLevel"], row["classificationMethod"]) == ("media", "human")
    expected = {
        name: sorted(
            ("animal", each.name, *(f"{share:.3f}" for share in each.box))
            for each in things
            if each.name
        )
        or [("blank", "")]
        for name, things in photos.items()
    }
    assert {name: sorted(rows) for name, rows in seen.items()} == expected
    counts = Counter((row["observationType"], row["count"]) for row in tables["observations"])
    animals = sum(bool(each.name) for things in photos.values() for each in things)
    assert counts["animal", "1"] == animals - 1
    assert counts["animal", str(HERD)] == 1

"""A user of boxes: draws, moves and removes them, imports a detector's, moves files.

Photos, a document of several pages and a detector's file are on a card, a folder of the trial.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image

from engine.collection.importing.import_images import import_images
from engine.collection.importing.import_labels import import_labels
from engine.collection.object_detection import add_found
from engine.config import CacheFolders
from engine.detection.detections import Detection
from engine.errors import InputError
from engine.file_parts import BoundingBox, FilePart, file_part, is_within_picture
from engine.graph.codes import EMPTY, UNKNOWN
from engine.project import ImageId, Project
from engine.relink.find import find_moved, known_images, relink
from tests.support.collections import LEAVES, draw_shape, write_shape
from tests.support.projects import dump
from tests.trust.acknowledge import Log
from tests.trust.children import Place

ACTS = 60
PHOTOS = 8
PAGES = 3
CATEGORIES = ("animal", "person", "vehicle")
DETECTIONS = "detections.json"
_PLACES = (0.0, 0.1, 0.25, 0.5)  # of boxes, so that some are drawn twice

Rows = Mapping[str, Sequence[tuple[Any, ...]]]  # of a project, by table
Act = Callable[[Project, Place, Random], str]


def write_card(folder: Path) -> None:
    """Write photos, a document of several pages, and a detector's results."""
    photos = [
        write_shape(folder / f"photo {number}.png", LEAVES[number % 3], seed=700 + number)
        for number in range(PHOTOS)
    ]
    pages = [
        Image.fromarray(draw_shape(LEAVES[number], seed=800 + number)) for number in range(PAGES)
    ]
    pages[0].save(folder / "plates.tif", save_all=True, append_images=pages[1:])
    chance = Random(5)
    images = [
        {"file": photo.name, "detections": [_detected(chance) for _ in range(chance.randrange(4))]}
        for photo in photos
    ]
    categories = {str(number): name for number, name in enumerate(CATEGORIES, start=1)}
    found = {
        "images": images,
        "detection_categories": categories,
        "info": {"format_version": "1.3"},
    }
    (folder / DETECTIONS).write_text(json.dumps(found), encoding="utf-8")


def _detected(chance: Random) -> dict[str, object]:
    box = [chance.choice(_PLACES), chance.choice(_PLACES), 0.3, 0.2 + chance.random() / 10]
    return {
        "category": str(chance.randint(1, len(CATEGORIES))),
        "conf": round(chance.random(), 3),
        "bbox": box,
    }


def label_things(project: Project, card: Path, who: str) -> None:
    """Import a card with boxes, a further thing, an empty photo and detections."""
    ids = import_images(project, [card], who=who).change.images_added
    classes = project.classes.graph.classes()
    boxes = [_box(number / 10, 0.1) for number in range(3)]
    project.images.add_parts(
        ids[0], [_within(project, ids[0], box) for box in boxes], [classes[0], None, classes[1]]
    )
    project.images.add_parts(ids[1], ["thing=2"], [classes[2]])
    project.images.add_parts(
        ids[-1], [_within(project, ids[-1], _box(0.2, 0.2))], [classes[0]]
    )  # on the last page
    project.labels.set(ids[2:4], EMPTY, who=who)
    import_labels(project, card / DETECTIONS, threshold=0.3)


def draw_otherwise(project: Project, who: str) -> None:
    """Another person's actions on the same card."""
    boxes = _boxes(project)
    project.images.change_part(boxes[0], _within(project, boxes[0], _box(0.6, 0.6)))
    added = project.images.add_parts(
        boxes[1], [_within(project, boxes[1], _box(0.7, 0.1)), "thing=3"]
    ).images_added
    project.labels.set([*added, boxes[2]], project.classes.graph.leaves()[-1], who=who)
    project.labels.set(boxes[3:5], EMPTY, who=who)
    project.images.remove(boxes[-1:])


def work_on_things(place: Place, log: Log, card: Path, chance: Random) -> None:
    """Work on a copy of a card: actions are acknowledged, some undone and redone."""
    try:
        shutil.copytree(card, place.folder / "card")
    except shutil.Error:
        return  # the disk is full: without a card
    with Project.open(place.project) as project:
        log.begin("import a card")
        import_images(project, [place.folder / "card"], who="ada")
        log.acknowledge(project, "import a card")
        for _ in range(ACTS):
            before, act = dump(project), chance.choice(_ACTS)
            log.begin(act.__name__)
            try:
                did = act(project, place, chance)
            except InputError:
                continue  # a random box that exists: refused, not acknowledged
            log.acknowledge(project, did)
            if chance.random() < 0.25:
                _walk_back(project, log, before)


def _walk_back(project: Project, log: Log, before: Rows) -> None:
    """Undo restores the previous rows, redo the next ones."""
    after = dump(project)
    if after == before or project.history.undo() is None:
        return
    log.acknowledge(project, "undo")
    _expect(dump(project) == before, "undo leads elsewhere")
    project.history.redo()
    log.acknowledge(project, "redo")
    _expect(dump(project) == after, "redo leads elsewhere")
    _expect(project.check() == [], "the project is not sound")


def _expect(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise RuntimeError(otherwise)


def _draw(project: Project, place: Place, chance: Random) -> str:
    image_id = chance.choice(project.images.table().ids)
    boxes = [_random_box(chance) for _ in range(chance.randint(1, 3))]
    codes = [chance.choice((None, UNKNOWN, *project.classes.graph.classes())) for _ in boxes]
    project.images.add_parts(image_id, [_within(project, image_id, box) for box in boxes], codes)
    return f"draw boxes in image {image_id}"


def _add_thing(project: Project, place: Place, chance: Random) -> str:
    image_id = chance.choice(project.images.table().ids)
    picture = file_part(project.images.record(image_id).part).picture
    thing = picture._replace(thing=chance.randint(2, 4)).text
    project.images.add_parts(image_id, [thing], [chance.choice(project.classes.graph.classes())])
    return f"add a thing in image {image_id}"


def _move_box(project: Project, place: Place, chance: Random) -> str:
    boxes = _boxes(project)
    if not boxes:
        return _draw(project, place, chance)
    image_id = chance.choice(boxes)
    project.images.change_part(image_id, _within(project, image_id, _random_box(chance)))
    return f"move box {image_id}"


def _remove(project: Project, place: Place, chance: Random) -> str:
    """Remove a box, or a picture with its boxes, sometimes several."""
    ids = chance.sample(_boxes(project) or project.images.table().ids, 1)
    if chance.random() < 0.4:
        ids = chance.sample(project.images.table().ids, chance.randint(1, 2))
    project.images.remove(ids)
    return f"remove images {ids}"


def _label(project: Project, place: Place, chance: Random) -> str:
    ids = chance.sample(project.images.table().ids, chance.randint(1, 3))
    code = chance.choice((EMPTY, EMPTY, UNKNOWN, *project.classes.graph.leaves()))
    project.labels.set(ids, code, who="ada")
    return f"label images {ids}"


def _import_detections(project: Project, place: Place, chance: Random) -> str:
    import_labels(project, _card(place) / DETECTIONS, threshold=chance.random())
    return "import a detector's file"


def _find_things(project: Project, place: Place, chance: Random) -> str:
    """Add a detector's results for some pictures, as `detect` does."""
    table = project.images.table()
    pictures = [
        each
        for each, part in zip(table.ids, table.parts, strict=True)
        if not is_within_picture(part)
    ]
    found = {
        image_id: [
            Detection(_random_box(chance), chance.random(), chance.choice(CATEGORIES))
            for _ in range(3)
        ]
        for image_id in chance.sample(pictures, min(4, len(pictures)))
    }
    add_found(project, found, 0.3, source="detector.onnx")
    return "find things"


def _move_files(project: Project, place: Place, chance: Random) -> str:
    """Rename the card; all images must be found."""
    card = _card(place)
    before = _parts_in(project, card)
    moved = card.rename(place.folder / f"card {chance.randrange(10**6)}")
    plan = find_moved(known_images(project), moved)
    relink(project, plan, CacheFolders.default())
    _expect(_parts_in(project, moved) == before, "images of one file came apart")
    return f"find {len(plan.moves)} moved files"


def _card(place: Place) -> Path:
    return next(place.folder.glob("card*"))


def _parts_in(project: Project, card: Path) -> dict[str, dict[ImageId, str]]:
    files = (project.images.parts_of(path) for path in sorted(card.iterdir()))
    names = (path.name for path in sorted(card.iterdir()))
    return {name: parts for name, parts in zip(names, files, strict=True) if parts}


def _boxes(project: Project) -> list[ImageId]:
    table = project.images.table()
    return [each for each, part in zip(table.ids, table.parts, strict=True) if file_part(part).box]


def _within(project: Project, image_id: ImageId, box: BoundingBox) -> str:
    """The box as a part of the image's picture."""
    picture = file_part(project.images.record(image_id).part).picture
    return FilePart(picture.page, picture.seconds, box).text


def _random_box(chance: Random) -> BoundingBox:
    return _box(chance.choice(_PLACES), chance.choice(_PLACES))


def _box(left: float, top: float) -> BoundingBox:
    return BoundingBox.of(left, top, 0.3, 0.25)


_ACTS: Sequence[Act] = (
    *(_draw, _draw, _add_thing, _move_box, _move_box, _remove, _label, _label),
    *(_import_detections, _find_things, _move_files),
)

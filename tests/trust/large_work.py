"""A user of a large collection: opens, labels, undoes, imports, edits classes, closes."""

import json
from pathlib import Path
from random import Random

from engine.collection.live import LiveCollection
from engine.config import CacheFolders
from engine.files import FoundFile
from engine.project import Change
from tests.trust.acknowledge import Log
from tests.trust.children import Place
from tests.trust.large_projects import (
    CLASSES,
    IMAGES,
    SPARE,
    content_of_number,
    fit_as_window,
    shown_of,
    take_for_large,
)
from tests.trust.stages import Stage

SESSIONS = 4
ACTS = 4


def work_on_large(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    """Repeat sessions of opening, labelling, undo, importing, editing classes and closing."""
    take_for_large()
    for _ in range(SESSIONS):
        work_once(place, log, chance)


def work_once(place: Place, log: Log, chance: Random) -> None:
    """One session; its predictions are recorded before the project is closed."""
    live = LiveCollection.open(place.project, CacheFolders.default())
    try:
        live.load_list()
        if chance.random() < 0.3:
            act(live, log, chance)
        live.load(fits=False)
        for _ in range(ACTS):
            act(live, log, chance)
            fit_as_window(live, chance, lambda: label(live, log, chance))
        note_shown(live, log)
    finally:
        live.close()


def note_shown(live: LiveCollection, log: Log) -> None:
    """Record the predictions, which may be shown at the next opening."""
    log.note_shown(json.dumps(sorted(shown_of(live.state, live.project.classes.graph))))


def act(live: LiveCollection, log: Log, chance: Random) -> None:
    """Do a random action of the window."""
    do = chance.choice((label, label, label, _walk, _walk, _import, _remove_images, _edit_classes))
    do(live, log, chance)


def _follow(live: LiveCollection, log: Log, change: Change | None, did: str) -> None:
    if change is not None:
        log.acknowledge(live.project, did)
        live.take(change)


def label(live: LiveCollection, log: Log, chance: Random) -> None:
    """Label one or a few images, or remove their labels."""
    project, ids = live.project, live.embedded.images.ids.tolist()
    some = chance.sample(ids, chance.choice((1, 1, 1, 8)))
    log.begin("label")
    if chance.random() < 0.15:
        change = project.labels.remove(some)
    else:
        change = project.labels.set(
            some, chance.choice([*project.classes.graph.leaves(), None]), who="ada"
        )
    _follow(live, log, change, f"label images {some}")


def _walk(live: LiveCollection, log: Log, chance: Random) -> None:
    is_forward = chance.random() < 0.3
    change = live.project.history.redo() if is_forward else live.project.history.undo()
    _follow(live, log, change, "redo" if is_forward else "undo")


def _import(live: LiveCollection, log: Log, chance: Random) -> None:
    project = live.project
    numbers = chance.sample(range(IMAGES, IMAGES + SPARE), chance.choice((1, 3, 20)))
    files = [FoundFile(project.path.with_name(f"{number}.jpg"), 1, 1) for number in numbers]
    log.begin("import")
    change = project.images.add(files)
    _follow(live, log, change, f"import {len(files)} images")
    table = project.images.table(change.images_added)
    found = [
        (each, content_of_number(int(Path(name).stem)), None)
        for each, name in zip(table.ids, table.paths, strict=True)
    ]
    project.images.record_scan(found)
    log.acknowledge(project, "embed")
    live.take_embedded(table.ids, fits=False)


def _remove_images(live: LiveCollection, log: Log, chance: Random) -> None:
    ids = live.embedded.images.ids.tolist()
    log.begin("remove images")
    _follow(
        live,
        log,
        live.project.images.remove(chance.sample(ids, chance.choice((1, 5)))),
        "remove images",
    )


def _edit_classes(live: LiveCollection, log: Log, chance: Random) -> None:
    """Add a class with examples, or remove one with its labels."""
    project = live.project
    leaves = project.classes.graph.leaves()
    log.begin("edit classes")
    if len(leaves) > CLASSES and chance.random() < 0.5:
        _follow(live, log, project.classes.remove([chance.choice(leaves)]), "remove class")
        return
    name = f"New {chance.randrange(1_000_000)}"
    change, class_id = project.classes.add(name, [project.classes.graph.parents(leaves[0])[0]])
    _follow(live, log, change, "add class")
    some = chance.sample(live.embedded.images.ids.tolist(), 3)
    _follow(live, log, project.labels.set(some, class_id, who="ada"), "label with it")

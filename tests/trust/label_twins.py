"""Labels exported between similar projects reach the right class and photo, or are listed.

Two projects have similar class lists and folders of photos: ids exchanged or equal to other names,
equal names under several parents, synonyms, photos of one name with other contents. Labels of one
are exported in any format and imported into the other. The truth is known from the bytes of photos
and paths of classes. Formats with boxes get some.
"""

import io
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from PIL import Image

from engine.collection.importing.import_labels import import_labels
from engine.collection.importing.label_plan import LabelPlan
from engine.errors import ProtoleafError
from engine.exporting.export import ExportChoice, Which, export_images
from engine.file_parts import BoundingBox, FilePart
from engine.files import FoundFile
from engine.images.read_file import content_hash
from engine.interchange.labelled_images.formats import FORMATS
from engine.project import Project
from engine.project.records import ImageRecord
from tests.support.projects import named
from tests.trust.children import Place, own_peak_bytes, run_apart
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.stages import Stage
from tests.trust.trials import PROCESSES, OnTrial, ending_faults, run_trials, trial_folder

INSTRUMENT = "label imports between twin projects"
BATCH = 50
IMPORT_LIMIT_S = 10.0
READ = tuple(name for name, one in FORMATS.items() if one.is_read)
_WITH_BOXES = (
    "csv",
    "jsonl",
    "parquet",
    "coco",
    "cvat",
    "label-studio",
    "fiftyone",
    "camtrap-dp",
)
_BOXES = tuple(
    FilePart(box=BoundingBox(*box)).text for box in ((0, 0, 0.5, 0.5), (0.5, 0.25, 0.25, 0.5))
)
_WITHOUT_NONE = "darwin-core"
_NAMES = ("Apple", "Pear", "Plum", "Crane", "Gull", "1", "2", "none", "A/B")
_IN_LANGUAGES = (
    "Apfel@de",
    "Apple@de",
    "pomme@fr",
    "Gull@la",
    "鸥@zh-CN",
    "grulla@es-MX",
    "A/B@en",
    "1@x",
)
_IDS = (*"12345", "Apple", "Pear", "Fruit", "Fruit/Apple", "n01440764")
_ROOTS = ("Fruit", "Bird", "Apple")
_PLACES = tuple(f"DCIM/{folder}/{name}.png" for folder in ("100", "101") for name in "abc")
_ODD = os.fsdecode(b"DCIM/101/m\xf6we.png")
_CONTENTS = 8

Names = tuple[str, ...]
Item = tuple[bytes, str]  # bytes of a photo, and the labelled part


@dataclass(frozen=True)
class Batch:
    """Imports of one child, by seed."""

    first: int
    count: int


@dataclass(frozen=True)
class Truth:
    """Labels of the first project.

    Attributes:
        paths: of the class by photo and part; None for none of the classes.
        without: labels that the format cannot store.
    """

    paths: Mapping[Item, Names | None]
    without: int


def import_many(
    stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None
) -> Outcome:
    """Import labels between pairs of projects.

    Args:
        stage: for its scratch folder.
        count: imports.
        seed: of the random generator.
        on_trial: called after each import.
    """
    size = min(BATCH, max(1, count // PROCESSES))
    first = seed * 10_000_000
    plans = [Batch(first + start, min(size, count - start)) for start in range(0, count, size)]
    row = run_trials(INSTRUMENT, plans, lambda plan: import_some(stage, plan, on_trial))
    return Outcome(row.instrument, count, row.acknowledged, row.faults, row.peak_bytes)


def import_some(stage: Stage, batch: Batch, on_trial: OnTrial = lambda: None) -> Trial:
    """Run the imports of a batch in a child."""
    with trial_folder(stage.folder) as folder:
        folder.mkdir()
        place = Place(folder)
        ending = run_apart(place, try_some, folder, batch, limit_s=IMPORT_LIMIT_S * batch.count)
        for _ in range(batch.count):
            on_trial()
        if ending.answer is None:
            return Trial(
                0, tuple(ending_faults(ending, f"imports from seed {batch.first}", place.output()))
            )
        faults, imported, peak = ending.answer
        return Trial(imported, faults, peak)


def try_some(folder: Path, batch: Batch) -> tuple[tuple[Fault, ...], int, int]:
    """Run imports in sequence; return faults, the number of labels, and peak memory."""
    faults: list[Fault] = []
    imported = 0
    for seed in range(batch.first, batch.first + batch.count):
        twins = folder / "twins"
        try:
            found, labels = try_one(twins, seed)
        except Exception as error:  # noqa: BLE001 (recorded)
            found, labels = [Fault("traceback", f"{type(error).__name__}: {str(error)[:300]}")], 0
        faults += [Fault(fault.kind, f"seed {seed}: {fault.text}", fault.count) for fault in found]
        imported += labels
        os.chdir(folder)
        shutil.rmtree(twins, ignore_errors=True)
    return tuple(faults), imported, own_peak_bytes()


def try_one(folder: Path, seed: int) -> tuple[list[Fault], int]:
    """One import; return faults and the number of labels."""
    chance = Random(seed)
    name = chance.choice(READ)
    out = folder / f"out{FORMATS[name].suffix}"
    has_boxes = name in _WITH_BOXES
    with _made(folder / "one", chance, has_boxes=has_boxes) as first:
        paths = _label_all(first, chance)
        export_images(first, {}, ExportChoice(name, out, Which.VERIFIED))
    if chance.random() < 0.5:
        (folder / "one").rename(folder / "gone")
    truth = Truth(
        paths, sum(each is None for each in paths.values()) if name == _WITHOUT_NONE else 0
    )
    os.chdir(folder)
    with _made(folder / "two", chance, has_boxes=has_boxes) as second:
        source = Path(out.name) if chance.random() < 0.5 else out
        try:
            done = import_labels(
                second,
                source,
                adds_classes=chance.random() < 0.3,
                adds_images=chance.random() < 0.3,
            )
        except ProtoleafError as error:
            return [Fault("other", f"{name}: refused: {error}")], 0
        faults = [*_wrong(second, truth), *_vanished(second, done.plan, truth)]
        return [Fault(fault.kind, f"{name}: {fault.text}") for fault in faults], done.labelled


def _made(folder: Path, chance: Random, *, has_boxes: bool) -> Project:
    """A project with a random list of classes and photos, some of them read."""
    folder.mkdir(parents=True)
    project = Project.create(
        folder / "shapes.protoleaf", backbone_name="leafnet", backbone_hash="00" * 32
    )
    with project.history.one_step(named("classes")):
        for root in chance.sample(_ROOTS, chance.randint(1, len(_ROOTS))):
            _, parent = project.classes.add(root)
            _name(project, parent, chance)
            for name in chance.sample(_NAMES, chance.randint(1, 4)):
                _name(project, project.classes.add(name, (parent,))[1], chance)
    places = chance.sample((*_PLACES, _ODD), 4)
    for place, number in zip(places, chance.sample(range(_CONTENTS), len(places)), strict=True):
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_picture(number))
    project.images.add([found for place in places if (found := FoundFile.at(folder / place))])
    project.images.record_scan(
        (each.image_id, content_hash(project.images.resolve(each).read_bytes()), None)
        for each in list(project.images.records())
        if chance.random() < 0.7
    )
    for image_id in list(project.images.table().ids) if has_boxes else ():
        project.images.add_parts(image_id, chance.sample(_BOXES, chance.randint(0, 2)))
    return project


def _name(project: Project, class_id: int, chance: Random) -> None:
    source_id = chance.choice(_IDS) if chance.random() < 0.6 else ""
    synonyms = (
        *((chance.choice(_NAMES),) if chance.random() < 0.3 else ()),
        *(chance.sample(_IN_LANGUAGES, 2) if chance.random() < 0.3 else ()),
    )
    project.classes.set_attributes([class_id], source_id=source_id, synonyms=synonyms)


@cache
def _picture(number: int) -> bytes:
    """A picture that is never decoded."""
    data = io.BytesIO()
    Image.new("RGB", (8, 8), (30 * number, 90, 200)).save(data, "PNG")
    return data.getvalue()


def _label_all(project: Project, chance: Random) -> dict[Item, Names | None]:
    paths: dict[Item, Names | None] = {}
    for image in list(project.images.records()):
        class_id = chance.choice([*project.classes.graph.classes(), None])
        project.labels.set([image.image_id], class_id, who="ada")
        paths[_item(project, image)] = None if class_id is None else _path(project, class_id)
    return paths


def _item(project: Project, image: ImageRecord) -> Item:
    return project.images.resolve(image).read_bytes(), image.part


def _path(project: Project, class_id: int) -> Names:
    return tuple(map(project.classes.graph.name, project.classes.graph.paths(class_id)[0]))


def _wrong(project: Project, truth: Truth) -> Iterator[Fault]:
    """Labels on a wrong photo or class."""
    for label in project.labels.by_image().values():
        image = project.images.record(label.image_id)
        item, name = _item(project, image), f"{image.path!a} {image.part}".strip()
        path = None if label.class_id is None else _path(project, label.class_id)
        if item not in truth.paths:
            yield Fault("wrong", f"{name} is another photo, and got {path}")
        elif not _is_right(project, label.class_id, truth.paths[item]):
            yield Fault("wrong", f"{name} is labelled {truth.paths[item]}, and got {path}")


def _is_right(project: Project, class_id: int | None, expected: Names | None) -> bool:
    """Whether a class has this path or, without one, a unique name."""
    if class_id is None or expected is None:
        return class_id is None and expected is None
    path = _path(project, class_id)
    if path == expected:
        return True
    if any(_path(project, each) == expected for each in project.classes.graph.classes()):
        return False
    is_synonym = (
        len(expected) == 1 and expected[0] in project.classes.graph.attributes(class_id).other_names
    )
    is_same_source = project.classes.graph.attributes(class_id).source_id.startswith("n0")
    return path[-len(expected) :] == expected or is_synonym or is_same_source


def _vanished(project: Project, plan: LabelPlan, truth: Truth) -> Iterator[Fault]:
    """Labelled photos neither imported nor listed."""
    came = {_item(project, project.images.record(each)) for each in project.labels.by_image()}
    missing = len({photo for photo, _part in truth.paths.keys() - came}) - truth.without
    listed = _listed(plan)
    if missing > len(listed) + len(plan.problems):
        yield Fault("lost", f"labels of {missing} photos did not come, {len(listed)} are listed")


def _listed(plan: LabelPlan) -> set[str]:
    """Images listed as not imported."""
    listed = {label.image for label in plan.waiting} | set(plan.missing_images)
    listed |= {each.image for each in plan.class_conflicts} | {
        each.image for each in plan.content_conflicts
    }
    return listed | {each.image for each in plan.contradictions}

"""Common input of trials: a project with all features, pictures, caches, earlier copies."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.collection.classify import classify_project, predictions, store_predictions
from engine.collection.embed import embed_project
from engine.collection.importing.import_graph import import_graph
from engine.collection.importing.import_images import import_class_folders, import_images
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.everyday.classifier import Setting
from engine.project import ClassPolicy, Project
from tests.support.collections import LEAVES, class_ids, write_collection, write_shape
from tests.support.projects import trained_model, write_first_version
from tests.trust.children import Place, run_apart
from tests.trust.exports import export_all
from tests.trust.large_projects import write_large_project
from tests.trust.seen import digest, everything, people_part
from tests.trust.things import draw_otherwise, label_things, write_card

EXTRA_PICTURES = 24
WHO = "ada"
OTHER = "grace"


@dataclass(frozen=True)
class Stage:
    """A folder that trials copy, read-only once built.

    Attributes:
        folder: of everything.
    """

    folder: Path

    @property
    def place(self) -> Place:
        """The project with its caches."""
        return Place(self.folder / "place")

    @property
    def older(self) -> Path:
        """The project before its last actions."""
        return self.folder / "older.protoleaf"

    @property
    def first_version(self) -> Path:
        """A small project of version 1."""
        return self.folder / "first.protoleaf"

    @property
    def extra(self) -> Path:
        """Folder of pictures that are not in the project."""
        return self.folder / "extra"

    @property
    def card(self) -> Path:
        """Folder of photos, pages and a detector's file, whose boxes the project has labelled."""
        return self.folder / "card"

    @property
    def labels(self) -> Path:
        """The project's labels in every format that can be imported."""
        return self.folder / "labels"

    @property
    def twin(self) -> Path:
        """Another person's copy of the project with other actions."""
        return self.folder / "twin.protoleaf"

    @property
    def large(self) -> Path:
        """An embedded project of some hundred images, counted as large by its trials."""
        return self.folder / "large" / "large.protoleaf"

    @property
    def other_large(self) -> Path:
        """The same images with equal ids, and other classes with equal ids."""
        return self.folder / "large" / "other.protoleaf"

    def facts(self) -> dict[str, Any]:
        """Facts of the projects by name."""
        found: dict[str, Any] = json.loads((self.folder / "facts.json").read_text(encoding="utf-8"))
        return found

    def lay(self, folder: Path, *, with_caches: bool = False, project: Path | None = None) -> Place:
        """Copy the project into the folder of a new trial.

        Args:
            folder: must not exist.
            with_caches: whether its images are embedded.
            project: another file to start from.
        """
        place = Place(folder)
        place.desk.mkdir(parents=True)
        shutil.copyfile(project or self.place.project, place.project)
        if with_caches:
            shutil.copytree(self.place.caches, place.caches)
        return place


def build_stage(folder: Path) -> Stage:
    """Draw pictures and make the projects; takes some seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    stage = Stage(folder)
    stage.place.desk.mkdir(parents=True)
    ending = run_apart(stage.place, _build, folder, limit_s=300)
    if ending.error or ending.exit_code:
        raise RuntimeError(f"the stage could not be built: {ending.error}{stage.place.output()}")
    return stage


def _build(folder: Path) -> None:
    stage = Stage(folder)
    collection = write_collection(folder / "pictures", CacheFolders(stage.place.caches))
    for number in range(EXTRA_PICTURES):
        write_shape(
            stage.extra / f"season {number % 3}" / f"{number:03}.png",
            LEAVES[number % 3],
            seed=900 + number,
        )
    write_card(stage.card)
    with new_project(stage.place.project) as project:
        import_graph(project, collection.graph)
        import_class_folders(project, [collection.shots], who=WHO)
        label_things(project, stage.card, WHO)
        import_images(project, [collection.unsorted])
        embed_project(project, collection.caches, device="cpu")
        _decide(project)
    shutil.copyfile(stage.place.project, stage.older)
    with Project.open(stage.place.project) as project:
        _decide_more(project, collection.caches)
        steps = _steps_back(project)
        _steps_forward(project, len(steps) - 1)
        export_all(project, stage.labels)
        facts = {
            "everything": everything(project),
            "people": digest(people_part(project)),
            "steps_back": steps,
        }
    shutil.copyfile(stage.place.project, stage.twin)
    with Project.open(stage.twin) as project:
        _decide_otherwise(project)
    write_first_version(stage.first_version)
    write_large_project(stage.large, collection.caches)
    write_large_project(stage.other_large, collection.caches, "Other", shift=5)
    found_in = {
        "older": stage.older,
        "first": stage.first_version,
        "large": stage.large,
        "other": stage.other_large,
    }
    for name, path in found_in.items():
        with Project.open(path, for_writing=False) as project:
            facts[name] = digest(people_part(project))
    (folder / "facts.json").write_text(json.dumps(facts, default=str), encoding="utf-8")


def _decide(project: Project) -> None:
    """One of each action."""
    named = class_ids(project)
    project.classes.link(named["Blue"], [named["Red disc"]])
    _, spotted = project.classes.add("Getüpfelt 斑点", [named["Green"], named["Blue"]])
    project.classes.rename(spotted, "Spotted 斑点")
    project.policies.set(named["Red"], ClassPolicy(bar=0.8))
    project.policies.set(named["Blue"], ClassPolicy(bar=None, is_deepest=True))
    project.classes.set_attributes(
        [named["Red"]], note="The warm ones.\nAsk Ada about orange.", colour="#c01020"
    )
    project.classes.set_attributes([named["Blue"]], colour="#1020c0")
    project.classes.set_attributes(
        [spotted], synonyms=("gepunktet@de", "moteado@es-MX", "斑点@zh-CN", "spotty", "a@b")
    )
    project.policies.set_setting("favourite", {"plain": [1, 2.5, None, "x"]})
    unlabelled = [
        image_id for image_id in project.images.table().ids if project.labels.of(image_id) is None
    ]
    project.labels.set(unlabelled[:2], None, who=WHO)
    for number, image_id in enumerate(unlabelled[2:14]):
        project.labels.set([image_id], named[LEAVES[number % len(LEAVES)]], who=WHO)


def _decide_more(project: Project, caches: CacheFolders) -> None:
    named = class_ids(project)
    project.models.add_trained(trained_model())
    classified = classify_project(project, caches, Setting.PPN_PLUS)
    store_predictions(project, predictions(classified), Setting.PPN_PLUS.value)
    project.classes.remove([named["Green stripes"]])
    project.classes.move([(named["Blue checks"], named["Blue"])], named["Red"])
    ids = list(project.images.table().ids)
    for number, image_id in enumerate(ids[-14:-4]):
        project.labels.set([image_id], named[LEAVES[number % 3]], who=WHO)
    project.labels.remove(ids[-6:-4])
    project.images.remove(ids[-2:])
    for _ in range(3):
        project.history.undo()


def _decide_otherwise(project: Project) -> None:
    """Another person's actions in a copy: classes, labels, notes, confirmations."""
    named, ids = class_ids(project), list(project.images.table().ids)
    _, dotted = project.classes.add("Green dots", [named["Green"]])
    for number, image_id in enumerate(ids[8:-4]):
        project.labels.set([image_id], (dotted, named["Red disc"], None)[number % 3], who=OTHER)
    project.notes.set_stars(ids[::5], 4, who=OTHER)
    project.notes.set_comment(ids[::7], "Seen by another person", who=OTHER)
    project.labels.confirm(ids[8:20], who=OTHER)
    draw_otherwise(project, OTHER)


def _steps_back(project: Project) -> Sequence[str]:
    """Digest of people's work now, and after each undo to the start."""
    found = [digest(people_part(project))]
    while project.history.undo() is not None:
        found.append(digest(people_part(project)))
    return found


def _steps_forward(project: Project, count: int) -> None:
    for _ in range(count):
        project.history.redo()

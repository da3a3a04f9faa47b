"""A small project with every kind of label and prediction, and its exports."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from engine.exporting.export import Which, gather
from engine.files import FoundFile
from engine.images.read_file import content_hash
from engine.interchange.labelled_images.records import LabelledImages, ModelAnswer
from engine.project import Project

ORGAN = "Organ"
"""A class with two parents."""


@dataclass(frozen=True)
class Labelled:
    """An open project on disk and its predictions.

    Attributes:
        project: open for writing; the test closes it.
        ids: of its classes by name.
        images: ids of its images by file name.
        answers: by image id.
    """

    project: Project
    ids: Mapping[str, int]
    images: Mapping[str, int]
    answers: Mapping[int, ModelAnswer]

    def gathered(self, which: Which = Which.ALL) -> LabelledImages:
        """The collection as passed to formats."""
        return gather(self.project, self.answers, which, model="leafnet", setting="ppn+")


def make_project(folder: Path) -> Project:
    """An empty project."""
    folder.mkdir(parents=True, exist_ok=True)
    return Project.create(
        folder / "music.protoleaf", backbone_name="leafnet", backbone_hash="00" * 32
    )


def add_music_classes(project: Project) -> dict[str, int]:
    """Keyboard and Wind above Piano, Organ (both), Flute and a class of an unportable name."""
    ids: dict[str, int] = {}
    for name, parents in (
        ("Keyboard", ()),
        ("Wind", ()),
        ("Piano", ("Keyboard",)),
        (ORGAN, ("Keyboard", "Wind")),
        ("Flute", ("Wind",)),
        ("Trio: A/B?", ()),
        ("unknown", ("Wind",)),
    ):
        _, ids[name] = project.classes.add(name, tuple(ids[parent] for parent in parents))
    return ids


def draw(path: Path, shade: int) -> FoundFile:
    """A small picture of one colour; contents differ by shade."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (24 + shade % 5, 16), (shade, 255 - shade, 90)).save(path)
    found = FoundFile.at(path)
    assert found is not None
    return found


def labelled_project(folder: Path) -> Labelled:
    """Eight images: labelled by three people, predicted with certainty, coarsely, not at all."""
    project = make_project(folder)
    ids = add_music_classes(project)
    names = (
        "piano.png",
        "organ.png",
        "none.png",
        "flute.png",
        "coarse.png",
        "unsure.png",
        "far.png",
        '=odd, "name" ü.png',
    )
    files = [
        draw(folder / "photos" / f"day {place % 2}" / name, 20 * place)
        for place, name in enumerate(names)
    ]
    project.images.add(files)
    images = dict(zip(names, (image.image_id for image in project.images.records()), strict=True))
    project.images.record_scan(
        (image.image_id, content_hash(project.images.resolve(image).read_bytes()), None)
        for image in project.images.records()
    )
    project.labels.set([images["piano.png"]], ids["Piano"], who="ada")
    project.labels.set([images["organ.png"]], ids[ORGAN], who="grace")
    project.labels.set([images["none.png"]], None, who="ada")
    project.labels.set([images[names[-1]]], ids["Trio: A/B?"], who='Zoë, "the" boss')
    answers = {
        images["piano.png"]: ModelAnswer(ids["Piano"], 0.97, ids["Piano"], 0.97, is_unknown=False),
        images["flute.png"]: ModelAnswer(ids["Flute"], 0.91, ids["Flute"], 0.91, is_unknown=False),
        images["coarse.png"]: ModelAnswer(ids["Flute"], 0.45, ids["Wind"], 0.9, is_unknown=False),
        images["unsure.png"]: ModelAnswer(ids["Piano"], 0.31, None, 0.0, is_unknown=False),
        images["far.png"]: ModelAnswer(ids["Piano"], 0.4, None, 0.0, is_unknown=True),
    }
    return Labelled(project, ids, images, answers)

"""Finds the boxes, pages and moments that labels of a source are about, and those that are new to the project."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

from engine.file_parts import MOST_BOXES, WHOLE_FILE, FilePart, file_part
from engine.files import FoundFile
from engine.interchange.labelled_images.foreign_labels import ForeignLabel
from engine.project import ImageId, Project
from engine.project.records import NewItem
from engine.texts import Message

SAME: Final = 0.98
"""Intersection over union from which on two boxes are one. Chosen: above what rounding to whole pixels does to a box of
a hundred pixels."""


@dataclass(frozen=True)
class NewPart:
    """A part that a source has and the project does not."""

    item: NewItem
    is_of_machine: bool  # found by a detector, so that its score counts

    def is_wanted(self, threshold: float) -> bool:
        """Whether it becomes an image: a person drew it, or its score is as high."""
        score = self.item.detection_score
        return not self.is_of_machine or score is None or score >= threshold


@final
class PartMatcher:
    """Matches the parts of files; what is new is noted once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._beside: dict[str, dict[FilePart, ImageId]] = {}  # images of each file, by their parts
        self._new: defaultdict[str, dict[FilePart, NewPart]] = defaultdict(dict)  # by path
        self.problems: list[str] = []

    @property
    def new(self) -> tuple[NewPart, ...]:
        return tuple(part for of_file in self._new.values() for part in of_file.values())

    def images_of(self, label: ForeignLabel, images: tuple[ImageId, ...]) -> tuple[ImageId, ...]:
        """The images that a label of a part is about, by one image of each file; without those that are new."""
        if label.part == WHOLE_FILE:
            return images
        return tuple(found for each in images if (found := self._image_of(label, each)) is not None)

    def _image_of(self, label: ForeignLabel, image_id: ImageId) -> ImageId | None:
        record = self._project.images.record(image_id)
        beside = self._known(record.path)
        if (found := _same(beside, label.part)) is not None:
            return found
        new = self._new[record.path]
        known = new.get(label.part)
        if known is not None and (known.is_of_machine <= label.is_machine):
            return None
        if known is None and len(new) + len(beside) >= MOST_BOXES:
            template = "{image} has more boxes than {most}; the others are left out"
            line = Message(template, {"image": label.image, "most": MOST_BOXES})
            if line not in self.problems:
                self.problems.append(line)
            return None
        file = FoundFile(
            self._project.images.resolve(record), record.size_bytes, record.modified_ns
        )
        item = NewItem(file, label.part.text, label.category, label.score)
        new[label.part] = NewPart(item, label.is_machine)
        return None

    def _known(self, path: str) -> Mapping[FilePart, ImageId]:
        if path not in self._beside:
            of_file = self._project.images.parts_of(self._project.path.parent / path)
            self._beside[path] = {file_part(part): image_id for image_id, part in of_file.items()}
        return self._beside[path]


def add_parts(project: Project, parts: Sequence[NewPart], threshold: float) -> int:
    """Add the boxes, pages and moments that are wanted as images; how many are new."""
    items = [each.item for each in parts if each.is_wanted(threshold)]
    return len(project.images.add(items).images_added) if items else 0


def _same(beside: Mapping[FilePart, ImageId], part: FilePart) -> ImageId | None:
    """The image that is this part, or a box that differs by rounding alone."""
    if (found := beside.get(part)) is not None or part.box is None:
        return found
    boxes = (
        (part.box.overlap(each.box), image_id)
        for each, image_id in beside.items()
        if each.box is not None and each.picture == part.picture
    )
    share, found = max(boxes, default=(0.0, None))
    return found if share >= SAME else None

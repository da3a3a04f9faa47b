"""One of three copies of a project: random work, and the truth about classes and labels.

Each class has a token as its note, and labels are identified by photo content, author and time, so
the right result of a merge is known independently of the merging code. Boxes are identified by
photo content and size, which is unique and constant.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import final

from engine.errors import ProtoleafError
from engine.file_parts import file_part
from engine.files import FoundFile
from engine.graph.codes import EMPTY, UNKNOWN
from engine.project import ClassId, ImageId, Project, SplitPart
from engine.project.clock import time_text
from engine.project.records import Label, NewItem
from tests.support.eighth_version import save_as_eighth_version
from tests.support.projects import named

BASE_CLASSES = (
    ("Bird", ""),
    ("Gull", "Bird"),
    ("Tern", "Bird"),
    ("Fox", ""),
    ("Moth", ""),
    ("Larva", "Moth"),
)
_NAMES = ("juvenile", "adult", "egg", "Gull", "Tern", "Fox", "winter")
BASE_IMAGES = 12
_CONTENT_BYTES = 32
_TOP = ""  # token of the top level
_TOKENS = {UNKNOWN: "none of the classes", EMPTY: "empty"}  # of labels without a class
BOXES = 6  # per photo
_FARTHEST = 40  # percent of the photo, of a box's left and upper edge

Content = bytes
Signature = tuple[str, str]  # author and time
Place = tuple[str, str]  # token of a parent, and name below it


@dataclass
class Truth:
    """The truth about the classes of all three copies.

    Attributes:
        places: all positions of each class made in a copy, by token.
        made: number of tokens.
    """

    places: dict[str, set[Place]] = field(default_factory=dict)
    made: int = 0

    def token(self, copy: str) -> str:
        """A token for a class made in a copy."""
        self.made += 1
        return f"{copy} {self.made}"

    def groups(self) -> Mapping[str, str]:
        """A token for each class, equal for those made at one position by two people."""
        group = {token: token for token in self.places}
        while True:
            first: dict[Place, str] = {}
            joined = False
            for token, places in self.places.items():
                for parent, name in places:
                    own = group[token]
                    other = group[first.setdefault((group.get(parent, parent), name), token)]
                    if own != other:
                        group = {
                            each: other if known == own else known for each, known in group.items()
                        }
                        joined = True
            if not joined:
                return group


@dataclass(frozen=True)
class GivenLabel:
    """A label of a copy."""

    content: Content
    signature: Signature
    token: str
    class_path: str


@final
class Copy:
    """A person's copy with random work."""

    def __init__(
        self, path: Path, person: str, truth: Truth, chance: Random, *, has_boxes: bool
    ) -> None:
        self.path = path
        self.person = person
        self.has_boxes = has_boxes  # not in the version before identities
        self.seen: set[tuple[Content, Signature]] = set()  # all labels that it ever had
        self._truth = truth
        self._chance = chance

    def open(self) -> Project:
        """Open the project for writing."""
        return Project.open(self.path, is_backed_up=False)

    def work(self, count: int) -> None:
        """Do random actions."""
        with self.open() as project:
            for _ in range(count):
                self._act(project)
                self.note(project)

    def copied_to(self, path: Path, person: str) -> "Copy":
        """Copy the file for another person."""
        path.parent.mkdir(parents=True)
        shutil.copyfile(self.path, path)
        twin = Copy(path, person, self._truth, self._chance, has_boxes=self.has_boxes)
        twin.seen = set(self.seen)
        return twin

    def save_as_older(self) -> None:
        """Rewrite the file as the version before identities."""
        save_as_eighth_version(self.path)

    def note(self, project: Project) -> None:
        """Record positions of classes, and labels."""
        graph = project.classes.graph
        for class_id in graph.classes():
            known = self._truth.places.get(token_of(project, class_id))
            if known is not None:
                parents = [token_of(project, each) for each in graph.parents(class_id)] or [_TOP]
                known.update((parent, graph.name(class_id)) for parent in parents)
        self.seen.update((each.content, each.signature) for each in labels_in(project).values())

    # -- one action

    def _act(self, project: Project) -> None:
        act = self._chance.choice(self._acts())
        try:
            act(project)
        except ProtoleafError:
            return  # refused: a name in use, a cycle

    def _acts(self) -> Sequence[Callable[[Project], object]]:
        return (
            *[self._label] * 6,
            *[self._add] * 3,
            self._rename,
            self._move,
            self._link,
            self._remove,
            self._merge,
            self._split,
            self._unlabel,
            *[self._add_image] * 2,
            lambda project: project.history.undo(),
            *(
                [*[self._add_boxes] * 4, *[self._move_box] * 2, self._remove_image]
                if self.has_boxes
                else ()
            ),
        )

    def _class(self, project: Project) -> ClassId:
        return self._chance.choice(project.classes.graph.classes())

    def _image(self, project: Project) -> ImageId:
        return self._chance.choice(list(project.images.table().ids))

    def _label(self, project: Project) -> None:
        codes = (UNKNOWN, EMPTY) if self.has_boxes else (UNKNOWN,)
        code = self._chance.choice(codes) if self._chance.random() < 0.1 else self._class(project)
        project.labels.set([self._image(project)], code, who=self.person)

    def _unlabel(self, project: Project) -> None:
        project.labels.remove([self._image(project)])

    def _add(self, project: Project) -> None:
        parents = [self._class(project)] if self._chance.random() < 0.8 else []
        with project.history.one_step(named("add")):
            _, class_id = project.classes.add(self._chance.choice(_NAMES), parents)
            self._give_token(project, class_id)

    def _give_token(self, project: Project, class_id: ClassId) -> None:
        token = self._truth.token(self.person)
        self._truth.places[token] = set()
        project.classes.set_attributes([class_id], note=token)

    def _rename(self, project: Project) -> None:
        fresh = f"name {self._chance.randrange(10_000)}"
        project.classes.rename(
            self._class(project), self._chance.choice((fresh, fresh, *_NAMES[:2]))
        )

    def _move(self, project: Project) -> None:
        class_id = self._class(project)
        parents = project.classes.graph.parents(class_id) or (None,)
        to = self._class(project) if self._chance.random() < 0.8 else None
        project.classes.move([(class_id, self._chance.choice(parents))], to)

    def _link(self, project: Project) -> None:
        project.classes.link(self._class(project), [self._class(project)])

    def _remove(self, project: Project) -> None:
        project.classes.remove([self._class(project)])

    def _merge(self, project: Project) -> None:
        project.classes.merge([self._class(project)], self._class(project))

    def _split(self, project: Project) -> None:
        with project.history.one_step(named("split")):
            parts = [SplitPart(self._chance.choice(_NAMES), (self._image(project),))]
            _, made = project.classes.split(
                self._class(project), parts, as_children=self._chance.random() < 0.5
            )
            for class_id in made:
                self._give_token(project, class_id)

    def _add_image(self, project: Project) -> None:
        """Another file, mostly of a known photo."""
        number = self._chance.randrange(BASE_IMAGES + 4)
        name = f"{self.person}-{self._chance.randrange(10_000)}.jpg"
        change = project.images.add([FoundFile(self.path.parent / name, 100 + number, number)])
        project.images.record_scan((each, content(number), None) for each in change.images_added)
        if self._chance.random() < 0.7:
            project.labels.set(change.images_added, self._class(project), who=self.person)

    def _add_boxes(self, project: Project) -> None:
        """Boxes on a photo, some equal to another person's, some labelled, some of a detector."""
        record = project.images.record(self._image(project))
        file = FoundFile(project.images.resolve(record), record.size_bytes, record.modified_ns)
        parts = [_box(5 * number, 10, number) for number in self._chance.sample(range(BOXES), 2)]
        found = ("animal", 0.5) if self._chance.random() < 0.3 else ("", None)
        change = project.images.add([NewItem(file, part, *found) for part in parts])
        project.images.record_scan(
            (each, record.content_hash, None) for each in change.images_added
        )
        if self._chance.random() < 0.7:
            project.labels.set(change.images_added, self._class(project), who=self.person)

    def _move_box(self, project: Project) -> None:
        table = project.images.table()
        boxes = [(each, part) for each, part in zip(table.ids, table.parts, strict=True) if part]
        if boxes:
            image_id, part = self._chance.choice(boxes)
            left, top = self._chance.randrange(_FARTHEST), self._chance.randrange(_FARTHEST)
            project.images.change_part(image_id, _box(left, top, _number_of(part)))

    def _remove_image(self, project: Project) -> None:
        """Remove a box, or a photo with its boxes."""
        if project.images.count > BASE_IMAGES // 2:
            project.images.remove([self._image(project)])


def _box(left: int, top: int, number: int) -> str:
    return f"xywh=percent:{left},{top},{10 + number},20"


def _number_of(part: str) -> int:
    box = file_part(part).box
    return 0 if box is None else round(box.width * 100) - 10


def content(number: int) -> Content:
    """Content hash of a photo."""
    return number.to_bytes(_CONTENT_BYTES, "big")


def make_base(path: Path, truth: Truth, chance: Random) -> Copy:
    """The common project of all three copies."""
    path.parent.mkdir(parents=True)
    with Project.create(path, backbone_name="leafnet", backbone_hash="00" * 32) as project:
        with project.history.one_step(named("classes")):
            for name, parent in BASE_CLASSES:
                parents = [project.classes.graph.find(parent)] if parent else []
                _, class_id = project.classes.add(name, parents)
                project.classes.set_attributes([class_id], note=f"base {class_id}")
        files = [
            FoundFile(path.parent / f"{number}.jpg", 100 + number, number)
            for number in range(BASE_IMAGES)
        ]
        ids = project.images.add(files).images_added
        project.images.record_scan((each, content(number), None) for number, each in enumerate(ids))
        base = Copy(path, "base", truth, chance, has_boxes=chance.random() < 0.7)
        for class_id in project.classes.graph.classes():
            project.labels.set([chance.choice(ids)], class_id, who="base")
            base.note(project)  # undo may restore each of them
    return base


def token_of(project: Project, class_id: ClassId) -> str:
    """The token of a class."""
    return project.classes.graph.attributes(class_id).note


def _token(project: Project, label: Label) -> str:
    return _TOKENS[label.code] if label.class_id is None else token_of(project, label.class_id)


def labels_in(project: Project) -> dict[ImageId, GivenLabel]:
    """Labels of a project by image."""
    contents = dict(contents_in(project))
    graph = project.classes.graph
    return {
        each.image_id: GivenLabel(
            contents[each.image_id],
            (each.who, time_text(each.when)),
            _token(project, each),
            "" if each.class_id is None else graph.path_text(each.class_id),
        )
        for each in project.labels.by_image().values()
    }


def contents_in(project: Project) -> Iterator[tuple[ImageId, Content]]:
    """Content of each image; a box has its photo's with a number, also if it was not read."""
    table = project.images.table()
    known = {
        path: found for path, found in zip(table.paths, table.content_hashes, strict=True) if found
    }
    for image_id, path, part in zip(table.ids, table.paths, table.parts, strict=True):
        yield image_id, known.get(path, b"") + (bytes([_number_of(part)]) if part else b"")

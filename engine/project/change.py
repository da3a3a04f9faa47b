"""What one action, undo or redo did, told from the rows it changed: one way for all three, so they cannot disagree."""

from dataclasses import dataclass
from typing import Literal, final

from engine.graph.aliases import NO_ALIASES, Aliases
from engine.graph.edits import (
    AliasesChanged,
    ClassAdded,
    ClassRemoved,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
)
from engine.project.connection import Row
from engine.project.records import ClassId, ImageId
from engine.project.schema import CLASS

ChangeKind = Literal["done", "undone", "redone"]


@dataclass(frozen=True)
class Change:
    """What an action did, as far as others must know; broadcast once.

    Attributes:
        text: the action in words: "Labelled 12 images as Gull".
        graph_edits: in the order in which a copy of the graph must replay them.
        labelled: images, still there, whose label by a person changed, came or went.
        images_added, images_removed: net, so an image never stands in both.
        images_moved: images, still there, whose file is another one than before.
        policies: classes whose bar or deepest level changed.
        details: classes whose note or colour changed.
        settings: names of changed settings.
        notice: what the person must be told once, such as that no backup could be made before; else empty.
        kind: whether the action was done, undone or redone.
    """

    text: str
    graph_edits: tuple[GraphEdit, ...] = ()
    labelled: tuple[ImageId, ...] = ()
    images_added: tuple[ImageId, ...] = ()
    images_removed: tuple[ImageId, ...] = ()
    images_moved: tuple[ImageId, ...] = ()
    policies: tuple[ClassId, ...] = ()
    details: tuple[ClassId, ...] = ()
    settings: tuple[str, ...] = ()
    notice: str = ""
    kind: ChangeKind = "done"

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not (
            self.graph_edits
            or self.labelled
            or self.images_added
            or self.images_removed
            or self.images_moved
            or self.policies
            or self.details
            or self.settings
        )


@final
class ChangeBuilder:
    """Collects row changes, one after the other, into a `Change`.

    Attributes:
        count: row changes so far.
        gone: images that are not there any more, also those that came and went in between.
    """

    def __init__(self) -> None:
        self.count = 0
        self.gone: set[ImageId] = set()
        self._graph_edits: list[GraphEdit] = []
        # Dictionaries without values: sets that keep the order.
        self._labelled: dict[ImageId, None] = {}
        self._added: dict[ImageId, None] = {}
        self._removed: dict[ImageId, None] = {}
        self._moved: dict[ImageId, None] = {}
        self._policies: dict[ClassId, None] = {}
        self._details: dict[ClassId, None] = {}
        self._settings: dict[str, None] = {}

    def add(self, table: str, before: Row | None, after: Row | None) -> None:
        """Count in one row change; None stands for a row that is not there."""
        self.count += 1
        row = before if after is None else after
        assert row is not None
        match table:
            case "image" if before is not None and after is not None:
                self._moved[row[0]] = None
            case "image":
                self._count_image(row[0], is_there=after is not None)
            case "label":
                self._labelled[row[0]] = None
            case "class":
                self._graph_edits += _class_edits(before, after)
            case "edge":
                self._graph_edits.append(EdgeAdded(row[0], row[1]) if before is None else EdgeRemoved(row[0], row[1]))
            case "class_policy":
                self._policies[row[0]] = None
            case "class_detail":
                self._details[row[0]] = None
            case "setting":
                self._settings[row[0]] = None

    def absorb(self, later: "ChangeBuilder") -> None:
        """Count in all that another builder collected after this one."""
        self.count += later.count
        change = later.change("")
        self._graph_edits += change.graph_edits
        for image_id in change.images_added:
            self._count_image(image_id, is_there=True)
        for image_id in change.images_removed:
            self._count_image(image_id, is_there=False)
        self._moved.update(dict.fromkeys(change.images_moved))
        self.gone |= later.gone
        self._labelled.update(dict.fromkeys(change.labelled))
        self._policies.update(dict.fromkeys(change.policies))
        self._details.update(dict.fromkeys(change.details))
        self._settings.update(dict.fromkeys(change.settings))

    def change(self, text: str, kind: ChangeKind = "done") -> Change:
        """The change so far."""
        elsewhere = self.gone | self._added.keys()
        return Change(
            text=text,
            graph_edits=tuple(self._graph_edits),
            labelled=tuple(image_id for image_id in self._labelled if image_id not in self.gone),
            images_added=tuple(self._added),
            images_removed=tuple(self._removed),
            images_moved=tuple(image_id for image_id in self._moved if image_id not in elsewhere),
            policies=tuple(self._policies),
            details=tuple(self._details),
            settings=tuple(self._settings),
            kind=kind,
        )

    def _count_image(self, image_id: ImageId, *, is_there: bool) -> None:
        came, went = (self._added, self._removed) if is_there else (self._removed, self._added)
        if image_id in went:
            del went[image_id]
        else:
            came[image_id] = None
        (self.gone.discard if is_there else self.gone.add)(image_id)


def aliases_in(row: Row) -> Aliases:
    """Source id and synonyms in a row of the table `class`; rows that an older version wrote have none."""
    *_, source_id, synonyms = row if len(row) == len(CLASS.columns) else CLASS.whole(row)
    return Aliases(source_id, tuple(synonyms.split("\n")) if synonyms else ()) if source_id or synonyms else NO_ALIASES


def _class_edits(before: Row | None, after: Row | None) -> list[GraphEdit]:
    if before is None:
        return [] if after is None else [ClassAdded(after[0], after[1], aliases_in(after))]
    old_aliases = aliases_in(before)
    if after is None:
        return [ClassRemoved(before[0], before[1], old_aliases)]
    renamed: list[GraphEdit] = [ClassRenamed(after[0], after[1], before[1])] if after[1] != before[1] else []
    aliases = aliases_in(after)
    return renamed if aliases == old_aliases else [*renamed, AliasesChanged(after[0], aliases, old_aliases)]

"""The effect of an action, undo or redo, derived from the changed rows in one way for all."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, final

from engine.graph.class_attributes import ATTRIBUTES, ClassAttributes
from engine.graph.edits import (
    AttributesChanged,
    ClassAdded,
    ClassRemoved,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
)
from engine.project.actions import UNNAMED, Action
from engine.project.connection import Row
from engine.project.records import ClassId, ImageId
from engine.project.schema import CLASS, JOURNALED_TABLES, JournaledTable

POLICY = frozenset(each.name for each in ATTRIBUTES if each.concerns_fit)
ChangeKind = Literal["done", "undone", "redone"]
_FIELDS = {
    "label": "labelled",
    "image_note": "noted",
    "confirmed_label": "confirmed",
    "audit": "audits",
    "audit_item": "audits",
    "exclusion": "excluded",
    "field_value": "field_values",
    "setting": "settings",
}
"""Fields of `Change` with the first values of changed rows, by table."""
_NOT_IMAGES = frozenset({"audits", "settings"})


@dataclass(frozen=True)
class Change:
    """The effect of an action, broadcast once. An image is never both added and removed."""

    action: Action
    # in the order in which a copy of the graph must replay them
    graph_edits: tuple[GraphEdit, ...] = ()
    labelled: tuple[ImageId, ...] = ()  # existing images whose label was changed, added or removed
    images_added: tuple[ImageId, ...] = ()
    images_removed: tuple[ImageId, ...] = ()
    # images, still there, whose file is another one than before
    images_moved: tuple[ImageId, ...] = ()
    noted: tuple[ImageId, ...] = ()  # images, still there, whose stars, flag or comment changed
    # images, still there, whose label was confirmed, or is no longer
    confirmed: tuple[ImageId, ...] = ()
    audits: tuple[int, ...] = ()  # audits that came, grew, went, or lost an image
    excluded: tuple[ImageId, ...] = ()  # images, still there, whose excluded classes changed
    field_values: tuple[ImageId, ...] = ()  # images, still there, whose values of fields changed
    settings: tuple[str, ...] = ()  # names of changed settings
    notice: str = ""  # to display, such as that no backup could be made before; else empty
    kind: ChangeKind = "done"

    @property
    def text(self) -> str:
        """The action in words: "Labelled 12 images as Gull"."""
        return str(self.action)

    @property
    def leaves_images(self) -> bool:
        """Whether images were removed, or their files replaced."""
        return bool(self.images_removed or self.images_moved)

    @property
    def policies(self) -> tuple[ClassId, ...]:
        """Classes whose bar or deepest level changed."""
        edits = (each for each in self.graph_edits if isinstance(each, AttributesChanged))
        return tuple(
            dict.fromkeys(each.class_id for each in edits if not POLICY.isdisjoint(each.values))
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return self == Change(self.action, notice=self.notice, kind=self.kind)


@final
class ChangeBuilder:
    """Collects row changes, one after the other, into a `Change`."""

    def __init__(self) -> None:
        self.count = 0  # row changes so far
        # images that are not there any more, also those that came and went in between
        self.gone: set[ImageId] = set()
        self.graph_edits: list[GraphEdit] = []
        self.attribute_edits: list[AttributesChanged] = []  # of class details
        # Dictionaries without values are sets that keep the order.
        self._added: dict[ImageId, None] = {}
        self._removed: dict[ImageId, None] = {}
        self._moved: dict[ImageId, None] = {}
        # first values of rows, by field of `Change`
        self._changed: dict[str, dict[Any, None]] = {name: {} for name in _FIELDS.values()}

    def add(self, table: str, before: Row | None, after: Row | None) -> None:
        """Add one row change; None for a missing row."""
        self.count += 1
        row = before if after is None else after
        assert row is not None
        match table:
            case "image" if before is not None and after is not None:
                self._moved[row[0]] = None
            case "image":
                self._count_image(row[0], is_there=after is not None)
            case "class":
                self.graph_edits += _class_edits(before, after)
            case "edge":
                self.graph_edits.append(
                    EdgeAdded(row[0], row[1]) if before is None else EdgeRemoved(row[0], row[1])
                )
            case "class_policy" | "class_detail":
                self.attribute_edits += _attribute_edits(JOURNALED_TABLES[table], before, after)
            case _:
                self._changed[_FIELDS[table]][row[0]] = None

    def absorb(self, later: "ChangeBuilder") -> None:
        """Count in all that another builder collected after this one."""
        self.count += later.count
        change = later.change(UNNAMED)
        self.graph_edits += later.graph_edits
        self.attribute_edits += later.attribute_edits
        for image_id in change.images_added:
            self._count_image(image_id, is_there=True)
        for image_id in change.images_removed:
            self._count_image(image_id, is_there=False)
        self._moved.update(dict.fromkeys(change.images_moved))
        self.gone |= later.gone
        for name, changed in self._changed.items():
            changed.update(dict.fromkeys(getattr(change, name)))

    def change(self, action: Action, kind: ChangeKind = "done") -> Change:
        """The change so far."""
        changed: dict[str, Any] = {
            name: tuple(keys) if name in _NOT_IMAGES else self._still_there(keys)
            for name, keys in self._changed.items()
        }
        return Change(
            action=action,
            graph_edits=tuple(self._all_graph_edits()),
            images_added=tuple(self._added),
            images_removed=tuple(self._removed),
            images_moved=tuple(
                each for each in self._still_there(self._moved) if each not in self._added
            ),
            kind=kind,
            **changed,
        )

    def _still_there(self, image_ids: Iterable[ImageId]) -> tuple[ImageId, ...]:
        return tuple(image_id for image_id in image_ids if image_id not in self.gone)

    def _all_graph_edits(self) -> Iterator[GraphEdit]:
        """Sort edits of class details last: rows may come before that of their class."""
        yield from self.graph_edits
        added_or_removed = (
            each for each in self.graph_edits if isinstance(each, ClassAdded | ClassRemoved)
        )
        last = {each.class_id: type(each) for each in added_or_removed}
        yield from (
            each for each in self.attribute_edits if last.get(each.class_id) is not ClassRemoved
        )

    def _count_image(self, image_id: ImageId, *, is_there: bool) -> None:
        came, went = (self._added, self._removed) if is_there else (self._removed, self._added)
        if image_id in went:
            del went[image_id]
        else:
            came[image_id] = None
        (self.gone.discard if is_there else self.gone.add)(image_id)


def _class_edits(before: Row | None, after: Row | None) -> list[GraphEdit]:
    if before is None:
        return [] if after is None else [ClassAdded(*_class_in(after))]
    if after is None:
        return [ClassRemoved(*_class_in(before))]
    renamed: list[GraphEdit] = (
        [ClassRenamed(after[0], after[1], before[1])] if after[1] != before[1] else []
    )
    return [*renamed, *_attribute_edits(CLASS, before, after)]


def _class_in(row: Row) -> tuple[ClassId, str, ClassAttributes, str]:
    """Its id, name, attributes and identity."""
    return row[0], row[1], ClassAttributes(**CLASS.attributes_in(row)), CLASS.whole(row)[-1]


def _attribute_edits(
    table: JournaledTable, before: Row | None, after: Row | None
) -> list[AttributesChanged]:
    old, new = table.attributes_in(before), table.attributes_in(after)
    changed = [name for name in new if new[name] != old[name]]
    row = before if after is None else after
    if row is None or not changed:
        return []
    return [
        AttributesChanged(
            row[0], {name: new[name] for name in changed}, {name: old[name] for name in changed}
        )
    ]

"""The classes of a project: the category graph, class attributes, and their actions."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, final

from engine.errors import InputError
from engine.graph import group_edits
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ATTRIBUTES
from engine.graph.edits import AttributesChanged
from engine.graph.group_edits import Edge, Move, free_name, split_class
from engine.graph.removal import ChildrenOfRemoved, classes_that_go, label_heir
from engine.project.actions import (
    UNNAMED,
    Action,
    Argument,
    action,
    attributes_changed,
    one_or_count,
)
from engine.project.audits import claimed_classes, move_claims
from engine.project.backups.keeping import MANY
from engine.project.backups.place import BackupReason
from engine.project.branch_text import CopiedClass, copied_branches, read_branches
from engine.project.change import Change
from engine.project.graph_rows import class_name, class_names
from engine.project.labels import label_counts, labelled_as, move_labels, put_labels
from engine.project.records import ClassId, SplitPart
from engine.project.store import ProjectPart
from engine.texts import counted


@final
class ProjectClasses(ProjectPart):
    """The category graph of a project. Each action returns when it is on disk."""

    @property
    def graph(self) -> CategoryGraph:
        """The category graph, loaded once and updated by every action. Only actions may edit it.

        A read-only project with a writer elsewhere keeps the graph it has loaded.
        """
        return self._store.graph

    def colours(self) -> dict[ClassId, str]:
        """Colours of the classes that have one."""
        return {
            class_id: each.colour for class_id, each in self.graph.all_attributes() if each.colour
        }

    def edit(self, edit: Callable[[CategoryGraph], object], called: Action = UNNAMED) -> Change:
        """Make several edits of the graph as one action; undone on a `GraphError` of `edit`."""
        return self._store.edit_graph(edit, called)

    def add(self, name: str, parents: Sequence[ClassId] = ()) -> tuple[Change, ClassId]:
        """Add a class, whose id is returned too; see `CategoryGraph.add_class`."""
        added: list[ClassId] = []
        called = action("class_added", name.strip())
        return self.edit(lambda graph: added.append(graph.add_class(name, parents)), called), added[
            0
        ]

    def add_parent(
        self, name: str, child_ids: Sequence[ClassId], from_parent: ClassId | None
    ) -> tuple[Change, ClassId]:
        """Insert a new class between a parent (None: the top) and children.

        The new id is returned, too.

        See `engine.graph.group_edits.add_parent`.
        """
        added: list[ClassId] = []
        called = action("parent_added", name.strip(), classes=one_or_count(self._names(child_ids)))
        change = self.edit(
            lambda graph: added.append(group_edits.add_parent(graph, name, child_ids, from_parent)),
            called,
        )
        return change, added[0]

    def rename(self, class_id: ClassId, name: str) -> Change:
        """Rename a class; see `CategoryGraph.rename`."""
        called = action("class_renamed", self._name(class_id), name=name.strip())
        return self.edit(lambda graph: graph.rename(class_id, name), called)

    def move(self, moves: Sequence[Move], to_parent: ClassId | None) -> Change:
        """Move classes, each from one of its parents, to another (None: the top)."""
        chosen = one_or_count(self._names([class_id for class_id, _ in moves]))
        if to_parent is None:
            called = action("classes_moved_to_top", chosen=chosen)
        elif left := self._left_parent(moves):
            called = action(
                "classes_moved_from", chosen=chosen, parents=left, parent=self._name(to_parent)
            )
        else:
            called = action("classes_moved", chosen=chosen, parent=self._name(to_parent))
        return self.edit(lambda graph: group_edits.move_classes(graph, moves, to_parent), called)

    def _left_parent(self, moves: Sequence[Move]) -> str:
        """The parent that a lone class of several parents leaves; "" where it need not be named."""
        class_id, parent_id = moves[0] if len(moves) == 1 else (None, None)
        if class_id is None or parent_id is None or class_id not in self.graph:
            return ""
        return self._name(parent_id) if len(self.graph.parents(class_id)) > 1 else ""

    def link(self, parent_id: ClassId, child_ids: Sequence[ClassId]) -> Change:
        """Put classes under one more parent; see `engine.graph.group_edits.link_classes`."""
        classes = one_or_count(self._names(child_ids))
        called = action("classes_linked", parent=self._name(parent_id), classes=classes)
        return self.edit(
            lambda graph: group_edits.link_classes(graph, parent_id, child_ids), called
        )

    def unlink(self, edges: Sequence[Edge]) -> Change:
        """Remove edges, each a pair of parent and child; see `CategoryGraph.unlink`."""
        parents = one_or_count(self._names([parent_id for parent_id, _ in edges]))
        classes = one_or_count(self._names([child_id for _, child_id in edges]))
        called = action("classes_unlinked", classes=classes, parents=parents)
        return self.edit(lambda graph: group_edits.unlink_classes(graph, edges), called)

    def set_attributes(self, class_ids: Sequence[ClassId], **values: Any) -> Change:
        """Set some `ClassAttributes` of classes to the same values, as one action."""
        names = self._names(class_ids)

        def edit(graph: CategoryGraph) -> None:
            for class_id in class_ids:
                graph.set_attributes(class_id, replace(graph.attributes(class_id), **values))

        with self._store.one_step() as step:
            edits = self.edit(edit).graph_edits
            changed = {
                name
                for each in edits
                if isinstance(each, AttributesChanged)
                for name in each.values
            }
            step.action = attributes_changed(
                [each.name for each in ATTRIBUTES if each.name in changed], names
            )
        return step.change

    def set_key(self, class_id: ClassId, digit: int) -> Change:
        """Set the digit key of a class, 0 for none, and take it from its former class.

        Raises:
            InputError: it is not a digit that can be a key.
            UnknownClassError: there is no such class.
        """
        name = self._name(class_id)

        def edit(graph: CategoryGraph) -> None:
            for each, own in list(graph.all_attributes()):
                if digit and own.label_key == digit and each != class_id:
                    graph.set_attributes(each, replace(own, label_key=0))
            graph.set_attributes(class_id, replace(graph.attributes(class_id), label_key=digit))

        return self.edit(
            edit, action("key_set", name, key=digit) if digit else action("key_removed", name)
        )

    def remove(
        self, class_ids: Sequence[ClassId], children: ChildrenOfRemoved = ChildrenOfRemoved.ADOPTED
    ) -> Change:
        """Remove classes with their attributes; the classes below go to the parents by default.

        Their labels go to their parent if they have exactly one; otherwise they are removed, and
        the text has their number.

        Raises:
            DuplicateNameError: a child would become the sibling of a namesake.
            UnknownClassError: there is no such class.
        """
        names = self._names(class_ids)
        going = dict.fromkeys(classes_that_go(self.graph, class_ids, children))
        in_use = label_counts(self._connection).keys() | claimed_classes(self._connection)
        heirs = {
            class_id: label_heir(self.graph, class_id, going)
            for class_id in sorted(going.keys() & in_use)
        }
        with self._store.one_step(backup=self._backup_before_removal(going)) as step:
            labels_by_heir = Counter[ClassId | None]()
            for class_id, heir_id in heirs.items():
                labels_by_heir[heir_id] += move_labels(step, class_id, heir_id)
                move_claims(step, class_id, heir_id)
            self._store.edit_graph(lambda graph: graph.remove(*class_ids, children=children))
            step.action = self._removal(names, len(going) - len(names), labels_by_heir)
        return step.change

    def merge(self, class_ids: Sequence[ClassId], heir_id: ClassId) -> Change:
        """Merge classes into an heir, one of them or another, with labels, edges and names.

        It also gets a note and a colour if it has none. Prediction bars of the others are removed.
        See `CategoryGraph.merge`.
        """
        going = [each for each in dict.fromkeys(class_ids) if each != heir_id] or [heir_id]
        names, heir_name = self._names(going), self._name(heir_id)
        with self._store.one_step(backup=self._backup_before_removal(going)) as step:
            self._store.edit_graph(lambda graph: group_edits.merge_classes(graph, going, heir_id))
            labels = sum(move_labels(step, class_id, heir_id) for class_id in going)
            for class_id in going:
                move_claims(step, class_id, heir_id)
            step.action = action(
                "classes_merged", heir_name, classes=one_or_count(names), **_some(labels=labels)
            )
        return step.change

    def split(
        self, class_id: ClassId, parts: Sequence[SplitPart], *, as_children: bool
    ) -> tuple[Change, tuple[ClassId, ...]]:
        """Split classes off a class, as children or siblings; returns their ids.

        The class stays, with the remaining labels. Images of a part that are not labelled with the
        class keep their state: a split does not label unlabelled images.

        Raises:
            InputError: an image is in two parts.
            GraphError, DuplicateNameError: a name cannot be one or is taken, or there are no parts.
            UnknownClassError: there is no such class.
        """
        name, part_names = self._name(class_id), [part.name.strip() for part in parts]
        _check_distinct(parts)
        added: list[ClassId] = []
        with self._store.one_step() as step:
            self.edit(
                lambda graph: added.extend(
                    split_class(graph, class_id, part_names, as_children=as_children)
                )
            )
            chosen = {
                int(image_id): new
                for new, part in zip(added, parts, strict=True)
                for image_id in part.image_ids
            }
            moved = {image_id: chosen[image_id] for image_id in labelled_as(step, class_id, chosen)}
            put_labels(step, moved, source="split")
            step.action = action(
                "class_split", name, classes=one_or_count(part_names), **_some(labels=len(moved))
            )
        return step.change, tuple(added)

    def copied(self, class_ids: Sequence[ClassId]) -> str:
        """Text of these classes with their descendants, for `paste`; see `copied_branches`."""
        return copied_branches(self.graph, class_ids)

    def paste(self, text: str, parent_id: ClassId | None) -> tuple[Change, tuple[ClassId, ...]]:
        """Paste `copied` classes of any project below a parent (None: the top).

        A taken name gets " (2)". Labels are not copied. Returns the new ids of the chosen classes.

        Raises:
            InputError: the text is something else, or broken; nothing is added.
            UnknownClassError: there is no such class.
        """
        place = {} if parent_id is None else {"parent": self._name(parent_id)}
        copied = read_branches(text)
        new_ids: list[ClassId] = []
        with self._store.one_step() as step:
            self._store.edit_graph(lambda graph: new_ids.extend(_added(graph, copied, parent_id)))
            news = list(zip(new_ids, copied, strict=True))
            tops = tuple(new_id for new_id, each in news if not each.parents)
            chosen = _chosen([self.graph.name(each) for each in tops], len(news) - len(tops))
            step.action = action("classes_pasted", **chosen, **place)
        return step.change, tops

    def _name(self, class_id: ClassId) -> str:
        return class_name(self._connection, class_id)

    def _names(self, class_ids: Sequence[ClassId]) -> list[str]:
        return class_names(self._connection, class_ids)

    def _backup_before_removal(self, class_ids: Collection[ClassId]) -> BackupReason | None:
        counts = label_counts(self._connection)
        labels = sum(counts.get(class_id, 0) for class_id in class_ids)
        return BackupReason.REMOVAL if max(labels, len(class_ids)) > MANY else None

    def _removal(
        self, names: Sequence[str], below: int, labels_by_heir: Mapping[ClassId | None, int]
    ) -> Action:
        heirs = [class_id for class_id in labels_by_heir if class_id is not None]
        moved = sum(labels_by_heir[class_id] for class_id in heirs)
        heir: dict[str, Argument] = (
            {"labels": moved, "heir": self._name(heirs[0])} if len(heirs) == 1 else {}
        )
        several = _some(
            labels_up=moved if len(heirs) > 1 else 0, labels_gone=labels_by_heir.get(None, 0)
        )
        return action("classes_removed", **_chosen(names, below), **heir, **several)


def _chosen(names: Sequence[str], below: int) -> dict[str, Argument]:
    return {
        "chosen": one_or_count(names),
        **_some(**{"below_it" if len(names) == 1 else "below_them": below}),
    }


def _some(**counts: int) -> dict[str, Argument]:
    """Those counts that are not zero: only they are reported."""
    return {name: count for name, count in counts.items() if count}


def _added(
    graph: CategoryGraph, copied: tuple[CopiedClass, ...], parent_id: ClassId | None
) -> list[ClassId]:
    ids: list[ClassId] = []
    for each in copied:
        above = (parent_id,) if parent_id is not None and not each.parents else ()
        parents = above or tuple(ids[place] for place in each.parents)
        is_free = graph.class_of_key(each.attributes.label_key) is None
        attributes = each.attributes if is_free else replace(each.attributes, label_key=0)
        ids.append(
            graph.add_class(free_name(graph, each.name, parents), parents, attributes=attributes)
        )
    return ids


def _check_distinct(parts: Sequence[SplitPart]) -> None:
    counts = Counter(int(image_id) for part in parts for image_id in dict.fromkeys(part.image_ids))
    if twice := [image_id for image_id, count in counts.items() if count > 1]:
        raise InputError(
            "an image cannot be in two parts of a class",
            found="{images} in several",
            remedy="leave each in one of them",
            images=counted(len(twice), "image"),
        )

"""Actions that move labels with classes: removing, merging and splitting. Undo brings all of it back."""

from abc import ABC
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from engine.errors import InputError
from engine.graph import group_edits
from engine.graph.removal import ChildrenOfRemoved, classes_that_go, label_heir
from engine.project import detail_rows, label_rows, policy_rows
from engine.project.action_texts import counted, merged_text, remove_classes_text, split_text
from engine.project.backups.keeping import MANY
from engine.project.backups.naming import BackupReason
from engine.project.change import Change
from engine.project.class_detail_actions import ClassDetailActions
from engine.project.clock import person_name
from engine.project.records import ClassId, SplitPart
from engine.project.step import OpenStep


class RemovalActions(ClassDetailActions, ABC):
    """Actions that remove, merge and split classes. Each returns when it is on disk."""

    def remove_class(self, class_id: ClassId) -> Change:
        """Remove one class; its children go to its parents. See `remove_classes`."""
        return self.remove_classes([class_id])

    def remove_classes(
        self, class_ids: Sequence[ClassId], children: ChildrenOfRemoved = ChildrenOfRemoved.ADOPTED
    ) -> Change:
        """Remove classes, with what was set for them.

        Their labels go to their parent if they have exactly one; otherwise they are removed, and the text says how
        many. Undo brings all of it back.

        Args:
            class_ids: the classes.
            children: what becomes of the classes below.

        Raises:
            DuplicateNameError: a class below would come beside another one of its name.
            UnknownClassError: there is no such class.
        """
        names = self._names(class_ids)
        going = dict.fromkeys(classes_that_go(self.graph, class_ids, children))
        labelled = going.keys() & self.labelled_counts().keys()
        heirs = {class_id: label_heir(self.graph, class_id, going) for class_id in sorted(labelled)}
        notice = self._back_up_before_removal(list(going))
        with self.one_step(remove_classes_text(names)) as step:
            labels_by_heir = _give_labels_away(step, heirs)
            policy_rows.delete_policies(step, going.keys() & self.policies().keys())
            detail_rows.delete_details(step, going.keys() & self.details().keys())
            self._edit_graph(step.text, lambda graph: graph.remove(*class_ids, children=children))
            step.text = self._removal_text(names, len(going) - len(names), labels_by_heir)
        return replace(step.change, notice=notice)

    def merge_class(self, class_id: ClassId, heir_id: ClassId) -> Change:
        """Merge one class into another one; see `merge_classes`."""
        return self.merge_classes([class_id], heir_id)

    def merge_classes(self, class_ids: Sequence[ClassId], heir_id: ClassId) -> Change:
        """Merge classes into another one, which gets their labels, children, parents and names.

        It also gets a note and a colour where it has none. Bars that were set for the others go with them. Undo brings
        all of it back. See `CategoryGraph.merge`.

        Args:
            class_ids: the classes that go away; the heir may be among them, and stays.
            heir_id: the class that stays.
        """
        going = [each for each in dict.fromkeys(class_ids) if each != heir_id] or [heir_id]
        names, heir_name = self._names(going), self._class_name(heir_id)
        notice = self._back_up_before_removal(going)
        with self.one_step(merged_text(names, heir_name)) as step:
            self._edit_graph(step.text, lambda graph: group_edits.merge_classes(graph, going, heir_id))
            labels = sum(label_rows.move_labels(step, class_id, heir_id) for class_id in going)
            self._leave_details_to(step, going, heir_id)
            step.text = merged_text(names, heir_name, labels)
        return replace(step.change, notice=notice)

    def split_class(
        self, class_id: ClassId, parts: Sequence[SplitPart], *, as_children: bool
    ) -> tuple[Change, tuple[ClassId, ...]]:
        """Split classes off a class. Images that are labelled with it are labelled with their part's class.

        Other images of a part are left as they are: what nobody labelled is not labelled by a split.

        Args:
            class_id: the class, which stays, with the labels that no part takes.
            parts: names and images of the new classes.
            as_children: whether they come below the class; else beside it, under the same parents.

        Returns:
            The change, and the new classes' ids in the order of the parts.

        Raises:
            InputError: an image is in two parts.
            GraphError, DuplicateNameError: a name cannot be one or is taken, or there are no parts.
            UnknownClassError: there is no such class.
        """
        name, part_names = self._class_name(class_id), [part.name.strip() for part in parts]
        _check_distinct(parts)
        added: list[ClassId] = []
        with self.one_step("") as step:
            self._edit_graph(
                step.text,
                lambda graph: added.extend(
                    group_edits.split_class(graph, class_id, part_names, as_children=as_children)
                ),
            )
            chosen = {int(image_id): new for new, part in zip(added, parts, strict=True) for image_id in part.image_ids}
            moved = {image_id: chosen[image_id] for image_id in label_rows.labelled_as(step, class_id, chosen)}
            label_rows.put_labels(step, moved, who=person_name(), source="split")
            step.text = split_text(name, part_names, len(moved))
        return step.change, tuple(added)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _back_up_before_removal(self, class_ids: Sequence[ClassId]) -> str:
        counts = self.labelled_counts()
        labels = sum(counts.get(class_id, 0) for class_id in class_ids)
        return self.back_up_before(BackupReason.REMOVAL) if max(labels, len(class_ids)) > MANY else ""

    def _leave_details_to(self, step: OpenStep, class_ids: Sequence[ClassId], heir_id: ClassId) -> None:
        details = detail_rows.details_of(self._connection, heir_id)
        for class_id in class_ids:
            details = details.filled_in(detail_rows.details_of(self._connection, class_id))
        policy_rows.delete_policies(step, class_ids)
        detail_rows.delete_details(step, class_ids)
        detail_rows.put_details(step, {heir_id: details})

    def _removal_text(self, names: Sequence[str], below: int, labels_by_heir: dict[ClassId | None, int]) -> str:
        heirs = [class_id for class_id in labels_by_heir if class_id is not None]
        return remove_classes_text(
            names,
            below,
            moved=sum(labels_by_heir[class_id] for class_id in heirs),
            removed=labels_by_heir.get(None, 0),
            heir_name=self._class_name(heirs[0]) if len(heirs) == 1 else "",
        )


def _give_labels_away(step: OpenStep, heirs: dict[ClassId, ClassId | None]) -> dict[ClassId | None, int]:
    """Move the labels of classes that go.

    Returns:
        How many each heir got, and under None how many were taken away; nobody who got none.
    """
    labels_by_heir: dict[ClassId | None, int] = {}
    for class_id, heir_id in heirs.items():
        if labels := label_rows.move_labels(step, class_id, heir_id):
            labels_by_heir[heir_id] = labels_by_heir.get(heir_id, 0) + labels
    return labels_by_heir


def _check_distinct(parts: Sequence[SplitPart]) -> None:
    counts = Counter(int(image_id) for part in parts for image_id in dict.fromkeys(part.image_ids))
    if twice := [image_id for image_id, count in counts.items() if count > 1]:
        raise InputError(
            "an image cannot be in two parts of a class",
            found=f"{counted(len(twice), 'image')} in several",
            remedy="leave each in one of them",
        )

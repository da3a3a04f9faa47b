"""Actions by which classes go away: removed, or merged into another one. Undo brings all of it back."""

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace

from engine.graph.removal import ChildrenOfRemoved, classes_that_go, label_heir
from engine.project import detail_rows, label_rows, policy_rows
from engine.project.action_texts import merge_class_text, remove_classes_text
from engine.project.backups.keeping import MANY
from engine.project.backups.naming import BackupReason
from engine.project.change import Change
from engine.project.class_detail_actions import ClassDetailActions
from engine.project.records import ClassId
from engine.project.step import OpenStep


class RemovalActions(ClassDetailActions, ABC):
    """Actions that take classes away. Each returns when it is on disk."""

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
        heirs = {class_id: label_heir(self.graph, class_id, going) for class_id in going}
        notice = self._back_up_before_removal(list(going))
        with self.one_step(remove_classes_text(names)) as step:
            fates = _give_labels_away(step, heirs)
            for class_id in going:
                policy_rows.delete_policy(step, class_id)
                detail_rows.delete_details(step, class_id)
            self._edit_graph(step.text, lambda graph: graph.remove(*class_ids, children=children))
            step.text = self._removal_text(names, len(going) - len(names), fates)
        return replace(step.change, notice=notice)

    def merge_class(self, class_id: ClassId, heir_id: ClassId) -> Change:
        """Merge a class into another one, which gets its labels, children, parents and names.

        What was set for the class itself goes with it. Undo brings all of it back. See `CategoryGraph.merge`.
        """
        name, heir_name = self._class_name(class_id), self._class_name(heir_id)
        notice = self._back_up_before_removal([class_id])
        with self.one_step(merge_class_text(name, heir_name, 0)) as step:
            labels = label_rows.move_labels(step, class_id, heir_id)
            policy_rows.delete_policy(step, class_id)
            detail_rows.delete_details(step, class_id)
            self._edit_graph(step.text, lambda graph: graph.merge(class_id, heir_id))
            step.text = merge_class_text(name, heir_name, labels)
        return replace(step.change, notice=notice)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _back_up_before_removal(self, class_ids: Sequence[ClassId]) -> str:
        counts = self.labelled_counts()
        labels = sum(counts.get(class_id, 0) for class_id in class_ids)
        return self.back_up_before(BackupReason.REMOVAL) if max(labels, len(class_ids)) > MANY else ""

    def _removal_text(self, names: Sequence[str], below: int, fates: dict[ClassId | None, int]) -> str:
        heirs = [class_id for class_id in fates if class_id is not None]
        return remove_classes_text(
            names,
            below,
            moved=sum(fates[class_id] for class_id in heirs),
            removed=fates.get(None, 0),
            heir_name=self._class_name(heirs[0]) if len(heirs) == 1 else "",
        )


def _give_labels_away(step: OpenStep, heirs: dict[ClassId, ClassId | None]) -> dict[ClassId | None, int]:
    """Move the labels of classes that go.

    Returns:
        How many each heir got, and under None how many were taken away; nobody who got none.
    """
    fates: dict[ClassId | None, int] = {}
    for class_id, heir_id in heirs.items():
        if labels := label_rows.move_labels(step, class_id, heir_id):
            fates[heir_id] = fates.get(heir_id, 0) + labels
    return fates

"""Actions that bring whole branches of classes from elsewhere."""

from abc import ABC

from engine.graph.category_graph import CategoryGraph
from engine.graph.group_edits import free_name
from engine.project import detail_rows, policy_rows
from engine.project.action_texts import pasted_text
from engine.project.branch_text import CopiedClass, read_branches
from engine.project.change import Change
from engine.project.records import ClassId
from engine.project.removal_actions import RemovalActions


class BranchActions(RemovalActions, ABC):
    """Actions that paste. Each returns when it is on disk."""

    def paste_branches(self, text: str, parent_id: ClassId | None) -> tuple[Change, tuple[ClassId, ...]]:
        """Add copied classes, with all that was copied below them, as new classes.

        A name that is taken gets " (2)". Labels do not come along.

        Args:
            text: as `engine.project.branch_text.copied_branches` made it, in this project or another one.
            parent_id: the class under which the chosen ones come; None for the top level.

        Returns:
            The change, and the new ids of the classes that were chosen when they were copied.

        Raises:
            InputError: the text is something else, or broken; nothing is added.
            UnknownClassError: there is no such class.
        """
        place = None if parent_id is None else self._class_name(parent_id)
        copied = read_branches(text)
        new_ids: list[ClassId] = []
        with self.one_step("") as step:
            self._edit_graph("", lambda graph: new_ids.extend(_added(graph, copied, parent_id)))
            news = list(zip(new_ids, copied, strict=True))
            detail_rows.put_details(step, {new_id: each.details for new_id, each in news})
            for new_id, each in news:
                policy_rows.put_policy(step, new_id, each.policy)
            tops = tuple(new_id for new_id, each in news if not each.parents)
            step.text = pasted_text([self.graph.name(each) for each in tops], len(news) - len(tops), place)
        return step.change, tops


def _added(graph: CategoryGraph, copied: tuple[CopiedClass, ...], parent_id: ClassId | None) -> list[ClassId]:
    ids: list[ClassId] = []
    for each in copied:
        above = (parent_id,) if parent_id is not None and not each.parents else ()
        parents = above or tuple(ids[place] for place in each.parents)
        ids.append(graph.add_class(free_name(graph, each.name, parents), parents, aliases=each.aliases))
    return ids

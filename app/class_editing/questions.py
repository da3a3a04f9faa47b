"""What removing or merging classes would do, counted on the project thread, as rows of the palette."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.drops import classes_text
from app.palette.logic import OptionChoice, PaletteRow
from app.texts import fill, plural, shortened, tr
from app.wording import SEPARATOR, number
from engine.graph.removal import ChildrenOfRemoved

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph
    from engine.project import Project
    from engine.project.removal_preview import MergePreview, RemovalPreview


@dataclass(frozen=True)
class RemovalWay:
    """One way to remove classes: what becomes of those below, and what that would do."""

    children: ChildrenOfRemoved
    preview: RemovalPreview

    @property
    def is_harmless(self) -> bool:
        seen = self.preview
        return not (seen.children or seen.labels_moved or seen.labels_removed)


def removal_ways(project: Project, class_ids: Sequence[int]) -> tuple[RemovalWay, ...]:
    """The ways in which classes can be removed that differ, on the project thread; the usual one first."""
    from engine.project.removal_preview import removal_preview

    graph, labelled = project.classes.graph, project.labels.counts()
    known = [class_id for class_id in class_ids if class_id in graph]
    if not known:
        return ()
    ways = [
        RemovalWay(children, removal_preview(graph, labelled, known, children))
        for children in (ChildrenOfRemoved.ADOPTED, ChildrenOfRemoved.TOP_LEVEL, ChildrenOfRemoved.REMOVED)
    ]
    if not ways[0].preview.children:
        return (ways[0],)
    are_roots = not any(graph.parents(class_id) for class_id in known)
    return (ways[0], ways[2]) if are_roots else tuple(ways)


def removal_rows(graph: CategoryGraph, class_ids: Sequence[int], ways: Sequence[RemovalWay]) -> list[PaletteRow]:
    return [
        PaletteRow(
            _way_text(graph, class_ids, way, is_only=len(ways) == 1),
            _labels_text(graph, way.preview),
            "",
            "delete" if len(ways) == 1 or way.children is ChildrenOfRemoved.REMOVED else "arrow_up",
            OptionChoice(place),
        )
        for place, way in enumerate(ways)
    ]


def removal_prompt(graph: CategoryGraph, class_ids: Sequence[int]) -> str:
    return tr("Remove %1", chosen_text(graph, class_ids))


def chosen_text(graph: CategoryGraph, class_ids: Sequence[int]) -> str:
    return shortened(graph.shown_name(class_ids[0])) if len(class_ids) == 1 else classes_text(len(class_ids))


def merge_row(graph: CategoryGraph, class_ids: Sequence[int], heir_id: int, seen: MergePreview) -> PaletteRow:
    title = tr("Merge %1 into %2", chosen_text(graph, class_ids), shortened(graph.shown_name(heir_id)))
    counts = (
        (tr("labels %1 → %2"), seen.labels_before, seen.labels_after),
        (tr("children %1 → %2"), seen.children_before, seen.children_after),
        (tr("classes %1 → %2"), seen.classes_before, seen.classes_after),
    )
    parts = [fill(template, number(before), number(after)) for template, before, after in counts if before != after]
    return PaletteRow(title, SEPARATOR.join(parts), "", "merge", OptionChoice(0))


def _way_text(graph: CategoryGraph, class_ids: Sequence[int], way: RemovalWay, *, is_only: bool) -> str:
    if is_only:
        return removal_prompt(graph, class_ids)
    if way.children is ChildrenOfRemoved.REMOVED:
        return tr("Remove the whole branch: %1", classes_text(way.preview.classes))
    if way.children is ChildrenOfRemoved.TOP_LEVEL or not any(graph.parents(each) for each in class_ids):
        return tr("Keep the classes below: move %1 to the top level", classes_text(way.preview.children))
    return tr("Keep the classes below: move %1 one level up", classes_text(way.preview.children))


def _labels_text(graph: CategoryGraph, seen: RemovalPreview) -> str:
    """`12 labels go to Bird`, `3 labels are removed`."""
    parts: list[str] = []
    if seen.labels_moved:
        heir = tr("the parents") if seen.heir is None else shortened(graph.shown_name(seen.heir))
        parts.append(plural(seen.labels_moved, "1 label goes to %1", "%n labels go to %1", heir))
    if seen.labels_removed:
        parts.append(plural(seen.labels_removed, "1 label is removed", "%n labels are removed"))
    return SEPARATOR.join(parts)


def labels_text(count: int) -> str:
    return plural(count, "1 label", "%n labels")

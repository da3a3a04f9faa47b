"""Previews of removing and merging classes, and other choices, as rows of the palette."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from app.actions.keys import keys_in_use
from app.drops import classes_text
from app.palette.logic import PaletteRow
from app.texts import fill, plural, shortened, tr
from app.wording import SEPARATOR, enumeration, number
from engine.graph.class_attributes import LAST_LABEL_KEY
from engine.graph.removal import ChildrenOfRemoved

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph
    from engine.project import Change, Project
    from engine.project.removal_preview import MergePreview, RemovalPreview

NAMED_OF_LEVEL = 3
"""Classes named as examples of a level. Chosen: they fit in a row."""


@dataclass(frozen=True)
class RemovalWay:
    """A way to remove classes: what happens to their children, and a preview."""

    children: ChildrenOfRemoved
    preview: RemovalPreview

    @property
    def is_harmless(self) -> bool:
        seen = self.preview
        return not (seen.children or seen.labels_moved or seen.labels_removed)


def removal_ways(project: Project, class_ids: Sequence[int]) -> tuple[RemovalWay, ...]:
    """Distinct ways to remove classes, the default first; called on the project thread."""
    from engine.project.removal_preview import removal_preview

    graph, labelled = project.classes.graph, project.labels.counts()
    known = [class_id for class_id in class_ids if class_id in graph]
    if not known:
        return ()
    ways = [
        RemovalWay(children, removal_preview(graph, labelled, known, children))
        for children in (
            ChildrenOfRemoved.ADOPTED,
            ChildrenOfRemoved.TOP_LEVEL,
            ChildrenOfRemoved.REMOVED,
        )
    ]
    if not ways[0].preview.children:
        return (ways[0],)
    are_roots = not any(graph.parents(class_id) for class_id in known)
    return (ways[0], ways[2]) if are_roots else tuple(ways)


def removal_rows(
    graph: CategoryGraph, class_ids: Sequence[int], ways: Sequence[RemovalWay]
) -> list[PaletteRow]:
    return [
        PaletteRow(
            _way_text(graph, class_ids, way, is_only=len(ways) == 1),
            _labels_text(graph, way.preview),
            "",
            "delete" if len(ways) == 1 or way.children is ChildrenOfRemoved.REMOVED else "arrow_up",
            way,
        )
        for way in ways
    ]


def removal_prompt(graph: CategoryGraph, class_ids: Sequence[int]) -> str:
    return tr("Remove {1}", chosen_text(graph, class_ids))


def chosen_text(graph: CategoryGraph, class_ids: Sequence[int]) -> str:
    return (
        shortened(graph.shown_name(class_ids[0]))
        if len(class_ids) == 1
        else classes_text(len(class_ids))
    )


def merge_row(
    graph: CategoryGraph, class_ids: Sequence[int], heir_id: int, seen: MergePreview
) -> PaletteRow:
    title = tr(
        "Merge {1} into {2}", chosen_text(graph, class_ids), shortened(graph.shown_name(heir_id))
    )
    counts = (
        (tr("labels {1} → {2}"), seen.labels_before, seen.labels_after),
        (tr("children {1} → {2}"), seen.children_before, seen.children_after),
        (tr("classes {1} → {2}"), seen.classes_before, seen.classes_after),
    )
    parts = [
        fill(template, number(before), number(after))
        for template, before, after in counts
        if before != after
    ]
    return PaletteRow(title, SEPARATOR.join(parts), "", "merge", heir_id)


def _way_text(
    graph: CategoryGraph, class_ids: Sequence[int], way: RemovalWay, *, is_only: bool
) -> str:
    if is_only:
        return removal_prompt(graph, class_ids)
    if way.children is ChildrenOfRemoved.REMOVED:
        return tr("Remove the whole branch: {1}", classes_text(way.preview.classes))
    if way.children is ChildrenOfRemoved.TOP_LEVEL or not any(
        graph.parents(each) for each in class_ids
    ):
        return tr(
            "Keep the classes below: move {1} to the top level", classes_text(way.preview.children)
        )
    return tr("Keep the classes below: move {1} one level up", classes_text(way.preview.children))


def _labels_text(graph: CategoryGraph, seen: RemovalPreview) -> str:
    """`12 labels go to Bird`, `3 labels are removed`."""
    parts: list[str] = []
    if seen.labels_moved:
        heir = tr("the parents") if seen.heir is None else shortened(graph.shown_name(seen.heir))
        parts.append(plural(seen.labels_moved, "1 label goes to {1}", "{n} labels go to {1}", heir))
    if seen.labels_removed:
        parts.append(plural(seen.labels_removed, "1 label is removed", "{n} labels are removed"))
    return SEPARATOR.join(parts)


KEY_DIGITS = range(1, LAST_LABEL_KEY + 1)
"""Digits that can be keys of classes."""


def key_rows(graph: CategoryGraph, class_id: int) -> list[PaletteRow]:
    """A row for each key with its current class; the last one removes the key (0)."""
    name, now, rows = shortened(graph.shown_name(class_id)), graph.key_of(class_id), []
    for digit in KEY_DIGITS:
        key, owner = keys_in_use().text_of_class(digit) or number(digit), graph.class_of_key(digit)
        has_it = "" if owner is None else graph.shown_name(owner)
        act, is_now = tr("Label with {1} as {2}", key, name), _now_text(is_it=digit == now)
        rows.append(PaletteRow(key, has_it, is_now, "keys", digit, act))
    return [*rows, PaletteRow(tr("No key"), "", "", "close", 0)] if now else rows


def first_free_key(graph: CategoryGraph) -> int:
    """Index in `KEY_DIGITS` of the first unused digit; 0 if all are used."""
    free = (place for place, digit in enumerate(KEY_DIGITS) if graph.class_of_key(digit) is None)
    return next(free, 0)


def project_rules(graph: CategoryGraph, *, is_locked: bool, level: int) -> list[PaletteRow]:
    """Locking or unlocking the class list, and each possible broadest level.

    The choice of a row is the change of the project that it makes.
    """

    def lock_list(project: Project) -> Change:
        return project.policies.lock(is_on=not is_locked)

    lock = tr("Unlock the class list") if is_locked else tr("Lock the class list")
    about = (
        tr("new names create classes") if is_locked else tr("ask before a new name creates a class")
    )
    rules = [PaletteRow(lock, about, "", "lock", lock_list)]
    for each, coarse in enumerate(list(graph.levels()) or [()]):
        title = (
            tr("Don't predict above level {1}", number(each + 1))
            if each
            else tr("Predict classes of any level")
        )
        names = enumeration(
            shortened(graph.shown_name(class_id)) for class_id in coarse[:NAMED_OF_LEVEL]
        )
        now, change = _now_text(is_it=each == level), partial(_set_level, each)
        rules.append(PaletteRow(title, names if each else "", now, "stop", change))
    return rules


def _set_level(level: int, project: Project) -> Change:
    return project.policies.set_broadest_level(level)


def _now_text(*, is_it: bool) -> str:
    return tr("current") if is_it else ""


def labels_text(count: int) -> str:
    return plural(count, "1 label", "{n} labels")

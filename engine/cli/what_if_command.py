"""The command that says what edits of the graph would change, without making them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from engine.cli.options import ProjectPath
from engine.cli.output import AsJson, counted, say
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.graph.codes import NO_CLASS, UNKNOWN

if TYPE_CHECKING:
    from engine.collection.what_if.outcome import WhatIfOutcome
    from engine.graph.category_graph import CategoryGraph
    from engine.project import Change, Project

Pairs = list[str]
"""Of classes, each as "Apple=Fruit"."""
MOVES_SHOWN: Final = 12
"""Ways that images go, of which the text tells; the JSON has all."""


def what_if(
    project: ProjectPath,
    unlink: Annotated[Pairs | None, typer.Option(metavar="CLASS=PARENT", help="Take a class from a parent.")] = None,
    link: Annotated[Pairs | None, typer.Option(metavar="CLASS=PARENT", help="Put a class under one more.")] = None,
    merge: Annotated[Pairs | None, typer.Option(metavar="CLASS=INTO", help="Merge a class into another.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say which images edits of the graph would change, and how accuracy would move. Changes nothing."""
    from engine.collection.live import LiveCollection
    from engine.collection.what_if.outcome import begin_what_if, outcome_of

    if not (unlink or link or merge):
        raise UsageError("there is nothing to try out", expected="--unlink, --link or --merge", remedy="name an edit")
    live = LiveCollection.open(project, CacheFolders.default(), for_writing=False)
    try:
        live.load()
        before = begin_what_if(live)
        names = {
            class_id: live.project.classes.graph.name(class_id) for class_id in live.project.classes.graph.classes()
        }
        for edit in _edits(live.project.classes.graph, unlink or (), link or (), merge or ()):
            live.apply(edit(live.project))
        outcome = outcome_of(live, before)
        live.project.what_if.discard()
    finally:
        live.close()
    say(_text(outcome, names), _fields(outcome, names), as_json=as_json)


def _edits(
    graph: "CategoryGraph",
    unlink: Sequence[str],
    link: Sequence[str],
    merge: Sequence[str],
) -> "Iterator[Callable[[Project], Change]]":
    """In this order; each class is looked up when its turn comes."""

    def edits_of(
        pairs: Sequence[str], edit: "Callable[[Project, int, int], Change]"
    ) -> "Iterator[Callable[[Project], Change]]":
        for pair in pairs:
            name, sign, other = pair.partition("=")
            if not sign:
                raise UsageError("an edit takes two classes", expected="such as Apple=Fruit", found=pair)
            yield partial(_made, edit, graph.find(name), graph.find(other))

    yield from edits_of(unlink, lambda project, class_id, parent_id: project.classes.unlink([(parent_id, class_id)]))
    yield from edits_of(link, lambda project, class_id, parent_id: project.classes.link(parent_id, [class_id]))
    yield from edits_of(merge, lambda project, class_id, heir_id: project.classes.merge([class_id], heir_id))


def _made(edit: "Callable[[Project, int, int], Change]", class_id: int, other_id: int, project: "Project") -> "Change":
    return edit(project, class_id, other_id)


def _text(outcome: "WhatIfOutcome", names: dict[int, str]) -> str:
    changes, called = outcome.changes, partial(_called, names)
    images, more = counted(changes.other_class, "image"), counted(changes.other_safe_class, "more image")
    lines = [f"{images} would change class, {more} would change safe class alone."]
    lines += [
        f"{len(move.image_ids):6,}  {called(move.before)} -> {called(move.after)}"
        f"{' (safe class)' if move.is_safe_class else ''}"
        for move in changes.moves[:MOVES_SHOWN]
    ]
    held_out = outcome.held_out
    if held_out is not None and held_out.images:
        low, high = held_out.interval
        before, after = (100 * right / held_out.images for right in (held_out.before, held_out.after))
        lines.append(
            f"Of {counted(held_out.images, 'held-out label')}, {before:.1f}% were right and "
            f"{after:.1f}% would be ({100 * held_out.gain:+.1f} points, in 19 of 20 cases "
            f"{100 * low:+.1f} to {100 * high:+.1f})."
        )
    return "\n".join([*lines, "Nothing was changed."])


def _fields(outcome: "WhatIfOutcome", names: dict[int, str]) -> dict[str, Any]:
    changes, held_out = outcome.changes, outcome.held_out
    return {
        "edits": outcome.edits,
        "change_class": changes.other_class,
        "change_safe_class": changes.other_safe_class,
        "moves": [
            {
                "before": _called(names, move.before),
                "after": _called(names, move.after),
                "images": len(move.image_ids),
                "safe_class": move.is_safe_class,
            }
            for move in changes.moves
        ],
        "held_out": None
        if held_out is None or not held_out.images
        else {
            "images": held_out.images,
            "right_before": held_out.before,
            "right_after": held_out.after,
            "gain": held_out.gain,
            "interval": held_out.interval,
            "named_before": held_out.named_before,
            "named_after": held_out.named_after,
        },
    }


def _called(names: dict[int, str], class_id: int) -> str:
    return {NO_CLASS: "no class", UNKNOWN: "unknown"}.get(class_id) or names[class_id]

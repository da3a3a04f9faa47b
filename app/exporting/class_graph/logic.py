"""The class graph as a file: which formats are offered, and what is written. No widgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # the window shows first
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken
    from engine.exporting.export_graph import GraphToWrite

FIRST: Final = "json"
"""Offered before anything was exported: it holds all there is."""
SVG: Final = "svg"
PNG: Final = "png"
DARK: Final = "-dark"
"""At the end of the name of a drawing's other format."""


@dataclass(frozen=True)
class OfferedFormat:
    """A format as the dialog offers it."""

    name: str  # a key of `GRAPH_FORMATS`, or "png"; for a drawing perhaps with `DARK` behind it
    suffix: str  # of its files

    @property
    def kind(self) -> str:
        """The format without its colours."""
        return self.name.removesuffix(DARK)

    @property
    def is_dark(self) -> bool:
        """Whether it is a drawing on a dark ground."""
        return self.name.endswith(DARK)


@dataclass(frozen=True)
class WrittenClasses:
    """What came of an export.

    Attributes:
        classes: how many.
        target: the file.
        share: by which a picture is smaller than it should be, because pictures cannot be larger; 1 for all others.
    """

    classes: int
    target: Path
    share: float = 1.0


def offered_formats() -> list[OfferedFormat]:
    """All of them, drawings last and each in light and dark."""
    from engine.exporting.export_graph import GRAPH_FORMATS

    plain = [
        OfferedFormat(name, each.suffix) for name, each in GRAPH_FORMATS.items() if name != SVG
    ]
    drawn = [(SVG, GRAPH_FORMATS[SVG].suffix), (PNG, ".png")]
    return [
        *plain,
        *(OfferedFormat(name + look, suffix) for name, suffix in drawn for look in ("", DARK)),
    ]


def chosen_format(target: Path, offered: OfferedFormat) -> tuple[Path, OfferedFormat]:
    """The file and its format: a suffix that a person wrote says more than the row of the dialog's list.

    Args:
        target: as the dialog gave it, perhaps without a suffix.
        offered: the chosen row.
    """
    suffix = target.suffix.casefold()
    if suffix == offered.suffix:
        return target, offered
    for each in offered_formats():
        if suffix == each.suffix and each.is_dark == (offered.is_dark and each.kind in {SVG, PNG}):
            return target, each
    return target.with_name(target.name + offered.suffix), offered


def taken_out(
    target: Path, form: OfferedFormat, *, is_overwriting: bool
) -> Callable[[LiveCollection], GraphToWrite | str]:
    """What is asked of the project: the graph as it is now, and what its edges weigh.

    The answer is text where another file is there that nobody asked to replace: what that file is.
    """

    def question(live: LiveCollection) -> GraphToWrite | str:
        from engine.collection.outputs import kind_of_file
        from engine.errors import TakenError
        from engine.exporting.export_graph import graph_to_write

        try:
            return graph_to_write(
                live.project, target, form.kind, live.fitted.inheritance.edge_weights if live.fitted else None,
                is_overwriting=is_overwriting,
            )  # fmt: skip
        except TakenError:
            return kind_of_file(target)

    return question


def write(
    content: GraphToWrite, target: Path, form: OfferedFormat, cancel: CancelToken
) -> WrittenClasses:
    """Make the file; cancelled or failed, there is none.

    Raises:
        StorageError: it cannot be written.
        Cancelled: it was stopped.
    """
    from app.exporting.class_graph.picture import png_of
    from engine.exporting.export_graph import GRAPH_FORMATS, drawing, write_graph

    share = 1.0
    if form.kind in {SVG, PNG}:
        data = drawing(content, is_dark=form.is_dark)
        cancel.raise_if_cancelled()
        if form.kind == PNG:
            data, share = png_of(data)
    else:
        data = GRAPH_FORMATS[form.name].content(content)
    cancel.raise_if_cancelled()
    write_graph(target, data)
    return WrittenClasses(len(content.graph), target, share)

"""Formats and content of exported class graphs. No widgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # lazy imports for a fast start
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken
    from engine.exporting.export_graph import GraphToWrite

FIRST = "json"
"""Default format: it is complete."""
SVG = "svg"
PNG = "png"
DARK = "-dark"
"""Suffix of the names of dark drawing formats."""


@dataclass(frozen=True)
class OfferedFormat:
    """A format of the file dialog."""

    name: str  # key of `GRAPH_FORMATS`, or "png"; with the suffix `DARK` for dark drawings
    suffix: str  # of its files

    @property
    def kind(self) -> str:
        """Format without the colour scheme."""
        return self.name.removesuffix(DARK)

    @property
    def is_dark(self) -> bool:
        """Whether it is a dark drawing."""
        return self.name.endswith(DARK)


@dataclass(frozen=True)
class WrittenClasses:
    """Result of an export.

    Attributes:
        classes: number of classes.
        target: the file.
        share: scale of a picture that was reduced to the maximum size; 1 otherwise.
    """

    classes: int
    target: Path
    share: float = 1.0


def offered_formats() -> list[OfferedFormat]:
    """All formats; drawings last, in light and dark."""
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
    """File and format; a suffix in the file name takes precedence over the dialog's filter.

    Args:
        target: file of the dialog, possibly without a suffix.
        offered: format of the chosen filter.
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
    """Query for the graph and its edge weights, to run on the project thread.

    It returns a description of the existing file if that is unrelated and was not confirmed.
    """

    def question(live: LiveCollection) -> GraphToWrite | str:
        from engine.collection.outputs import kind_of_file
        from engine.errors import TakenError
        from engine.exporting.export_graph import graph_to_write

        try:
            return graph_to_write(
                live.project,
                target,
                form.kind,
                live.fitted.inheritance.edge_weights if live.fitted else None,
                is_overwriting=is_overwriting,
            )
        except TakenError:
            return kind_of_file(target)

    return question


def write(
    content: GraphToWrite, target: Path, form: OfferedFormat, cancel: CancelToken
) -> WrittenClasses:
    """Write the file; no file is left after a failure or cancellation.

    Raises:
        StorageError: it cannot be written.
        Cancelled: `cancel` was set.
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

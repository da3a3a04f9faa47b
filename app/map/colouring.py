"""Colours of the points of a map by class, label, score or date, with a legend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from app.theme.tokens import Scheme
from engine.arrays import Doubles, Flags
from engine.collection.state import NO_CLASS, UNKNOWN, Codes, CollectionState, shown_classes
from engine.graph.class_colours import class_colour
from engine.map import palette
from engine.map.palette import argb

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph

Ids = NDArray[np.int64]

PALETTE: Final[Mapping[Scheme, tuple[str, ...]]] = {
    Scheme.LIGHT: palette.LIGHT,
    Scheme.DARK: palette.DARK,
}
OTHER: Final[Mapping[Scheme, str]] = {
    Scheme.LIGHT: palette.OTHER_LIGHT,
    Scheme.DARK: palette.OTHER_DARK,
}
RAMP: Final[Mapping[Scheme, tuple[str, ...]]] = {
    Scheme.LIGHT: ("#b8627d", "#d99a4e", "#8fa63f", "#3f8f8a", "#3b4f9b"),
    Scheme.DARK: ("#f08aa6", "#f5bd72", "#c6d96b", "#6fd3c8", "#a3b4ff"),
}
"""From low to high, or from early to late."""
SCORE_STEPS: Final = (0.5, 0.7, 0.9, 0.97)  # thresholds between the colours of the ramp
MOST_LISTED: Final = 10  # largest classes listed in the legend; all classes have a colour


class ColourBy(StrEnum):
    """What the colour of a point encodes."""

    CLASS = "class"
    LABEL = "label"
    STATUS = "status"
    SCORE = "score"
    DATE = "date"


@dataclass(frozen=True)
class ColouringOptions:
    """Options of a colouring."""

    by: ColourBy = ColourBy.CLASS
    level: int | None = None  # level of the classes, 0 for the top; None for the deepest
    scheme: Scheme = Scheme.LIGHT
    # Colours that users gave classes, by id.
    stored_colours: Mapping[int, str] = field(default_factory=dict)
    dates: Mapping[int, int] = field(default_factory=dict)  # days since 1970 by image id


@dataclass(frozen=True)
class LegendEntry:
    """A row of the legend."""

    colour: str  # "" for several
    count: int
    class_id: int | None = None  # None for entries that are not a class
    # Of entries without a class: "other", "none", "labelled", "predicted", "unknown", or a range.
    kind: str = ""
    range: tuple[float, float] | None = None  # of a score, or of days


@dataclass(frozen=True, eq=False)
class Colouring:
    """Colours (n,) 0xAARRGGBB and ranks (n,) of points, with a legend."""

    colours: NDArray[np.uint32]
    ranks: NDArray[np.uint8]  # higher ones are painted on top
    legend: tuple[LegendEntry, ...]
    classes: Codes  # (n,) class at the chosen level, or `NO_CLASS`


def coloured(
    image_ids: Ids, state: CollectionState, graph: CategoryGraph, options: ColouringOptions
) -> Colouring:
    """Colours of images (n,) in ascending id; removed images count as without a class."""
    places, is_there = _places_in(state, image_ids)
    shown = shown_classes(
        state.label_class[places], state.best_class[places], state.is_unknown[places]
    )
    shown = np.where(is_there & (shown >= 0), shown, NO_CLASS)
    labels = np.where(is_there, state.label_class[places], NO_CLASS)
    at_level = _at_level(shown, graph, options.level)
    match options.by:
        case ColourBy.LABEL:
            return _by_class(
                _at_level(np.where(labels >= 0, labels, NO_CLASS), graph, options.level),
                options,
                at_level,
            )
        case ColourBy.STATUS:
            is_unknown = (labels == UNKNOWN) | ((labels == NO_CLASS) & state.is_unknown[places])
            return _by_status(labels, shown, is_unknown, options, at_level)
        case ColourBy.SCORE:
            has_score = (labels == NO_CLASS) & (shown != NO_CLASS)
            scores = np.where(has_score, state.best_score[places], np.float32(np.nan))
            return _by_value(
                scores.astype(np.float64), (0.0, *SCORE_STEPS, 1.0), options, at_level, "score"
            )
        case ColourBy.DATE:
            days = np.array(
                [options.dates.get(each, np.nan) for each in image_ids.tolist()], dtype=np.float64
            )
            return _by_value(days, _date_edges(days), options, at_level, "date")
        case _:
            return _by_class(at_level, options, at_level)


def _places_in(state: CollectionState, image_ids: Ids) -> tuple[Ids, Flags]:
    if not len(state.image_ids):
        return np.zeros(len(image_ids), dtype=np.int64), np.zeros(len(image_ids), dtype=bool)
    at = np.minimum(np.searchsorted(state.image_ids, image_ids), len(state.image_ids) - 1)
    return at, state.image_ids[at] == image_ids


def _at_level(shown: Codes, graph: CategoryGraph, level: int | None) -> Codes:
    """The class (n,) at or above a level for each class; with several parents, by the first."""
    if level is None:
        return shown
    found, back = np.unique(shown, return_inverse=True)
    return np.array([class_at(graph, each, level) for each in found.tolist()], dtype=np.int32)[back]


def class_at(graph: CategoryGraph, class_id: int, level: int) -> int:
    """A class or its ancestor at a level; with several parents, by the first."""
    if class_id == NO_CLASS or class_id not in graph:
        return NO_CLASS
    while graph.level(class_id) > level:
        class_id = graph.parents(class_id)[0]
    return class_id


def _by_class(classes: Codes, options: ColouringOptions, at_level: Codes) -> Colouring:
    """Colour each class independently of the others; the legend lists the largest."""
    found, back, counts = np.unique(classes, return_inverse=True, return_counts=True)
    grey, is_class = OTHER[options.scheme], found != NO_CLASS
    colours = [
        _shown_colour(each, options) if each != NO_CLASS else grey for each in found.tolist()
    ]
    numbers = np.array([argb(colour) for colour in colours], dtype=np.uint32)
    ranked = sorted(
        np.flatnonzero(is_class).tolist(), key=lambda at: (-int(counts[at]), int(found[at]))
    )
    legend = [
        LegendEntry(colours[at], int(counts[at]), int(found[at])) for at in ranked[:MOST_LISTED]
    ]
    if rest := ranked[MOST_LISTED:]:
        legend.append(
            LegendEntry("", int(counts[rest].sum()), kind="other", range=(float(len(rest)), 0.0))
        )
    if not is_class.all():
        legend.append(LegendEntry(grey, int(counts[~is_class].sum()), kind="none"))
    return Colouring(numbers[back], is_class.astype(np.uint8)[back], tuple(legend), at_level)


def _shown_colour(class_id: int, options: ColouringOptions) -> str:
    return class_colour(
        class_id, options.stored_colours.get(class_id, ""), is_dark=options.scheme is Scheme.DARK
    )


def _by_status(
    labels: Codes,
    shown: Codes,
    is_unknown: Flags,
    options: ColouringOptions,
    at_level: Codes,
) -> Colouring:
    bright = PALETTE[options.scheme]
    kinds = np.select([is_unknown, labels >= 0, shown != NO_CLASS], [2, 0, 1], default=3)
    colours = [bright[0], bright[7], bright[3], OTHER[options.scheme]]
    names = ("labelled", "predicted", "unknown", "none")
    counts = np.bincount(kinds, minlength=4).tolist()
    legend = tuple(
        LegendEntry(colours[each], counts[each], kind=names[each])
        for each in range(4)
        if counts[each]
    )
    ranks = np.array((3, 1, 2, 0), dtype=np.uint8)[kinds]
    return Colouring(
        np.array([argb(each) for each in colours], dtype=np.uint32)[kinds], ranks, legend, at_level
    )


def _by_value(
    values: Doubles,
    edges: tuple[float, ...],
    options: ColouringOptions,
    at_level: Codes,
    kind: str,
) -> Colouring:
    """Colours of values (n,) in steps; NaN is grey."""
    has_value = ~np.isnan(values)
    steps = max(len(edges) - 1, 1)
    step = np.clip(
        np.searchsorted(np.array(edges[1:-1]), np.where(has_value, values, 0.0), side="right"),
        0,
        steps - 1,
    )
    colours = [*RAMP[options.scheme][:steps], OTHER[options.scheme]]
    at = np.where(has_value, step, len(colours) - 1)
    counts = np.bincount(at, minlength=len(colours)).tolist()
    legend = [
        LegendEntry(colours[each], counts[each], kind=kind, range=(edges[each], edges[each + 1]))
        for each in range(len(edges) - 1)
        if counts[each]
    ]
    if counts[-1]:
        legend.append(
            LegendEntry(
                colours[-1], counts[-1], kind="labelled_or_none" if kind == "score" else "undated"
            )
        )
    ranks = np.where(has_value, 1, 0).astype(np.uint8)
    return Colouring(
        np.array([argb(each) for each in colours], dtype=np.uint32)[at],
        ranks,
        tuple(legend),
        at_level,
    )


def _date_edges(days: Doubles) -> tuple[float, ...]:
    """Edges of at most five steps with about equal numbers of images."""
    known = days[~np.isnan(days)]
    if not len(known):
        return 0.0, 1.0
    edges = np.unique(np.floor(np.quantile(known, np.linspace(0, 1, len(RAMP[Scheme.LIGHT]) + 1))))
    return tuple(edges.tolist()) if len(edges) > 1 else (float(edges[0]), float(edges[0]) + 1)

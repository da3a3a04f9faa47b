"""Colours of the points of a map by class, label, score or date, with a legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.theme.tokens import Scheme
from engine.arrays import Doubles, Flags, Integers, rows_of
from engine.collection.state import NO_CLASS, UNKNOWN, Codes, CollectionState, shown_classes
from engine.graph.class_colours import class_colour
from engine.graph.traversal import ancestor_at_level
from engine.map import palette
from engine.map.palette import argb

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph

PALETTE: Mapping[Scheme, tuple[str, ...]] = {
    Scheme.LIGHT: palette.LIGHT,
    Scheme.DARK: palette.DARK,
}
OTHER: Mapping[Scheme, str] = {
    Scheme.LIGHT: palette.OTHER_LIGHT,
    Scheme.DARK: palette.OTHER_DARK,
}
RAMP: Mapping[Scheme, tuple[str, ...]] = {
    Scheme.LIGHT: ("#b8627d", "#d99a4e", "#8fa63f", "#3f8f8a", "#3b4f9b"),
    Scheme.DARK: ("#f08aa6", "#f5bd72", "#c6d96b", "#6fd3c8", "#a3b4ff"),
}
"""From low to high, or from early to late."""
SCORE_STEPS = (0.5, 0.7, 0.9, 0.97)  # thresholds between the colours of the ramp
MOST_LISTED = 10  # largest classes listed in the legend; all classes have a colour


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
    image_ids: Integers, state: CollectionState, graph: CategoryGraph, options: ColouringOptions
) -> Colouring:
    """Colours of images (n,) in ascending id; removed images count as without a class."""
    places, is_there = rows_of(image_ids, state.image_ids)
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


def _at_level(shown: Codes, graph: CategoryGraph, level: int | None) -> Codes:
    """The class (n,) at or above a level for each class; with several parents, by the first."""
    if level is None:
        return shown
    found, back = np.unique(shown, return_inverse=True)
    above = [
        ancestor_at_level(graph.parents, graph.level, class_id, level)
        if class_id in graph
        else NO_CLASS
        for class_id in found.tolist()
    ]
    return np.array(above, dtype=np.int32)[back]


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
    bright, other = PALETTE[options.scheme], OTHER[options.scheme]
    kinds = np.select([is_unknown, labels >= 0, shown != NO_CLASS], [2, 0, 1], default=3)
    entries = [
        LegendEntry(bright[0], 0, kind="labelled"),
        LegendEntry(bright[7], 0, kind="predicted"),
        LegendEntry(bright[3], 0, kind="unknown"),
        LegendEntry(other, 0, kind="none"),
    ]
    return _by_entry(kinds, entries, (3, 1, 2, 0), at_level)


def _by_entry(
    numbers: Integers, entries: Sequence[LegendEntry], ranks: Sequence[int], at_level: Codes
) -> Colouring:
    """Colour images by the numbers (n,) of their legend entries, which are counted here."""
    counts = np.bincount(numbers, minlength=len(entries)).tolist()
    counted = [replace(entry, count=count) for entry, count in zip(entries, counts, strict=True)]
    colours = np.array([argb(entry.colour) for entry in entries], dtype=np.uint32)
    legend = tuple(entry for entry in counted if entry.count)
    return Colouring(colours[numbers], np.array(ranks, dtype=np.uint8)[numbers], legend, at_level)


def _by_value(
    values: Doubles,
    edges: tuple[float, ...],
    options: ColouringOptions,
    at_level: Codes,
    kind: str,
) -> Colouring:
    """Colours of values (n,) in steps; NaN is grey."""
    has_value, steps = ~np.isnan(values), len(edges) - 1
    step = np.searchsorted(edges[1:-1], np.where(has_value, values, 0.0), side="right")
    entries = [
        LegendEntry(colour, 0, kind=kind, range=bounds)
        for colour, bounds in zip(RAMP[options.scheme], pairwise(edges), strict=False)
    ]
    rest = "labelled_or_none" if kind == "score" else "undated"
    entries.append(LegendEntry(OTHER[options.scheme], 0, kind=rest))
    numbers = np.where(has_value, step, steps)
    return _by_entry(numbers, entries, [*[1] * steps, 0], at_level)


def _date_edges(days: Doubles) -> tuple[float, ...]:
    """Edges of at most five steps with about equal numbers of images."""
    known = days[~np.isnan(days)]
    if not len(known):
        return 0.0, 1.0
    edges = np.unique(np.floor(np.quantile(known, np.linspace(0, 1, len(RAMP[Scheme.LIGHT]) + 1))))
    return tuple(edges.tolist()) if len(edges) > 1 else (float(edges[0]), float(edges[0]) + 1)

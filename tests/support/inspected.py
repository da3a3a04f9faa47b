"""Facts for the pages of the inspector."""

from datetime import UTC, datetime
from pathlib import Path

from app.inspector.logic import Certainty, ClassPageFacts, ImageFacts, ScoreRow, ShareRow
from engine.evaluation.policy_curve import BARS, PolicyCurve, PolicyPoint
from engine.file_parts import ImageSource
from engine.graph.class_attributes import ClassAttributes
from engine.project.records import Label

IMAGE = 11
CLASS = 1
_NOON = datetime(2026, 5, 3, 12, 2, tzinfo=UTC)


def facts_of_image(
    certainty: Certainty = Certainty.LEAF,
    *,
    name: str = "Gull",
    is_labelled: bool = True,
    is_explained: bool = True,
) -> ImageFacts:
    """Facts of an image with nine likely classes of equal names; 11 to 15 are its reasons."""
    tops = tuple(ScoreRow(place, name, name, 0.9 / place, place) for place in range(1, 10))
    shares = (
        (ShareRow(None, name, 0.6, (11, 12, 13)), ShareRow(2, name, 0.4, (14, 15)))
        if is_explained
        else ()
    )
    return ImageFacts(
        IMAGE,
        ImageSource(Path(f"{name}.png")),
        certainty,
        Label(IMAGE, CLASS, "ada", _NOON, "review") if is_labelled else None,
        tops,
        tops[1],
        name if is_explained else "",
        shares,
        (11, 12) if is_explained else (),
        0.9 if is_explained else 0.0,
    )


def curve_of_class(images: int = 20) -> PolicyCurve:
    """Coverage falls by one image each 2 %; from 80 % on all predictions are right."""
    points = []
    for bar in BARS:
        named = max(0, images - round(50 * (bar - BARS[0])))
        points.append(PolicyPoint(bar, named, named, named if bar >= 0.795 else max(0, named - 2)))
    return PolicyCurve(CLASS, images, tuple(points))


def facts_of_class(
    *, name: str = "Gull", parents: int = 2, suggested: int = 0, curve: PolicyCurve | None = None
) -> ClassPageFacts:
    """Facts of a class with parents, synonyms and suggested parents of equal names."""
    rows = tuple(
        ScoreRow(place, name, name, 0.5) for place in range(2, 2 + max(parents, suggested))
    )
    return ClassPageFacts(
        CLASS,
        name,
        (f"{name} / {name}",) * max(1, parents),
        41,
        (11, 12, 13),
        0.6,
        False,
        rows[:parents],
        0.8,
        0.8,
        rows[:suggested],
        (14, 15),
        attributes=ClassAttributes(name, (name,)),
        curve=curve,
    )

"""Contents of the inspector for an image or a class, as plain values. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING

from app.texts import short_path
from engine.collection.state import BOXED, EMPTY, NO_CLASS, CollectionState, ImageStatus
from engine.file_parts import ImageSource
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.graph.shown_language import shown_language

if TYPE_CHECKING:  # deferred so that the window opens sooner
    from collections.abc import Mapping

    from app.session.current_card import Ranking
    from engine.collection.answers import ClassFacts
    from engine.evaluation.policy_curve import PolicyCurve
    from engine.everyday.classifier import Explanation, ScoredClass
    from engine.graph.category_graph import CategoryGraph
    from engine.project.records import Label

DIGITS = 9  # number of classes with a digit key
ALWAYS_SHOWN = 5
RARELY = 0.01  # minimum probability of classes shown after the fifth
SHOWN_PLACES = 8  # paths of a class; further ones are counted


class Certainty(Enum):
    """How reliable a prediction is."""

    WAITING = auto()
    FAILED = auto()
    NOTHING_LEARNED = auto()
    NOT_CLASSIFIED = auto()
    UNKNOWN = auto()
    BOXED = auto()
    LEAF = auto()
    COARSE = auto()
    NOTHING_SAFE = auto()


@dataclass(frozen=True)
class ScoreRow:
    """One class with its score; `digit` is its labelling key, 0 for none."""

    class_id: int
    name: str
    place: str
    score: float
    digit: int = 0


class ShareSource(Enum):
    """Kind of images that a share of a prototype is computed from."""

    LABELLED = auto()
    COARSE = auto()
    UNLABELLED = auto()


@dataclass(frozen=True)
class ShareRow:
    """One source of a prototype: images of the class itself (`class_id` None) or another one."""

    class_id: int | None
    name: str
    share: float
    image_ids: tuple[int, ...]
    source: ShareSource = ShareSource.LABELLED


@dataclass(frozen=True)
class ImageFacts:
    """The facts of an image page; `failure` is the reason why its file could not be read."""

    image_id: int
    source: ImageSource
    certainty: Certainty
    label: Label | None
    tops: tuple[ScoreRow, ...]
    safe: ScoreRow | None
    why_name: str
    shares: tuple[ShareRow, ...]
    look_alikes: tuple[int, ...] = ()
    look_alike_share: float = 0.0
    failure: str = ""

    @property
    def path(self) -> Path:
        return self.source.path

    @property
    def is_coarse(self) -> bool:
        """Whether a broader class is shown above the most likely ones."""
        return self.certainty is Certainty.COARSE and self.safe is not None and bool(self.tops)

    @property
    def alike(self) -> tuple[int, ...]:
        """Images that explain the prediction: nearest neighbours, else examples of the class."""
        if self.look_alikes and self.certainty is not Certainty.UNKNOWN:
            return self.look_alikes
        return next((share.image_ids for share in self.shares if share.image_ids), ())

    @property
    def has_own_examples(self) -> bool:
        """Whether the explained class has images of its own."""
        return any(
            each.class_id is None and each.source is ShareSource.LABELLED for each in self.shares
        )

    @property
    def rows(self) -> tuple[ScoreRow, ...]:
        return (self.safe, *self.tops) if self.safe is not None and self.is_coarse else self.tops


@dataclass(frozen=True)
class ClassPageFacts:
    """The facts of a class page."""

    class_id: int
    name: str
    places: tuple[str, ...]
    image_count: int
    shots: tuple[int, ...]
    own_share: float
    is_zero_shot: bool
    parents: tuple[ScoreRow, ...]
    bar: float
    own_bar: float | None
    suggested: tuple[ScoreRow, ...]
    candidates: tuple[int, ...]
    attributes: ClassAttributes = NO_ATTRIBUTES
    bar_from: str = ""
    curve: PolicyCurve | None = None
    mistaken_for: str = ""  # the class that it is most often confused with
    more_places: int = 0
    second_name: str = ""  # project name, where `name` is in the interface language

    @property
    def other_names(self) -> tuple[str, ...]:
        """Other names in the user's language or Latin, the project's name first."""
        names = self.attributes.names_for(shown_language())
        others = dict.fromkeys(filter(None, (self.second_name, *names)))
        return tuple(each for each in others if each != self.name)


_BEFORE_PREDICTIONS = {
    ImageStatus.FAILED: Certainty.FAILED,
    ImageStatus.WAITING: Certainty.WAITING,
}


def certainty(state: CollectionState, image_id: int) -> Certainty:
    place = state.position(image_id)
    if state.label_class[place] == BOXED:
        return Certainty.BOXED
    if (status := ImageStatus(state.status[place])) in _BEFORE_PREDICTIONS:
        return _BEFORE_PREDICTIONS[status]
    if state.best_class[place] == NO_CLASS:
        return (
            Certainty.NOT_CLASSIFIED
            if any(state.shot_counts.values())
            else Certainty.NOTHING_LEARNED
        )
    if state.is_unknown[place]:
        return Certainty.UNKNOWN
    if state.safe_class[place] == NO_CLASS:
        return Certainty.NOTHING_SAFE
    return (
        Certainty.LEAF if state.safe_class[place] == state.best_class[place] else Certainty.COARSE
    )


def score_rows(
    graph: CategoryGraph, scores: Sequence[ScoredClass], *, with_digits: bool = False
) -> tuple[ScoreRow, ...]:
    """Scored classes as rows, without classes that were removed."""
    known = [scored for scored in scores if scored.class_id in graph]
    return tuple(
        ScoreRow(
            scored.class_id,
            graph.shown_name(scored.class_id),
            place_text(graph, scored.class_id),
            float(scored.score),
            number if with_digits and number <= DIGITS else 0,
        )
        for number, scored in enumerate(known, start=1)
    )


def worth_showing(tops: Sequence[ScoredClass], *, is_unknown: bool) -> tuple[ScoredClass, ...]:
    """The most likely classes without the improbable tail."""
    return tuple(
        scored
        for number, scored in enumerate(tops, start=1)
        if number <= ALWAYS_SHOWN or (scored.score >= RARELY and not is_unknown)
    )


def safe_row(graph: CategoryGraph, class_id: int, score: float) -> ScoreRow | None:
    if class_id == NO_CLASS or class_id not in graph:
        return None
    return ScoreRow(class_id, graph.shown_name(class_id), place_text(graph, class_id), score)


def place_text(graph: CategoryGraph, class_id: int) -> str:
    """The first path above a class, `Animal / Bird`; empty at the top level."""
    return short_path(map(graph.shown_name, graph.paths(class_id)[0][:-1]))


def share_rows(graph: CategoryGraph, explanation: Explanation | None) -> tuple[ShareRow, ...]:
    """The sources of the prototype behind a prediction, by descending share, without empty ones."""
    if explanation is None:
        return ()
    own = ShareRow(
        None,
        graph.shown_name(explanation.class_id),
        explanation.own.share,
        explanation.own.image_ids,
    )
    unlabelled = ShareRow(None, "", explanation.unlabelled, (), ShareSource.UNLABELLED)
    others = [
        ShareRow(one.class_id, graph.shown_name(one.class_id), one.share, one.image_ids, source)
        for source, shares in (
            (ShareSource.LABELLED, explanation.parents),
            (ShareSource.COARSE, explanation.coarse),
        )
        for one in shares
        if one.class_id in graph
    ]
    present = [row for row in (own, *others, unlabelled) if row.share > 0.005]  # noqa: PLR2004
    return tuple(sorted(present, key=lambda row: -row.share))


def digit_rows(
    graph: CategoryGraph, tops: Sequence[ScoredClass], *, is_unknown: bool
) -> tuple[ScoreRow, ...]:
    return score_rows(graph, worth_showing(tops, is_unknown=is_unknown), with_digits=True)


def digit_classes(graph: CategoryGraph, meant: Ranking) -> tuple[int, ...]:
    """The classes of the digit keys for a ranking."""
    rows = digit_rows(graph, meant.tops, is_unknown=meant.is_unknown)
    return tuple(row.class_id for row in rows)


def class_meant(graph: CategoryGraph, facts: ImageFacts, meant: Ranking, class_id: int) -> int:
    """The class that a choice of a displayed class refers to: the one meant in its row."""
    rows = [*digit_classes(graph, meant)]
    if meant.headline != meant.best_class:
        rows.insert(0, meant.headline)
    shown = [row.class_id for row in facts.rows]
    place = shown.index(class_id) if class_id in shown else len(rows)
    return rows[place] if place < len(rows) else class_id


def image_facts(
    graph: CategoryGraph,
    state: CollectionState,
    image_id: int,
    *,
    label: Label | None,
    tops: Sequence[ScoredClass],
    explanation: Explanation | None,
) -> ImageFacts:
    place, certain = state.position(image_id), certainty(state, image_id)
    if certain is Certainty.BOXED:
        tops, explanation = (), None
    explained = explanation if explanation is not None and explanation.class_id in graph else None
    safe_class = int(state.safe_class[place])
    return ImageFacts(
        image_id,
        state.source_of(image_id),
        certain,
        label,
        digit_rows(graph, tops, is_unknown=bool(state.is_unknown[place])),
        safe_row(graph, safe_class, float(state.safe_score[place])),
        graph.shown_name(explained.class_id) if explained else "",
        share_rows(graph, explained),
        tuple(one.image_id for one in explained.look_alikes) if explained else (),
        sum(one.weight for one in explained.look_alikes) if explained else 0.0,
        failure=state.failures.get(image_id, ""),
    )


def class_page_facts(
    graph: CategoryGraph,
    state: CollectionState,
    facts: ClassFacts,
    *,
    suggested: Sequence[ScoredClass],
    candidates: Sequence[int],
    curve: PolicyCurve | None = None,
) -> ClassPageFacts:
    class_id = facts.class_id
    parents = set(graph.parents(class_id))
    return ClassPageFacts(
        class_id,
        graph.shown_name(class_id),
        tuple(
            short_path(map(graph.shown_name, path[:-1]))
            for path in graph.paths(class_id)[:SHOWN_PLACES]
        ),
        int(state.image_counts.get(class_id, 0)),
        tuple(facts.shots),
        0.0 if facts.is_zero_shot else (float(facts.lambda_) if parents else 1.0),
        facts.is_zero_shot,
        score_rows(graph, facts.parents),
        float(facts.bar),
        facts.own_bar,
        score_rows(graph, [one for one in suggested if one.class_id not in parents]),
        tuple(candidates),
        graph.attributes(class_id),
        ""
        if facts.bar_from is None or facts.own_bar is not None
        else graph.shown_name(facts.bar_from),
        curve,
        mistaken_for=_name_in(graph, None if curve is None else curve.mistaken_for),
        more_places=max(0, graph.path_count(class_id) - SHOWN_PLACES),
        second_name=graph.second_name(class_id),
    )


def _name_in(graph: CategoryGraph, class_id: int | None) -> str:
    return graph.shown_name(class_id) if class_id is not None and class_id in graph else ""


class Teaching(Enum):
    """Sources of a class's prototype."""

    NOTHING = auto()
    PARENTS_ONLY = auto()
    FROM_BELOW = auto()
    OWN_ONLY = auto()
    BOTH = auto()


def teaching(facts: ClassPageFacts) -> Teaching:
    # Parents without images contribute nothing.
    is_taught_by_parents = any(row.score > 0 for row in facts.parents)
    if facts.is_zero_shot:
        return Teaching.PARENTS_ONLY if is_taught_by_parents else Teaching.NOTHING
    if not facts.shots:
        return Teaching.FROM_BELOW
    if not is_taught_by_parents or facts.own_share >= 1.0:
        return Teaching.OWN_ONLY
    return Teaching.BOTH


def label_shown(
    state: CollectionState, image_id: int, known: Label | None, *, is_unsaved: bool
) -> Label | None:
    """The label to show for an image.

    Args:
        known: its label when its details were last read, or None.
        is_unsaved: whether this window has set it and it is not on disk yet; only then is the
            current user its annotator. A label whose details are not read yet has none.
    """
    code = state.label_of(image_id)
    if code in {NO_CLASS, BOXED}:
        return None
    if known is not None and known.code == code:
        return known
    class_id = code if code >= 0 else None
    from engine.project.clock import person_name
    from engine.project.records import Label

    who = person_name() if is_unsaved else ""
    return Label(image_id, class_id, who, datetime.now(UTC), "", is_empty=code == EMPTY)


def unlabelled_of(state: CollectionState, image_ids: Sequence[int]) -> list[int]:
    """Those of the images that are still in the project, and without a label."""
    label_of = dict(zip(state.image_ids.tolist(), state.label_class.tolist(), strict=True))
    return [image_id for image_id in image_ids if label_of.get(image_id) == NO_CLASS]


def shared_values(
    values: Mapping[int, Mapping[str, str]], image_ids: Sequence[int]
) -> dict[str, str | None]:
    """The common field values of images, by name; None where they differ.

    Args:
        values: of fields, by image id.
    """
    nothing: Mapping[str, str] = {}
    own = [values.get(image_id, nothing) for image_id in image_ids]
    shared: dict[str, str | None] = {}
    for name in set[str]().union(*own):
        found = {each.get(name, "") for each in own}
        shared[name] = found.pop() if len(found) == 1 else None
    return shared

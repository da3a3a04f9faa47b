"""State of a group review: queue position, answers, and memory for later queues. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, final

from engine.graph.codes import EMPTY, NO_CLASS, UNKNOWN

if TYPE_CHECKING:
    from engine.collection.review_groups import ReviewGroup, ReviewMemory, ReviewQueue


class AnswerKind(Enum):
    """Kind of answer to a group."""

    LABELLED = auto()
    DISMISSED = auto()
    PASSED = auto()


@dataclass(frozen=True)
class Decision:
    """An answer, with the data needed to undo it."""

    kind: AnswerKind
    group: ReviewGroup
    left_out: frozenset[int]  # images of the group that were deselected
    image_ids: tuple[int, ...]  # images of the answer
    code: int  # new class, `UNKNOWN` or `EMPTY`; `NO_CLASS` if nothing was labelled
    before: ReviewMemory
    position: int  # in the queue

    @property
    def others(self) -> list[int]:
        """Images of the group that are not part of the answer."""
        decided = set(self.image_ids)
        return [image_id for image_id in self.group.image_ids if image_id not in decided]


def without(group: ReviewGroup, gone: Collection[int]) -> ReviewGroup | None:
    """Remove images from a group; None if none is left."""
    kept = [place for place, image_id in enumerate(group.image_ids) if image_id not in gone]
    if len(kept) == len(group.image_ids):
        return group
    if not kept:
        return None
    lost = len(group.image_ids) - len(kept)
    return replace(
        group,
        image_ids=tuple(group.image_ids[place] for place in kept),
        odd=sum(place < group.odd for place in kept),
        errors=tuple(group.errors[place] for place in kept) if group.errors else (),
        coarse_errors=tuple(group.coarse_errors[place] for place in kept)
        if group.coarse_errors
        else (),
        settles=max(len(kept), group.settles - lost),
    )


def majority_of(group: ReviewGroup) -> int:
    """Most likely class of the majority of a group; `NO_CLASS` if unknown."""
    if group.class_id != NO_CLASS:
        return group.class_id
    return group.tops[0].class_id if group.tops else NO_CLASS


@final
class Review:
    """Groups of the newest queue, the current one, and the answers so far.

    The current group does not change with newer queues, except that images labelled elsewhere are
    removed.
    """

    def __init__(self, memory: ReviewMemory) -> None:
        self.memory = memory
        self.current: ReviewGroup | None = None
        self.left_out: set[int] = set()
        self.decisions: list[Decision] = []
        self._waiting: list[ReviewGroup] = []
        self._position = 0
        self._later = 0

    # -- the queue

    @property
    def position(self) -> int:
        """Position of the current group, starting at 1."""
        return self._position + 1

    @property
    def count(self) -> int:
        """Number of groups in the newest queue, including answered ones."""
        return self._position + (self.current is not None) + len(self._waiting) + self._later

    @property
    def ahead(self) -> Sequence[ReviewGroup]:
        return self._waiting

    @property
    def ticked(self) -> tuple[int, ...]:
        """Images of the current group that are selected."""
        if self.current is None:
            return ()
        return tuple(
            image_id for image_id in self.current.image_ids if image_id not in self.left_out
        )

    def take(self, queue: ReviewQueue, decided: Collection[int]) -> None:
        """Use a newer queue from the next group on, without `decided` images."""
        held = set(decided) if self.current is None else set(decided).union(self.current.image_ids)
        self._waiting = [left for each in queue.groups if (left := without(each, held)) is not None]
        self._later = len(queue.later)
        if self.current is None:
            self._go_on()

    def drop(self, decided: Collection[int]) -> bool:
        """Remove images decided elsewhere; return whether the current group changed."""
        gone = set(decided)
        self._waiting = [
            left for each in self._waiting if (left := without(each, gone)) is not None
        ]
        if self.current is None or gone.isdisjoint(self.current.image_ids):
            return False
        self.current = without(self.current, gone)
        self.left_out -= gone
        if self.current is None:
            self._go_on()
        return True

    def leave(self) -> None:
        """Reset the position, as the page was left."""
        self.current, self._waiting, self._later, self._position = None, [], 0, 0
        self.left_out.clear()

    def _go_on(self) -> None:
        self.current = self._waiting.pop(0) if self._waiting else None
        self.left_out = set()

    # -- toggling

    def toggle(self, image_id: int) -> None:
        """Toggle whether an image is left out."""
        self.left_out ^= {image_id}

    def toggle_all(self) -> None:
        """Leave all images out, or none if some are out."""
        assert self.current is not None, "a group is shown"
        self.left_out = set() if self.left_out else set(self.current.image_ids)

    # -- answers

    def label(
        self, code: int, *, children: Collection[int], every: bool = False
    ) -> Decision | None:
        """Answer with a class, `UNKNOWN` or `EMPTY`; None if no image is selected.

        The class is not proposed again for images that are left out.

        Args:
            code: class id, `UNKNOWN` or `EMPTY`.
            children: of the class; if any, the images return with finer classes.
            every: whether to include images that are left out.
        """
        group = self.current
        ids = () if group is None else group.image_ids if every else self.ticked
        if group is None or not ids:
            return None
        decision = self._decision(AnswerKind.LABELLED, ids, code)
        dismissed = {i: classes for i, classes in self.memory.dismissed.items() if i not in ids}
        is_class = code not in {UNKNOWN, EMPTY}
        if is_class:
            dismissed |= {i: dismissed.get(i, frozenset()) | {code} for i in decision.others}
        branches = {i: each for i, each in self.memory.branches.items() if i not in ids}
        if children:
            branches |= dict.fromkeys(ids, code)
        is_broader = bool(children) and code != group.class_id  # consistent with the proposal
        learned = (
            _learned(self.memory, group, ids, code) if is_class and not is_broader else self.memory
        )
        self.memory = replace(learned, dismissed=dismissed, branches=branches)
        self._finish(decision)
        return decision

    def dismiss(self) -> Decision | None:
        """Reject the class for the selected images; None if none is proposed or selected."""
        group, ids = self.current, self.ticked
        if group is None or group.class_id == NO_CLASS or not ids:
            return None
        decision = self._decision(AnswerKind.DISMISSED, ids, NO_CLASS)
        known = self.memory.dismissed
        more = {i: known.get(i, frozenset()) | {group.class_id} for i in ids}
        learned = _learned(self.memory, group, ids, NO_CLASS)
        self.memory = replace(learned, dismissed={**known, **more})
        self._finish(decision)
        return decision

    def pass_over(self) -> Decision | None:
        """Defer the group."""
        group = self.current
        if group is None:
            return None
        decision = self._decision(AnswerKind.PASSED, group.image_ids, NO_CLASS)
        passed = Counter(self.memory.passed)
        passed.update(group.image_ids)
        self.memory = replace(self.memory, passed=dict(passed))
        self._finish(decision)
        return decision

    def _decision(self, kind: AnswerKind, ids: tuple[int, ...], code: int) -> Decision:
        assert self.current is not None, "a group is shown"
        return Decision(
            kind, self.current, frozenset(self.left_out), ids, code, self.memory, self._position
        )

    def _finish(self, decision: Decision) -> None:
        self.decisions.append(decision)
        self._position += 1
        self._go_on()

    def take_back(self) -> Decision:
        """Undo the last answer and show its group again; the current group comes after it."""
        decision = self.decisions.pop()
        again = set(decision.group.image_ids)
        if self.current is not None and (rest := without(self.current, again)) is not None:
            self._waiting.insert(0, rest)
        self.current, self.left_out = decision.group, set(decision.left_out)
        self.memory, self._position = decision.before, decision.position
        return decision

    def is_taken_back_by(self, labels: Mapping[int, int], excluded: Collection[int]) -> bool:
        """Whether a change undoes the last answer.

        Args:
            labels: new labels by image; `NO_CLASS` for none.
            excluded: images that are no longer excluded from a class.
        """
        last = self.decisions[-1] if self.decisions else None
        if last is not None and last.kind is AnswerKind.DISMISSED:
            return not labels and set(excluded) == set(last.image_ids)
        if (
            last is None
            or last.kind is not AnswerKind.LABELLED
            or set(labels) != set(last.image_ids)
        ):
            return False
        return set(labels.values()) == {
            last.group.branch if last.group.branch != NO_CLASS else NO_CLASS
        }

    @property
    def labelled(self) -> int:
        """Number of labelled images."""
        return sum(
            len(each.image_ids) for each in self.decisions if each.kind is AnswerKind.LABELLED
        )


def _learned(
    memory: ReviewMemory, group: ReviewGroup, ids: Sequence[int], code: int
) -> ReviewMemory:
    """Update the error odds by an answer."""
    from engine.everyday.scores import FADING_ODDS, corrected_odds, error_odds_of

    if group.class_id == NO_CLASS:
        return memory
    count, proposed = len(group.image_ids), group.class_id
    wrong = count - len(ids) if code == proposed else count
    odds = {class_id: each**FADING_ODDS for class_id, each in memory.error_odds.items()}
    for class_id in (proposed, NO_CLASS):
        odds[class_id] = corrected_odds(
            error_odds_of(memory.error_odds, class_id), group.expected_errors, wrong
        )
    return replace(memory, error_odds=odds)

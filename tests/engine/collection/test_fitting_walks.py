"""Random actions during background fits: consistent states, in the end equal to a fresh opening."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.collection.fitting import FitOutcome, run_fit
from engine.collection.state import NO_CLASS, ImageStatus
from engine.project import Change, ClassPolicy
from tests.support.drawn_embeddings import DrawnEmbeddings, drawn_kinds
from tests.support.live_states import assert_same, fresh_state, own_copy

KINDS = 4
IMAGES = 40
STEPS = 60


@pytest.fixture
def drawn(tmp_path: Path) -> Iterator[DrawnEmbeddings]:
    """Images around four centres, a quarter of them labelled, in four leaves."""
    made = drawn_kinds(tmp_path, [("A",), ("B",)] * (KINDS // 2), images=IMAGES)
    yield made
    made.live.close()


def _assert_sound(drawn: DrawnEmbeddings) -> None:
    """Check that classes exist, labels and counts are right, and answers are unique."""
    live, state, graph = drawn.live, drawn.live.state, drawn.project.classes.graph
    classes = set(graph.classes())
    assert {*state.best_class.tolist(), *state.safe_class.tolist()} - {NO_CLASS} <= classes
    labels = drawn.project.labels.table()
    labelled = dict(zip(labels.image_ids, labels.class_ids, strict=True))
    shown = np.where(state.is_unknown, NO_CLASS, state.best_class)
    for place, (image_id, label) in enumerate(
        zip(state.image_ids.tolist(), state.label_class.tolist(), strict=True)
    ):
        assert (image_id in labelled) == (label != NO_CLASS)
        if image_id in labelled:
            shown[place] = NO_CLASS if labelled[image_id] is None else labelled[image_id]
    for class_id in classes:
        below = [class_id, *graph.descendants(class_id)]
        assert state.image_counts.get(class_id, 0) == int(np.isin(shown, below).sum())
    for image_id, guess in live.guesses(state.image_ids.tolist()).items():
        assert {top.class_id for top in guess.tops} <= classes
        best = int(state.best_class[state.position(image_id)])
        if best != NO_CLASS:
            assert guess.tops[0].score >= state.best_score[state.position(image_id)] - 1e-3


class _Walk:
    """Random actions, embedding, and fits that start and are applied at different times."""

    def __init__(self, drawn: DrawnEmbeddings, seed: int) -> None:
        self._drawn, self._live, self._project = drawn, drawn.live, drawn.project
        self._choose = random.Random(seed)
        self._under_way: list[FitOutcome] = []

    def step(self) -> None:
        """Take a random step."""
        person: list[Callable[[], object]] = [
            self._label,
            self._label,
            self._unlabel,
            self._grow,
            self._remove_class,
            self._remove_images,
        ]
        person += [
            self._set_rules,
            lambda: self._act(self._project.history.undo()),
            lambda: self._act(self._project.history.redo()),
        ]
        embedding: list[Callable[[], object]] = [
            lambda: self._drawn.add_images(3),
            self.embed_waiting,
            self._edit,
        ]
        self._choose.choice([*person, *embedding, *3 * [self._begin], *3 * [self._adopt]])()

    def embed_waiting(self) -> None:
        """Embed some or all pending images."""
        self._drawn.embed_waiting(self._choose.choice([1, 99]), KINDS)

    def _edit(self) -> None:
        embeddings = {
            i: self._choose.choice([None, self._drawn.near(i % KINDS, seed=i + 500)])
            for i in self._some()[:2]
        }
        self._drawn.embed(embeddings)

    def _begin(self) -> None:
        self._under_way[:] = [run_fit(self._live.fit_input())]

    def _adopt(self) -> None:
        if self._under_way:
            self._live.adopt(self._under_way.pop())

    def _act(self, change: Change | None) -> None:
        if change is not None:
            self._live.take(change)

    def _label(self) -> None:
        self._act(
            self._project.labels.set(
                self._some(), self._choose.choice([None, self._class(), self._class()])
            )
        )

    def _unlabel(self) -> None:
        self._act(self._project.labels.remove(self._some()))

    def _grow(self) -> None:
        self._act(
            self._project.classes.add(f"new {len(self._project.history.steps())}", [self._class()])[
                0
            ]
        )

    def _remove_class(self) -> None:
        if len(self._project.classes.graph) > KINDS:
            self._act(self._project.classes.remove([self._class()]))

    def _remove_images(self) -> None:
        self._act(self._project.images.remove(self._some()[:2]))

    def _set_rules(self) -> None:
        self._act(
            self._project.policies.set(
                self._class(), ClassPolicy(self._choose.choice([None, 0.3, 0.95]))
            )
        )
        self._act(
            self._project.policies.set_setting("collection", self._choose.choice([None, False]))
        )

    def _some(self) -> list[int]:
        ids = self._live.state.image_ids.tolist()
        return self._choose.sample(ids, min(4, len(ids)))

    def _class(self) -> int:
        return self._choose.choice(list(self._project.classes.graph.classes()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_walks(drawn: DrawnEmbeddings, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """After every step the state is consistent and the previous one unchanged."""
    live, walk = drawn.live, _Walk(drawn, seed)
    monkeypatch.setattr(live, "apply", live.take)
    monkeypatch.setattr(live, "take_embedded", partial(live.take_embedded, fits=False))
    for _ in range(STEPS):
        before = live.state
        kept = own_copy(before)
        walk.step()
        _assert_sound(drawn)
        assert_same(before, kept, tolerance=0)
    walk.embed_waiting()
    if live.is_behind:
        live.adopt(run_fit(live.fit_input()))
    assert not live.is_behind
    if not (live.state.status == ImageStatus.WAITING).any():
        assert_same(live.state, fresh_state(live, drawn.caches), tolerance=1e-3)

"""Random actions on images and labels: consistent and valid predictions."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.collection.state import NO_CLASS, ImageStatus
from engine.project import ClassPolicy
from tests.support.drawn_embeddings import DrawnEmbeddings, drawn_kinds
from tests.support.live_states import assert_same, fresh_state, own_copy

KINDS = 4
IMAGES = 40


@pytest.fixture
def drawn(tmp_path: Path) -> Iterator[DrawnEmbeddings]:
    """Images around four centres, a quarter labelled; the last of four classes has both parents."""
    made = drawn_kinds(tmp_path, [("A",)] * (KINDS - 1) + [("A", "B")], images=IMAGES)
    yield made
    made.live.close()


def _assert_sound(drawn: DrawnEmbeddings) -> None:
    """Check that predictions match answers, sums are 1, and safe classes pass thresholds."""
    live, state = drawn.live, drawn.live.state
    for scores in (state.best_score, state.safe_score):
        assert np.isfinite(scores).all()
        assert ((scores >= 0) & (scores <= 1 + 1e-5)).all()
    bars = {
        class_id: live.class_facts(class_id).bar
        for class_id in drawn.project.classes.graph.classes()
    }
    for place, image_id in enumerate(state.image_ids.tolist()):
        if state.safe_class[place] != NO_CLASS:
            assert state.safe_score[place] >= np.float32(bars[int(state.safe_class[place])])
        top = live.top_classes(image_id, 100)
        if not top:
            assert state.best_class[place] == NO_CLASS
            continue
        assert sum(one.score for one in top) == pytest.approx(1, abs=1e-4)
        assert top[0].score == pytest.approx(state.best_score[place], abs=2e-4)
        why = live.explain(image_id)
        assert why is not None
        shares = [share.share for share in (why.own, *why.parents, *why.coarse)]
        assert sum(shares) + why.unlabelled == pytest.approx(1, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_walks(drawn: DrawnEmbeddings, seed: int) -> None:
    """Labels, classes, thresholds, settings, images, undo and redo, in random order."""
    choose, project, live = random.Random(seed), drawn.project, drawn.live

    def some() -> list[int]:
        ids = live.state.image_ids.tolist()
        return choose.sample(ids, min(4, len(ids)))

    def a_class() -> int:
        return choose.choice(list(project.classes.graph.classes()))

    def embed_waiting() -> None:
        drawn.embed_waiting(choose.choice([1, 99]), KINDS)

    def edit_files() -> None:
        drawn.embed(
            {i: choose.choice([None, drawn.near(i % KINDS, seed=i + 500)]) for i in some()[:2]}
        )

    actions: list[Callable[[], object]] = [
        lambda: drawn.act(project.labels.set(some(), a_class())),
        lambda: drawn.act(project.labels.set(some(), choose.choice([None, a_class()]))),
        lambda: drawn.act(project.labels.remove(some())),
        lambda: drawn.add_images(3),
        embed_waiting,
        embed_waiting,
        edit_files,
        lambda: drawn.act(project.images.remove(some())),
        lambda: drawn.act(
            project.policies.set(a_class(), ClassPolicy(choose.choice([None, 0.3, 0.95])))
        ),
        lambda: drawn.act(project.policies.set_setting("collection", choose.choice([None, False]))),
        lambda: drawn.act(project.history.undo()),
        lambda: drawn.act(project.history.redo()),
    ]
    for _ in range(30):
        before = live.state
        kept = own_copy(before)
        choose.choice(actions)()
        _assert_sound(drawn)
        assert_same(before, kept, tolerance=0)
        if not (live.state.status == ImageStatus.WAITING).any():
            assert_same(live.state, fresh_state(live, drawn.caches), tolerance=1e-3)


@pytest.mark.slow
def test_an_image_that_comes_back_while_others_wait(drawn: DrawnEmbeddings) -> None:
    """Its prediction is its own, although the last collection stage ran without it."""
    drawn.add_images(2)
    away = drawn.live.state.image_ids[20:23].tolist()
    drawn.act(drawn.project.images.remove(away))
    assert drawn.live.fitted is not None
    assert drawn.live.fitted.figures.uses_collection
    drawn.act(drawn.project.history.undo())
    _assert_sound(drawn)


@pytest.mark.slow
def test_files_that_changed(drawn: DrawnEmbeddings) -> None:
    """Collection stage results of an edited file are dropped; an unreadable one has failed."""
    edited, broken = drawn.live.state.image_ids[[20, 21]].tolist()
    assert drawn.live.fitted is not None
    assert drawn.live.fitted.figures.uses_collection
    drawn.embed({edited: drawn.near((edited + 1) % KINDS, seed=9), broken: None})
    _assert_sound(drawn)
    assert_same(drawn.live.state, fresh_state(drawn.live, drawn.caches))
    assert drawn.live.state.status[21] == ImageStatus.FAILED


def test_removed_images_teach_no_more(
    drawn: DrawnEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without a new collection stage; none of many removed images remains in it."""
    for module in (
        "engine.everyday.collection_stage.basis",
        "engine.everyday.collection_stage.live_basis",
    ):
        monkeypatch.setattr(f"{module}.MOST_ANCHORS", 20)
    drawn.live.load()
    gone = drawn.live.state.image_ids[28:].tolist()
    drawn.act(drawn.project.images.remove(gone))
    named = {
        one.image_id
        for i in drawn.live.state.image_ids.tolist()
        for one in drawn.live.explain(i).look_alikes  # type: ignore[union-attr]
    }
    assert named
    assert named.isdisjoint(gone)

"""The collection stage on generated collections."""

from dataclasses import replace

import numpy as np
import pytest

from engine.everyday.back_off import DEFAULT_BAR
from engine.everyday.classifier import EMBEDDING, PROBABILITIES, CollectionFigures, Setting
from engine.everyday.collection_stage.anchor_labels import AnchorLabels
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import Shots
from engine.everyday.unseen import DOUBT
from engine.graph.codes import NO_CLASS
from engine.runtime.onnx_runtime import load_onnxruntime
from tests.support.collection_stage import FAMILIES, Crowd, crowd
from tests.support.everyday import PRIOR, WIDTH, Matrix, no_shots, some_shots, together, unit
from tests.support.graphs import graph_of


def _fit(
    session: PropagationSession, given: Crowd, shots: Shots, basis: CollectionBasis | None
) -> EverydayModel:
    return fit(given.graph, shots, session, PRIOR, basis=basis)


def _chances(model: EverydayModel, given: Crowd) -> Matrix:
    return model.probabilities(given.embeddings, np.arange(len(given.truth)))


def _accuracy(model: EverydayModel, given: Crowd, shots: Shots) -> float:
    scores = model.classify(given.embeddings)
    free = ~np.isin(given.image_ids, shots.image_ids)
    return float((model.candidate_ids[scores.best] == given.truth)[free].mean())


OPSET = 17

# -- what it is for --------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "gain"), [(1, 0.1), (3, 0.05)])
def test_the_collection_teaches(propagation: PropagationSession, count: int, gain: float) -> None:
    """Where strong directions are noise the stage wins clearly, more so with coarse labels."""
    given = crowd()
    shots = given.shots(count)
    basis = given.basis(shots)
    alone = _accuracy(_fit(propagation, given, shots, None), given, shots)
    taught = _accuracy(_fit(propagation, given, shots, basis), given, shots)
    assert taught > alone + gain


@pytest.mark.slow
def test_coarse_labels_help(propagation: PropagationSession) -> None:
    """Averaged over collections, images labelled with their family only help the leaves."""
    gains = []
    for seed in range(3):
        given = crowd(seed=seed)
        few, more = given.shots(1), given.shots(1, coarse=5)
        basis = given.basis(more)
        scored = more
        gains.append(
            _accuracy(_fit(propagation, given, more, basis), given, scored)
            - _accuracy(_fit(propagation, given, few, basis), given, scored)
        )
    assert np.mean(gains) > 0


def test_off_is_the_model_as_it_was(propagation: PropagationSession) -> None:
    """Without a basis nothing of the stage is there, and with prototypes alone it never is."""
    given = crowd(10)
    shots = given.shots(2)
    off = _fit(propagation, given, shots, None)
    assert (off.stage, off.stage_check) == (None, None)
    prototypes = fit(
        given.graph, shots, propagation, PRIOR, setting=Setting.PROTOTYPES, basis=given.basis(shots)
    )
    assert prototypes.stage is None
    on = _fit(propagation, given, shots, given.basis(shots))
    assert np.array_equal(on.table.final, off.table.final)
    assert on.tuning == off.tuning


def test_the_stage_drops_itself_where_it_does_not_pay(
    propagation: PropagationSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer held-out shots right than without it: it is off, and the check says why."""
    given = crowd(10)
    shots = given.shots(3)
    worse = CollectionFigures(is_used=False, shots=24, hits=10, hits_without=11)
    monkeypatch.setattr(
        "engine.everyday.collection_stage.fit_stage.CollectionFigures", lambda *_: worse
    )
    model = _fit(propagation, given, shots, given.basis(shots))
    assert model.stage is None
    assert model.stage_check == worse


def test_the_check_holds_shots_out(propagation: PropagationSession) -> None:
    """Each of three shots is held out in turn; none of an only shot."""
    given = crowd(10)
    three = _fit(propagation, given, given.shots(3), given.basis(given.shots(3))).stage_check
    assert three is not None
    assert three.shots == 3 * len(given.leaves)
    one = _fit(propagation, given, given.shots(1), given.basis(given.shots(1))).stage_check
    assert one == CollectionFigures(True, 0, 0, 0)


def test_shots_from_elsewhere_are_noticed(propagation: PropagationSession) -> None:
    """Shots that look like nothing in the collection.

    Less is claimed, and a few labels here are requested.
    """
    given = crowd(20)
    rows = np.searchsorted(given.image_ids, given.shots(1).image_ids)
    away = unit(np.random.default_rng(0).normal(size=given.embeddings[rows].shape))
    embeddings = given.embeddings.copy()
    embeddings[rows] = unit(embeddings[rows] + 2 * away)
    moved = replace(given, embeddings=embeddings)
    here, there = (
        _fit(propagation, one, one.shots(1), one.basis(one.shots(1))) for one in (given, moved)
    )
    assert here.stage is not None
    assert there.stage is not None
    assert (here.stage.has_shots_from_elsewhere, there.stage.has_shots_from_elsewhere) == (
        False,
        True,
    )
    others = np.setdiff1d(np.arange(len(given.truth)), rows)
    claimed = [
        _chances(model, one)[others].max(axis=1).mean()
        for model, one in ((here, given), (there, moved))
    ]
    assert claimed[1] < claimed[0] - 0.05


# -- properties ------------------------------------------------------------------------------------


def test_classes_may_be_numbered_otherwise(propagation: PropagationSession) -> None:
    """The same graph made in another order gives the same probabilities to the same classes."""
    given = crowd(12)
    shots = given.shots(2, coarse=1)
    names = {class_id: given.graph.name(class_id) for class_id in given.graph.classes()}
    parents = {
        names[class_id]: tuple(names[parent] for parent in given.graph.parents(class_id))
        for class_id in names
    }
    families = {name: above for name, above in parents.items() if not above}
    turned = graph_of(families | dict(reversed([item for item in parents.items() if item[1]])))
    new_id = {class_id: turned.find(name) for class_id, name in names.items()}
    moved = Shots(
        shots.image_ids,
        np.array([new_id[label] for label in shots.class_ids.tolist()]),
        shots.embeddings,
    )
    basis = given.basis(shots)
    first = _fit(propagation, given, shots, basis)
    second = fit(turned, moved, propagation, PRIOR, basis=basis)
    place = {class_id: place for place, class_id in enumerate(second.candidate_ids.tolist())}
    order = [place[new_id[class_id]] for class_id in first.candidate_ids.tolist()]
    assert _chances(second, given)[:, order] == pytest.approx(_chances(first, given), abs=1e-4)


def _allowed(labels: AnchorLabels) -> Matrix:
    """(l, c) float32, 1 for the candidates that a label allows."""
    allowed = np.zeros((len(labels.positions), labels.width), dtype=np.float32)
    for row, label in enumerate(labels.labels.tolist()):
        allowed[row, labels.allowed[label]] = 1
    return allowed


def test_shots_stay_where_a_person_put_them(propagation: PropagationSession) -> None:
    """A shot belongs to its class and to no other.

    A coarse-labelled image to the leaves below its class alone.
    """
    given = crowd(12)
    shots = given.shots(1, coarse=1)
    model = _fit(propagation, given, shots, given.basis(shots))
    assert model.stage is not None
    labels, chances = model.stage.labels, model.stage.refined.chances
    held = chances.at(labels.positions)
    allowed = _allowed(labels)
    assert held[labels.is_shot] == pytest.approx(allowed[labels.is_shot], abs=1e-6)
    assert (held[allowed == 0] == 0).all()
    assert held.sum(axis=1) == pytest.approx(1)


def test_several_parents_share_a_leaf(propagation: PropagationSession) -> None:
    """A label of the first family allows its leaves and those it shares with the last one."""
    given = crowd(12)
    shots = given.shots(1, coarse=1)
    model = _fit(propagation, given, shots, given.basis(shots))
    assert model.stage is not None
    labels = model.stage.labels
    below = {frozenset(given.graph.descendants(family)) for family in range(1, FAMILIES + 1)}
    allowed = {
        frozenset(model.candidate_ids[row > 0].tolist())
        for row in _allowed(labels)[~labels.is_shot]
    }
    assert allowed <= below
    assert frozenset(given.graph.descendants(given.graph.find("family 0"))) in allowed


def test_four_levels(propagation: PropagationSession) -> None:
    """A label at any depth is shared out among the leaves below it, by whatever path."""
    graph = graph_of(
        {
            "a": (),
            "b": ("a",),
            "c": ("b",),
            "d": ("b",),
            "leaf 1": ("c",),
            "leaf 2": ("c", "d"),
            "leaf 3": ("d",),
        }
    )
    generator = np.random.default_rng(0)
    means = generator.normal(size=(3, WIDTH))
    embeddings = unit(np.repeat(means, 10, axis=0) + 0.3 * generator.normal(size=(30, WIDTH)))
    names = {0: "leaf 1", 10: "leaf 2", 20: "leaf 3", 1: "a", 11: "b", 2: "c", 12: "c", 21: "d"}
    rows = np.array(sorted(names))
    shots = Shots(
        rows, np.array([graph.find(names[row]) for row in rows.tolist()]), embeddings[rows]
    )
    basis = collection_basis(np.arange(30), embeddings, labelled=rows)
    model = fit(graph, shots, propagation, PRIOR, basis=basis)
    assert model.stage is not None
    widths = dict(
        zip(rows.tolist(), _allowed(model.stage.labels).sum(axis=1).tolist(), strict=True)
    )
    assert widths == {0: 1, 10: 1, 20: 1, 1: 3, 11: 3, 2: 2, 12: 2, 21: 2}
    best = model.classify(embeddings).best
    assert (
        model.candidate_ids[best]
        == np.repeat([graph.find(f"leaf {leaf}") for leaf in (1, 2, 3)], 10)
    ).all()


# -- keeping up ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_more_label_equals_looking_anew(
    propagation: PropagationSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a collection larger than its anchors, one more label gives what a new fit gives."""
    monkeypatch.setattr("engine.everyday.collection_stage.basis.MOST_ANCHORS", 100)
    given = crowd(25)
    before, extra = given.shots(2), given.shots(1, offset=5)
    one = Shots(extra.image_ids[:1], extra.class_ids[:1], extra.embeddings[:1])
    row = np.searchsorted(given.image_ids, one.image_ids)
    after = replace(
        together(before, one), image_ids=np.concatenate([before.image_ids, one.image_ids])
    )
    grown = given.basis(before).with_anchors(given.embeddings, row)
    anew = given.basis(after)
    assert len(anew.anchors) < len(given.truth)
    assert set(grown.anchors.tolist()) == set(anew.anchors.tolist())
    first = _chances(_fit(propagation, given, after, grown), given)
    second = _chances(_fit(propagation, given, after, anew), given)
    assert first == pytest.approx(second, abs=1e-4)


@pytest.mark.slow
def test_many_labels_at_once_equal_looking_anew(
    propagation: PropagationSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same when a whole folder of shots comes in."""
    monkeypatch.setattr("engine.everyday.collection_stage.basis.MOST_ANCHORS", 60)
    given = crowd(25)
    after = given.shots(4)
    rows = np.searchsorted(given.image_ids, after.image_ids)
    grown = given.basis(given.shots(1)).with_anchors(given.embeddings, rows)
    first = _chances(_fit(propagation, given, after, grown), given)
    assert first == pytest.approx(
        _chances(_fit(propagation, given, after, given.basis(after)), given), abs=1e-4
    )


def test_more_images_are_linked_to_what_is_there(propagation: PropagationSession) -> None:
    """Images that came later get the links and probabilities that a new image gets."""
    given = crowd(20)
    old = 200
    part = collection_basis(
        given.image_ids[:old], given.embeddings[:old], labelled=np.zeros(0, dtype=np.int64)
    )
    assert part is not None
    new = np.arange(old, len(given.truth))
    grown = part.with_images(given.image_ids, given.embeddings, new)
    shots = given.shots(2)
    early = np.isin(shots.image_ids, given.image_ids[:old])
    shots = Shots(shots.image_ids[early], shots.class_ids[early], shots.embeddings[early])
    model = _fit(propagation, given, shots, grown)
    assert model.stage is not None
    assert model.probabilities(given.embeddings[new], new) == pytest.approx(
        model.probabilities(given.embeddings[new]), abs=1e-4
    )
    fresh = model.classify_new(given.embeddings[new])
    linked = model.classify(given.embeddings[new], new)
    assert fresh.best.tolist() == linked.best.tolist()
    assert fresh.best_score == pytest.approx(linked.best_score, abs=1e-4)


def test_scores_and_probabilities_agree(propagation: PropagationSession) -> None:
    """The pass over all images gives the best class, its probability, and its distance."""
    given = crowd(12)
    shots = given.shots(2)
    model = _fit(propagation, given, shots, given.basis(shots))
    scores = model.classify(given.embeddings)
    chances = _chances(model, given)
    assert scores.best.tolist() == chances.argmax(axis=1).tolist()
    assert scores.best_score == pytest.approx(chances.max(axis=1), abs=1e-4)
    nearest = model.table.final[model.candidates[scores.best]]
    assert model.distance(scores) == pytest.approx(
        ((given.embeddings - nearest) ** 2).sum(axis=1), abs=1e-3
    )


# -- degenerate ------------------------------------------------------------------------------------


def test_too_few_or_equal_images_are_no_collection() -> None:
    """Nothing to learn from: no basis, and the model goes on without the stage."""
    none = np.zeros(0, dtype=np.int64)
    same = np.tile(unit(np.ones((1, WIDTH))), (30, 1))
    assert collection_basis(np.arange(30), same, labelled=none) is None
    assert collection_basis(np.arange(3), same[:3], labelled=none) is None
    assert collection_basis(none, same[:0], labelled=none) is None


def test_no_unlabelled_images(propagation: PropagationSession) -> None:
    """Everything is labelled: probabilities are there and sum to one."""
    given = crowd(3)
    shots = given.shots(3)
    model = _fit(propagation, given, shots, given.basis(shots))
    assert _chances(model, given).sum(axis=1) == pytest.approx(1)


def test_one_class_and_no_class(propagation: PropagationSession) -> None:
    """Two labels of one class say little; without any there is nothing to choose among."""
    given = crowd(4)
    leaf = given.leaves[0]
    rows = given.rows(leaf)[:2]
    shots = Shots(given.image_ids[rows], given.truth[rows], given.embeddings[rows])
    graph = graph_of({"only": ()})
    only = Shots(shots.image_ids, np.full(2, graph.find("only")), shots.embeddings)
    model = fit(graph, only, propagation, PRIOR, basis=given.basis(shots))
    chances = _chances(model, given)
    assert chances.max() == pytest.approx(2 / (2 + DOUBT / 2), abs=0.02)
    assert chances.mean() > 0.2
    assert fit(given.graph, no_shots(), propagation, PRIOR, basis=given.basis(shots)).stage is None


def test_zero_shot_classes_keep_their_place(propagation: PropagationSession) -> None:
    """Leaves without an image are candidates still, by what their parents propagate."""
    given = crowd(10)
    all_shots = given.shots(2)
    kept = all_shots.class_ids != given.leaves[-1]
    shots = Shots(all_shots.image_ids[kept], all_shots.class_ids[kept], all_shots.embeddings[kept])
    model = _fit(propagation, given, shots, given.basis(shots))
    assert given.leaves[-1] in model.candidate_ids.tolist()
    assert np.isfinite(_chances(model, given)).all()


def test_shots_the_basis_does_not_know(propagation: PropagationSession) -> None:
    """A labelled image outside the collection teaches through its prototype only."""
    given = crowd(10)
    shots = given.shots(2)
    elsewhere = replace(shots, image_ids=shots.image_ids + 10_000)
    model = _fit(propagation, given, elsewhere, given.basis(shots))
    assert model.stage is not None
    assert len(model.stage.labels.positions) == 0
    assert np.isfinite(_chances(model, given)).all()


# -- classes without examples ----------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_is_certain_of_classes_without_examples(propagation: PropagationSession) -> None:
    """Two of nine leaves are taught.

    Their images alone may be sure, and the rest is claimed no more than it is right.

    However many examples the two have. Without the division the model is sure of most images of the
    other leaves.
    """
    given = crowd(40)
    for count in (1, 10):
        all_shots = given.shots(count)
        shots = some_shots(
            all_shots, np.flatnonzero(np.isin(all_shots.class_ids, given.leaves[:2]))
        )
        model = _fit(propagation, given, shots, given.basis(shots))
        free = ~np.isin(given.image_ids, shots.image_ids)
        scores = model.classify(given.embeddings)
        is_right = model.candidate_ids[scores.best] == given.truth
        is_taught = np.isin(given.truth, given.leaves[:2])
        assert scores.best_score[free].mean() < is_right[free].mean() + 0.1
        is_leaf_sure = (scores.best_score >= DEFAULT_BAR) & free
        assert not (is_leaf_sure & ~is_taught).any()


@pytest.mark.slow
def test_a_class_that_holds_nearly_all_leaves_is_no_answer(propagation: PropagationSession) -> None:
    """While classes have no examples: it would be sure of any image.

    Once all have some, it is as it was.
    """
    given = crowd(20)
    graph = given.graph.copy()
    whole = graph.add_class("everything")
    for root in given.graph.roots():
        graph.link(whole, root)
    all_shots = given.shots(2)
    some = some_shots(all_shots, np.flatnonzero(np.isin(all_shots.class_ids, given.leaves[:2])))
    few, full = (
        fit(graph, shots, propagation, PRIOR, basis=given.basis(shots))
        for shots in (some, all_shots)
    )
    assert not (few.classify(given.embeddings).safe_class == whole).any()
    assert (full.classify(given.embeddings).safe_class != NO_CLASS).all()


def test_without_a_stage_it_is_divided_alike(
    propagation: PropagationSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores of all images, probabilities of some, and the export."""
    given = crowd(20)
    all_shots = given.shots(3)
    shots = some_shots(all_shots, np.flatnonzero(all_shots.class_ids != given.leaves[0]))
    worse = CollectionFigures(is_used=False, shots=24, hits=10, hits_without=11)
    monkeypatch.setattr(
        "engine.everyday.collection_stage.fit_stage.CollectionFigures", lambda *_: worse
    )
    model = _fit(propagation, given, shots, given.basis(shots))
    assert model.stage is None
    assert model.unseen is not None
    assert model.unseen.evidence > 0
    expected = _chances(model, given)
    np.testing.assert_allclose(
        model.classify(given.embeddings).best_score, expected.max(axis=1), atol=1e-4
    )
    session = load_onnxruntime().InferenceSession(
        model.export(OPSET).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (exported,) = session.run([PROBABILITIES], {EMBEDDING: given.embeddings})
    np.testing.assert_allclose(exported, model.probabilities(given.embeddings), atol=1e-3)

"""What every classifier must do, whichever it is.

Checks of the contract, after scikit-learn's `check_estimator`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.collection.models import find_model
from engine.errors import Cancelled
from engine.events import CancelToken
from engine.everyday.back_off import Policy
from engine.everyday.blocks import stopped_by, to_fixed, to_floats
from engine.everyday.classifier import (
    COARSE,
    DISTANCE,
    EMBEDDING,
    PROBABILITIES,
    Classifier,
    FitSnapshot,
    ProjectClassifier,
    Setting,
)
from engine.everyday.in_use import Classifiers
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import EmbeddedSnapshot
from engine.everyday.unseen import DOUBT
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS, UNKNOWN
from engine.runtime.onnx_runtime import load_onnxruntime
from tests.support.collection_stage import FAMILIES, LEAVES, Crowd, crowd
from tests.support.graphs import graph_of

PER_LEAF = 30
OPSET = 17
LEAF_NAMES = [f"leaf {family}.{leaf}" for family in range(FAMILIES) for leaf in range(LEAVES)]


@pytest.fixture(params=list(Setting))
def setting(request: pytest.FixtureRequest) -> Setting:
    """Each classifier in turn."""
    return Setting(request.param)


@pytest.fixture
def classifier(setting: Setting, propagation: PropagationSession, tmp_path: Path) -> Classifier:
    """It, knowing nothing yet."""
    return new_classifier(setting, propagation, tmp_path)


def new_classifier(setting: Setting, propagation: PropagationSession, folder: Path) -> Classifier:
    return Classifiers(propagation.model, find_model().card, folder, "test").of(setting)


def snapshot_of(
    given: Crowd,
    setting: Setting,
    shots: Mapping[int, int],
    *,
    graph: CategoryGraph | None = None,
    policies: Mapping[int, Policy] | None = None,
) -> FitSnapshot:
    """The images of a crowd with the first so many of each leaf labelled.

    A coarse class takes its leaves' last.
    """
    labels = np.full(len(given.truth), NO_CLASS, dtype=np.int64)
    for class_id, count in shots.items():
        below = given.graph.descendants(class_id)
        rows = (
            given.rows(class_id)
            if not below
            else np.flatnonzero(np.isin(given.truth, sorted(below)))[::-1]
        )
        labels[rows[:count]] = class_id
    return FitSnapshot(graph or given.graph, images_of(given, labels), policies or {}, setting)


def images_of(given: Crowd, labels: NDArray[np.integer]) -> EmbeddedSnapshot:
    count = len(given.truth)
    return EmbeddedSnapshot(
        given.image_ids,
        labels.astype(np.int32),
        np.arange(count),
        np.zeros(count, dtype=bool),
        given.image_ids,
        to_fixed(given.embeddings),
        np.ones(count, dtype=bool),
        age=1,
    )


def leaf_shots(given: Crowd, count: int) -> dict[int, int]:
    return dict.fromkeys(given.leaves, count)


def answers(
    fitted: ProjectClassifier, snapshot: FitSnapshot
) -> tuple[list[int], NDArray[np.float32], list[int]]:
    """Most likely class, its probability, and safe class of every image."""
    scores = fitted.classify(snapshot.images.embeddings)
    return fitted.candidate_ids[scores.best].tolist(), scores.best_score, scores.safe_class.tolist()


def chances(fitted: ProjectClassifier, snapshot: FitSnapshot) -> NDArray[np.float32]:
    return fitted.probabilities(snapshot.images.embeddings, snapshot.images.rows)


def test_it_learns(classifier: Classifier, setting: Setting) -> None:
    """Five labels of each of twelve classes, amid directions that say nothing.

    Four times as often as chance.
    """
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 5))
    fitted = classifier.fit(snapshot)
    found, _, _ = answers(fitted, snapshot)
    assert fitted.setting is setting
    assert sorted(fitted.candidate_ids.tolist()) == given.leaves
    assert (np.array(found) == given.truth).mean() > 4 / len(given.leaves)


def test_probabilities_sum_to_one_and_agree_with_scores(
    classifier: Classifier, setting: Setting
) -> None:
    """Of images of the snapshot and of new ones.

    The most likely class and its probability are those of the scores.
    """
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 3))
    fitted = classifier.fit(snapshot)
    known, new = chances(fitted, snapshot), fitted.probabilities(snapshot.images.embeddings)
    for each in (known, new):
        assert each.min() >= 0
        np.testing.assert_allclose(each.sum(axis=1), 1, atol=1e-4)
    scores, fresh = (
        fitted.classify(snapshot.images.embeddings),
        fitted.classify_new(snapshot.images.embeddings),
    )
    np.testing.assert_allclose(scores.best_score, known.max(axis=1), atol=1e-3)
    np.testing.assert_allclose(fresh.best_score, new.max(axis=1), atol=1e-3)
    some = np.arange(5, 40)
    part = fitted.classify(snapshot.images.embeddings[some], some)
    np.testing.assert_allclose(part.best_score, scores.best_score[some], atol=1e-5)
    assert part.best.tolist() == scores.best[some].tolist()


@pytest.mark.slow
def test_twice_the_same(propagation: PropagationSession, setting: Setting, tmp_path: Path) -> None:
    """Two that start anew say the same to the last bit, and one that is fitted again does."""
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 2))
    first = new_classifier(setting, propagation, tmp_path)
    all_chances = [chances(each.fit(snapshot), snapshot) for each in (first, first)]
    all_chances.append(
        chances(new_classifier(setting, propagation, tmp_path).fit(snapshot), snapshot)
    )
    for each in all_chances[1:]:
        np.testing.assert_array_equal(each, all_chances[0])


def test_the_order_of_classes_is_no_matter(classifier: Classifier, setting: Setting) -> None:
    """Classes of other ids, in another order: every image is as likely of the same class."""
    given, generator = crowd(PER_LEAF), np.random.default_rng(3)
    other = permuted(given, generator.permutation(len(LEAF_NAMES)).tolist())
    found = []
    for each in (given, other):
        snapshot = snapshot_of(each, setting, leaf_shots(each, 3))
        fitted = classifier.fit(snapshot)
        places = np.argsort(
            [each.graph.name(class_id) for class_id in fitted.candidate_ids.tolist()]
        )
        found.append(chances(fitted, snapshot)[:, places])
    np.testing.assert_allclose(found[1], found[0], atol=2e-3)


def permuted(given: Crowd, order: Sequence[int]) -> Crowd:
    """The same images under a graph whose leaves were added in another order."""
    parents_of: dict[str, tuple[str, ...]] = {
        f"family {family}": () for family in reversed(range(FAMILIES))
    }
    for name in (LEAF_NAMES[place] for place in order):
        parents_of[name] = tuple(
            given.graph.name(each) for each in given.graph.parents(given.graph.find(name))
        )
    graph = graph_of(parents_of)
    return Crowd(
        graph,
        given.embeddings,
        np.array([graph.find(given.graph.name(one)) for one in given.truth.tolist()]),
    )


def test_a_class_that_stands_alone_may_be_that_of_any_image(
    propagation: PropagationSession, setting: Setting, tmp_path: Path
) -> None:
    """It has no label, and neither parents nor children.

    All others are less likely, in the same proportions.
    """
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 3))
    graph = given.graph.copy()
    graph.add_class("alone")
    beside = replace(snapshot, graph=graph)
    before = new_classifier(setting, propagation, tmp_path).fit(snapshot)
    after = new_classifier(setting, propagation, tmp_path).fit(beside)
    assert after.candidate_ids.tolist() == before.candidate_ids.tolist()
    found = chances(after, beside)
    total = found.sum(axis=1, keepdims=True)
    assert 0.7 < total.mean() < 1
    assert total.max() < 1
    np.testing.assert_allclose(found / total, chances(before, snapshot), atol=1e-5)


def test_without_labels_nothing_is_a_candidate(classifier: Classifier, setting: Setting) -> None:
    """Nor is there anything to explain; what to label first is known all the same."""
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, {})
    fitted = classifier.fit(snapshot)
    assert len(fitted.candidate_ids) == len(fitted.shots) == 0
    assert fitted.prototype(given.leaves[0]) is None
    assert fitted.hold_out_each(given.graph).tolist() == []
    assert np.isnan(fitted.figures.accuracy)
    first = classifier.teach_first(
        snapshot, fitted, fitted.classify_new(snapshot.images.embeddings[:0]).empty(360)
    )
    assert first is not None
    assert sorted(first.tolist()) == list(range(len(given.truth)))


def test_excluded_classes_are_not_claimed(classifier: Classifier, setting: Setting) -> None:
    """Nor its descendants; the probabilities of others stay, and those of other and new images."""
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 3))
    free = np.flatnonzero(snapshot.images.labels == NO_CLASS)
    before = classifier.fit(snapshot)
    usual = chances(before, snapshot)
    best = before.candidate_ids[usual.argmax(axis=1)]
    leaf_of, family_of = free[0], free[1]
    (family,) = given.graph.parents(int(best[family_of]))
    pairs = [(leaf_of, int(best[leaf_of])), (family_of, family)]
    excluded = [(int(given.image_ids[row]), class_id) for row, class_id in pairs]
    after = classifier.fit(replace(snapshot, excluded=[*excluded, (10**9, family), (1, 10**9)]))
    found, wanted = chances(after, snapshot), usual.copy()
    wanted[leaf_of, usual[leaf_of].argmax()] = 0
    wanted[family_of, np.isin(before.candidate_ids, sorted(given.graph.children(family)))] = 0
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    scores = after.classify(snapshot.images.embeddings)
    np.testing.assert_allclose(scores.best_score, found.max(axis=1), atol=1e-3)
    assert (after.candidate_ids[scores.best] == after.candidate_ids[found.argmax(axis=1)]).all()
    assert scores.safe_class[leaf_of] != best[leaf_of]
    assert scores.safe_class[family_of] not in given.graph.descendants(family) | {family}
    part = after.classify(snapshot.images.embeddings[free[:3]], free[:3])
    np.testing.assert_array_equal(part.safe_class, scores.safe_class[free[:3]])
    fresh = after.probabilities(snapshot.images.embeddings[:5])
    np.testing.assert_allclose(
        fresh, before.probabilities(snapshot.images.embeddings[:5]), atol=1e-5
    )


def test_one_label_of_one_class_says_little(classifier: Classifier, setting: Setting) -> None:
    """Every image is of it or of something else, and rather of something else."""
    given = crowd(PER_LEAF)
    only, graph = CategoryGraph(), given.leaves[0]
    class_id = only.add_class("only")
    labels = np.where(np.arange(len(given.truth)) == given.rows(graph)[0], class_id, NO_CLASS)
    snapshot = FitSnapshot(only, images_of(given, labels), {}, setting)
    fitted = classifier.fit(snapshot)
    found, scores, _ = answers(fitted, snapshot)
    assert set(found) == {class_id}
    assert scores[labels == NO_CLASS].mean() == pytest.approx(1 / (1 + DOUBT / 2), abs=0.05)


def test_a_class_without_labels_beside_labelled_ones(
    classifier: Classifier, setting: Setting
) -> None:
    """It may be answered or not.

    Where it is no candidate, it has what the probabilities of the others leave.
    """
    given = crowd(PER_LEAF)
    zero_shot = given.leaves[1]
    snapshot = snapshot_of(given, setting, {**leaf_shots(given, 3), zero_shot: 0})
    fitted = classifier.fit(snapshot)
    totals = chances(fitted, snapshot).sum(axis=1)
    if setting is Setting.PPN_PLUS:
        np.testing.assert_allclose(totals, 1, atol=1e-4)
    else:
        assert 0.7 < totals.mean() < 1
    assert (
        set(given.leaves) - {zero_shot} <= set(fitted.candidate_ids.tolist()) <= set(given.leaves)
    )
    assert zero_shot not in fitted.shots.class_ids
    own_share = fitted.inheritance.own_shares.get(zero_shot, 0)
    assert own_share == 0
    assert (fitted.prototype(zero_shot) is not None) == (setting is Setting.PPN_PLUS)


def test_a_class_that_is_added_later(classifier: Classifier, setting: Setting) -> None:
    """Its images go to it once it has labels; who was fitted before goes on as it was."""
    given = crowd(PER_LEAF)
    late = given.leaves[2]
    early = snapshot_of(given, setting, {**leaf_shots(given, 4), late: 0})
    before = classifier.fit(early)
    kept = chances(before, early)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 4))
    fitted = classifier.fit(snapshot)
    found, _, _ = answers(fitted, snapshot)
    assert late in fitted.candidate_ids
    assert (np.array(found)[given.rows(late)] == late).mean() > 2 / len(given.leaves)
    np.testing.assert_array_equal(chances(before, early), kept)


def test_a_fit_that_is_cancelled_leaves_no_trace(
    classifier: Classifier, propagation: PropagationSession, setting: Setting, tmp_path: Path
) -> None:
    """Stopped before it begins and in the middle: the next fit says what a new one would."""
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 3))
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled), stopped_by(token):
        classifier.fit(snapshot)
    with pytest.raises(Cancelled), stopped_by(StopsAtThird()):
        classifier.fit(snapshot)
    expected = chances(new_classifier(setting, propagation, tmp_path).fit(snapshot), snapshot)
    np.testing.assert_array_equal(chances(classifier.fit(snapshot), snapshot), expected)


class StopsAtThird(CancelToken):
    """Is set at the third question."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = 0

    def raise_if_cancelled(self) -> None:
        """Count, and stop."""
        self._asked += 1
        if self._asked >= 3:
            raise Cancelled


def test_an_image_without_an_embedding_teaches_nothing(
    propagation: PropagationSession, setting: Setting, tmp_path: Path
) -> None:
    """Its label is as if it were not there."""
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 3))
    row = given.rows(given.leaves[0])[0]
    is_filled = snapshot.images.is_filled.copy()
    is_filled[row] = False
    embeddings, labels = snapshot.images.embeddings.copy(), snapshot.images.labels.copy()
    embeddings[row], labels[row] = 0, NO_CLASS
    waiting = replace(snapshot.images, is_filled=is_filled, embeddings=embeddings)
    fitted = [
        new_classifier(setting, propagation, tmp_path).fit(replace(snapshot, images=images))
        for images in (waiting, replace(waiting, labels=labels))
    ]
    others = np.flatnonzero(is_filled)
    both = [each.probabilities(embeddings[others], others) for each in fitted]
    assert snapshot.images.image_ids[row] not in fitted[0].shots.image_ids
    np.testing.assert_array_equal(both[0], both[1])


def test_an_image_of_no_class_is_no_shot(classifier: Classifier, setting: Setting) -> None:
    """A person labelled it as none of the classes."""
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 3))
    row = given.rows(given.leaves[0])[0]
    labels = snapshot.images.labels.copy()
    labels[row] = UNKNOWN
    fitted = classifier.fit(replace(snapshot, images=replace(snapshot.images, labels=labels)))
    assert snapshot.images.image_ids[row] not in fitted.shots.image_ids


def test_coarse_labels(classifier: Classifier, setting: Setting) -> None:
    """Labels of a family beside those of leaves.

    Candidates stay the leaves, and sums go up the graph.
    """
    given = crowd(PER_LEAF)
    family = given.graph.find("family 1")
    snapshot = snapshot_of(given, setting, {**leaf_shots(given, 3), family: 20})
    fitted = classifier.fit(snapshot)
    found = chances(fitted, snapshot)
    assert sorted(fitted.candidate_ids.tolist()) == given.leaves
    below = np.isin(fitted.candidate_ids, sorted(given.graph.descendants(family)))
    summed = [fitted.back_off.probability_of(family, each) for each in found]
    np.testing.assert_allclose(summed, found[:, below].sum(axis=1), atol=1e-5)


def test_rules_are_obeyed(classifier: Classifier, setting: Setting) -> None:
    """Below the deepest class that a person allows nothing is named.

    At a bar of 0 every leaf is.
    """
    given = crowd(PER_LEAF)
    family = given.graph.find("family 1")
    bars = {leaf: Policy(bar=0.0) for leaf in given.leaves} | {family: Policy(is_deepest=True)}
    snapshot = snapshot_of(given, setting, leaf_shots(given, 3), policies=bars)
    found, _, safe = answers(classifier.fit(snapshot), snapshot)
    hidden = given.graph.descendants(family)
    assert not hidden & set(safe)
    assert all(
        is_safe == best for best, is_safe in zip(found, safe, strict=True) if best not in hidden
    )


def test_an_explanation_adds_up(classifier: Classifier, setting: Setting) -> None:
    """The shares of what stands for a class sum to 1, and the score is the probability."""
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(
        given, setting, {**leaf_shots(given, 3), given.graph.find("family 1"): 9}
    )
    fitted = classifier.fit(snapshot)
    found = chances(fitted, snapshot)
    for row in (0, 17, 99):
        for class_id in (
            int(fitted.candidate_ids[found[row].argmax()]),
            given.graph.find("family 0"),
        ):
            embedding = to_floats(snapshot.images.embeddings[[row]])[0]
            why = fitted.explain(
                int(given.image_ids[row]), embedding, found[row], class_id=class_id, safe=None
            )
            if why is None:
                assert fitted.prototype(class_id) is None
                continue
            shares = [why.own, *why.parents, *why.coarse]
            assert sum(each.share for each in shares) + why.unlabelled == pytest.approx(1, abs=1e-4)
            assert why.score == pytest.approx(fitted.back_off.probability_of(class_id, found[row]))
            assert sum(each.weight for each in why.look_alikes) <= 1 + 1e-5
            assert set(why.own.image_ids) <= set(fitted.shots.image_ids.tolist())


def test_held_out_shots_say_how_often_it_is_right(classifier: Classifier, setting: Setting) -> None:
    """They are shots, with probabilities over the candidates.

    One label of each class leaves none to hold out.
    """
    given = crowd(PER_LEAF)
    fitted = classifier.fit(snapshot_of(given, setting, leaf_shots(given, 4)))
    held = fitted.held_out
    assert held is not None
    assert len(held.image_ids) > 0
    assert set(held.image_ids.tolist()) <= set(fitted.shots.image_ids.tolist())
    np.testing.assert_allclose(held.probabilities.sum(axis=1), 1, atol=1e-4)
    assert (
        len(fitted.hold_out_each(given.graph))
        == fitted.figures.shots_checked
        == 4 * len(given.leaves)
    )
    assert fitted.hold_out_each(given.graph).mean() == pytest.approx(fitted.figures.accuracy)
    alone = classifier.fit(snapshot_of(given, setting, leaf_shots(given, 1)))
    assert alone.held_out is None or len(alone.held_out.image_ids) == 0


def test_hardly_an_image_of_the_classes_is_unknown(
    classifier: Classifier, setting: Setting
) -> None:
    """Whether it is found from the scores of many images or in the explanation of one."""
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 5))
    fitted = classifier.fit(snapshot)
    scores, found = fitted.classify(snapshot.images.embeddings), chances(fitted, snapshot)
    is_unknown = fitted.is_unknown(scores)
    assert is_unknown.mean() < 0.1
    for row in (*np.flatnonzero(is_unknown)[:5].tolist(), 0, 1, 2):
        embedding, best = (
            to_floats(snapshot.images.embeddings[[row]])[0],
            int(fitted.candidate_ids[scores.best[row]]),
        )
        why = fitted.explain(
            int(given.image_ids[row]), embedding, found[row], class_id=best, safe=None
        )
        assert why is not None
        assert why.is_unknown == is_unknown[row]


@pytest.mark.parametrize("without_labels", [0, 1, 4])
def test_what_is_exported_answers_alike(
    classifier: Classifier, setting: Setting, without_labels: int
) -> None:
    """The ONNX operators give the probabilities, sums and distances of `classify_new`."""
    given = crowd(PER_LEAF)
    none = dict.fromkeys(given.leaves[:without_labels], 0)
    snapshot = snapshot_of(given, setting, {**leaf_shots(given, 3), **none})
    fitted = classifier.fit(snapshot)
    session = load_onnxruntime().InferenceSession(
        fitted.export(OPSET).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [PROBABILITIES, COARSE, DISTANCE]
    probabilities, coarse, distance = session.run(names, {EMBEDDING: given.embeddings})
    expected = fitted.probabilities(given.embeddings)
    np.testing.assert_allclose(probabilities, expected, atol=1e-3)
    np.testing.assert_allclose(coarse, expected @ fitted.back_off.roll_up, atol=1e-3)
    np.testing.assert_allclose(
        distance, fitted.distance(fitted.classify_new(given.embeddings)), atol=1e-3
    )


def _with_copies(snapshot: FitSnapshot, copies: int) -> FitSnapshot:
    """The same images, and so many copies of every labelled one, with its label, as its twins."""
    images = snapshot.images
    labelled = np.flatnonzero(images.labels >= 0)
    sources = np.concatenate([np.arange(len(images.labels)), np.tile(labelled, copies)])
    count = len(sources)
    ids = np.arange(1, count + 1)
    folds = np.where(np.isin(sources, labelled), sources, -1)
    copied = EmbeddedSnapshot(
        ids,
        images.labels[sources],
        np.arange(count),
        np.zeros(count, dtype=bool),
        ids,
        images.embeddings[sources],
        np.ones(count, dtype=bool),
        age=1,
        folds=folds,
    )
    return replace(snapshot, images=copied)


def _held_out_accuracy(fitted: ProjectClassifier) -> tuple[int, float]:
    """How many labelled images were held out, and the share that was right."""
    held_out = fitted.held_out
    assert held_out is not None
    best, _ = held_out.top_class()
    return len(best), float((fitted.candidate_ids[best] == held_out.class_ids).mean())


@pytest.mark.slow
def test_twins_flatter_no_figure(classifier: Classifier, setting: Setting) -> None:
    """Labels at random, each with three copies of its image.

    They are held out together, and count as one.

    A classifier that does not know them finds that it is nearly always right; it is no better than
    chance.
    """
    given = crowd(PER_LEAF)
    snapshot = snapshot_of(given, setting, leaf_shots(given, 2))
    labels = snapshot.images.labels.copy()
    labelled = np.flatnonzero(labels >= 0)
    labels[labelled] = np.random.default_rng(1).permutation(labels[labelled])
    snapshot = replace(snapshot, images=replace(snapshot.images, labels=labels))
    count, _ = _held_out_accuracy(classifier.fit(snapshot))
    twins = _with_copies(snapshot, 3)
    known = classifier.fit(twins)
    known_count, accuracy = _held_out_accuracy(known)
    unaware = classifier.fit(replace(twins, images=replace(twins.images, folds=None)))
    assert known_count <= count
    assert accuracy < 0.4
    assert known.hold_out_each(given.graph).mean() < 0.4
    assert _held_out_accuracy(unaware)[1] > accuracy + 0.25

"""The stage's parts by numbers worked out by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.back_off import BRANCH_POWER, Branches
from engine.everyday.blocks import to_fixed
from engine.everyday.collection_stage.anchor_labels import (
    LEAST,
    AnchorChances,
    AnchorLabels,
    familiarity_of,
)
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.collection_stage.calibration import (
    AGREED,
    AGREEMENT,
    FAMILIARITY,
    MOST_POWER,
    PRIORS,
    SHOTS,
    SIMILARITY,
    SMOOTHING,
    Calibration,
    HeldOutChances,
    expected_power,
    power_from,
    prior_power,
    smoothing_for,
)
from engine.everyday.collection_stage.neighbours import (
    FARTHEST,
    LEAST_SHRINKAGE,
    LINKS,
    NEIGHBOURS,
    Links,
    follow,
    links_between,
    links_to,
    nearest,
    shrinkage_for,
    whitening_of,
)
from engine.everyday.collection_stage.refinement import (
    START,
    TEMPERATURE,
    UNLABELLED,
    InitialPrototypes,
    joined,
    refine,
    temperature_for,
)
from tests.support.collection_stage import crowd
from tests.support.everyday import anchor_labels, unit

NONE = np.zeros(0, dtype=np.int64)


def _links(positions: list[list[int]], weights: list[list[float]]) -> Links:
    shares = np.array(weights, dtype=np.float32)
    return Links(np.array(positions, dtype=np.int32), shares, (shares > 0).astype(np.float32))


# -- whitening -------------------------------------------------------------------------------------


def test_whitening_by_hand() -> None:
    """Variances 0.045 and 0.005 of four images gain a third of their mean, 0.025."""
    images = np.array([[0.8, 0.6], [0.2, 0.6], [0.5, 0.7], [0.5, 0.5]], dtype=np.float32)
    whitening = whitening_of(images)
    assert whitening is not None
    assert whitening.mean == pytest.approx([0.5, 0.6])
    variance = np.array([0.045, 0.005])
    shrunk = variance * 2 / 3 + 0.025 / 3
    moved = np.abs((images - whitening.mean) @ whitening.matrix)
    assert np.sort(moved[0]) == pytest.approx([0, 0.3 / shrunk[0] ** 0.5], abs=1e-5)
    assert np.sort(moved[2]) == pytest.approx([0, 0.1 / shrunk[1] ** 0.5], abs=1e-5)


def _pairs(count: int, within: tuple[float, float, float]) -> NDArray[np.float32]:
    """Look-alikes that differ by these deviations along three axes, others by 1 along two."""
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(count, 3)) * [1, 1, 0]
    pairs = centres[:, None] + generator.normal(size=(count, 2, 3)) * within
    return pairs.reshape(-1, 3).astype(np.float32)


def test_directions_in_which_look_alikes_differ_count_less() -> None:
    """Two axes tell pairs apart; the third differs as much between look-alikes as between any."""
    images = _pairs(400, (0.02, 0.02, 0.1))
    whitening = whitening_of(images)
    assert whitening is not None
    spread = images.std(axis=0) * np.linalg.norm(whitening.matrix, axis=1)
    assert spread[2] < 0.5 * spread[:2].min()


def test_copies_say_nothing_of_how_photos_differ() -> None:
    """Each image twice: only the copy is left out, and all images are whitened by all."""
    images = unit(np.random.default_rng(0).normal(size=(40, 6)))
    twice = whitening_of(np.repeat(images, 2, axis=0))
    assert twice is not None
    assert np.isfinite(twice.matrix).all()


def test_embeddings_stay_as_they_are() -> None:
    """Floats are not copied on their way in, and nobody else's numbers change."""
    images = unit(np.random.default_rng(0).normal(size=(50, 8)))
    before = images.copy()
    whitening_of(images)
    assert np.array_equal(images, before)


def test_few_images_are_shrunk_more() -> None:
    """As many images as dimensions: half of the mean; a great many: the least."""
    assert shrinkage_for(384, 384) == 0.5
    assert shrinkage_for(100_000, 384) == LEAST_SHRINKAGE


def test_whitened_images_have_length_one_in_either_number_format() -> None:
    """Floats and fixed-point numbers are whitened alike."""
    images = unit(np.random.default_rng(0).normal(size=(50, 8)))
    whitening = whitening_of(images)
    assert whitening is not None
    floats = whitening.apply(images)
    assert np.linalg.norm(floats, axis=1) == pytest.approx(1)
    assert whitening.apply(to_fixed(images)) == pytest.approx(floats, abs=1e-3)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_images_that_do_not_differ_cannot_be_whitened(count: int) -> None:
    """No image, one, or the same one over and over: there is no covariance to go by."""
    assert whitening_of(np.tile(unit(np.ones((1, 4))), (count, 1))) is None


def test_fewer_images_than_dimensions() -> None:
    """Directions without variance keep a share of the mean variance; nothing becomes infinite."""
    whitening = whitening_of(unit(np.random.default_rng(0).normal(size=(3, 64))))
    assert whitening is not None
    assert np.isfinite(whitening.matrix).all()


# -- neighbours ------------------------------------------------------------------------------------


def test_nearest_leaves_the_image_itself_out() -> None:
    """Of three anchors an image that is the first has the other two, the more alike first."""
    anchors = unit(np.array([[1, 0], [0.8, 0.6], [0, 1]]))
    found = nearest(anchors[:1], anchors, own=np.array([0]))
    assert found.positions[0, :2].tolist() == [1, 2]
    assert found.cosines[0] == pytest.approx([0.8, 0] + [-1] * (NEIGHBOURS - 2))
    assert nearest(anchors[:1], anchors, own=np.array([-1])).positions[0, 0] == 0


def test_links_are_as_strong_as_the_fourth_power_of_the_cosine() -> None:
    """Cosines 0.8 and 0.4 count 16 to 1, and are followed as far as their mean by that.

    Opposites are not linked.
    """
    anchors = np.array([[0.8], [0.4], [-0.5]], dtype=np.float32)
    links = links_to(nearest(np.ones((1, 1), dtype=np.float32), anchors, own=np.array([-1])))
    far = (16 * 0.8 + 0.4) / 17
    assert links.weights[0] == pytest.approx([16 / 17 * far, far / 17] + [0] * (NEIGHBOURS - 2))
    assert links.followed[0] == pytest.approx(far)


def test_nobody_is_followed_all_the_way() -> None:
    """Not even a copy; without look-alikes nobody is."""
    anchors = np.array([[1.0], [-1.0]], dtype=np.float32)
    links = links_to(
        nearest(np.array([[1.0], [-1.0], [0.0]], dtype=np.float32), anchors[:1], own=np.full(3, -1))
    )
    assert links.followed[:, 0] == pytest.approx([FARTHEST, 0, 0])


def test_links_between_anchors_go_both_ways() -> None:
    """A hub that is everybody's neighbour links back to as many as fit, the strongest."""
    angles = np.concatenate([[0], np.linspace(0.9, 1.5, 12)])
    rim = np.zeros((13, 14))
    rim[:, 0], rim[np.arange(13), np.arange(13) + 1] = np.cos(angles), np.sin(angles)
    vectors = rim.astype(np.float32)
    links = links_between(nearest(vectors, vectors, own=np.arange(13)))
    assert links.weights.shape == (13, LINKS)
    cosines = (links.cosines**5).sum(axis=1) / (links.cosines**4).sum(axis=1)
    assert links.followed[:, 0] == pytest.approx(np.minimum(cosines, FARTHEST), abs=1e-5)
    assert 0 in links.positions[1:][:, :NEIGHBOURS].ravel().tolist()
    assert sorted(links.positions[0].tolist()) == list(range(1, LINKS + 1))


def test_what_links_say() -> None:
    """Three quarters of one and a quarter of the other; nothing without links."""
    values = np.array([[1, 0], [0, 1]], dtype=np.float32)
    links = _links([[0, 1], [0, 0]], [[0.75, 0.25], [0, 0]])
    assert follow(links, values).tolist() == [[0.75, 0.25], [0, 0]]


# -- sharing ---------------------------------------------------------------------------------------


def test_a_coarse_label_is_shared_out_by_chances() -> None:
    """Chances 0.6, 0.3, 0.1 with the first two allowed become 2/3 and 1/3; a shot is its class's.

    Others stay.
    """
    chances = np.array([[0.6, 0.3, 0.1], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]], dtype=np.float32)
    labels = anchor_labels([0, 2], [[0, 1], [2]], 3)
    labels.share_out(chances, np.arange(3))
    assert chances[0] == pytest.approx([2 / 3, 1 / 3, 0])
    assert chances[1] == pytest.approx([0.6, 0.3, 0.1])
    held = AnchorChances.held(labels, 3, chances[:2])
    assert held.at(np.arange(3)) == pytest.approx(
        np.array([[2 / 3, 1 / 3, 0], [0.6, 0.3, 0.1], [0, 0, 1]])
    )
    assert held.free_positions.tolist() == [0, 1]
    assert labels.is_shot.tolist() == [False, True]
    assert labels.shot_counts().tolist() == [0, 0, 1]
    assert labels.without(np.array([1])).positions.tolist() == [0]


def test_a_coarse_label_nothing_speaks_for_is_shared_out_evenly() -> None:
    """Chances of zero do not divide by zero."""
    chances = np.array([[0, 0, 1]], dtype=np.float32)
    anchor_labels([0], [[0, 1]], 3).share_out(chances, np.zeros(1, dtype=np.int64))
    assert chances[0] == pytest.approx([0.5, 0.5, 0])


# -- refinement ------------------------------------------------------------------------------------


def test_one_step_follows_look_alikes() -> None:
    """What is not followed is the prototypes' word; without neighbours all is."""
    by_prototype = np.array([[1, 0], [1, 0]], dtype=np.float32)
    links = _links([[0], [0]], [[0.9], [0]])
    free = AnchorChances.held(anchor_labels([], [], 2), 1, np.array([[0, 1]], dtype=np.float32))
    assert joined(by_prototype, links, free) == pytest.approx(np.array([[0.1, 0.9], [1, 0]]))
    after = joined(by_prototype, links, AnchorChances.held(anchor_labels([0], [[1]], 2), 1))
    assert after[0] == pytest.approx([0.1, 0.9])
    assert after[1] == pytest.approx([1, 0])


def test_refined_prototypes_by_hand() -> None:
    """One shot, its copy unlabelled, two classes at right angles.

    The copy adds a shot in the same direction.
    """
    vectors = np.array([[1, 0], [0, 1], [1, 0], [0, 1]], dtype=np.float32)
    labels = anchor_labels([0, 1], [[0], [1]], 2)
    spare = [0] * (LINKS - 1)
    links = _links([[2, *spare], [3, *spare], [0, *spare], [1, *spare]], [[0.9, *spare]] * 4)
    start = InitialPrototypes(np.eye(2, dtype=np.float32), np.zeros(2, dtype=bool), 1.0)
    refined = refine(vectors, links, labels, start, ignored=NONE)
    own = refined.chances.at(np.array([2]))[0, 0]
    assert 0.95 < own < 1
    assert refined.chances.at(np.arange(2)).tolist() == [[1, 0], [0, 1]]
    total = 1 + UNLABELLED + START
    assert refined.unlabelled == pytest.approx([UNLABELLED / total] * 2, rel=1e-5)
    assert refined.start == pytest.approx([START / total] * 2, rel=1e-5)
    assert refined.coarse.tolist() == [0, 0]
    moved = (1 + UNLABELLED * own + START) / total
    assert refined.prototypes[0] == pytest.approx([moved, UNLABELLED * (1 - own) / total], abs=2e-3)


def test_the_temperature_follows_how_alike_images_are() -> None:
    """A fifth of the cosine to the sixth link.

    Of seven images 60 degrees apart in pairs, a tenth.
    """
    vectors = unit(np.eye(7) + (np.sqrt(8) - 1) / 7)
    links = links_between(nearest(vectors, vectors, own=np.arange(7)))
    alike = float(vectors[0] @ vectors[1])
    assert alike == pytest.approx(0.5)
    assert temperature_for(links, vectors) == pytest.approx(0.5 / np.sqrt(7))
    wide = np.pad(vectors, ((0, 0), (0, 393)))
    assert temperature_for(links, wide) == pytest.approx(TEMPERATURE * alike)


def test_a_class_nothing_looks_like_stays_where_it_is() -> None:
    """An isolated class: no image is linked to its shot, none near its prototype."""
    vectors = unit(
        np.concatenate([np.eye(8)[:1], np.tile(np.eye(8)[1], (5, 1)) + 0.05 * np.eye(8)[3:8]])
    )
    wide = np.pad(vectors, ((0, 0), (0, 400))).astype(np.float32)
    labels = anchor_labels([0, 1], [[0], [1]], 2)
    links = links_between(nearest(wide, wide, own=np.arange(6)))
    start = InitialPrototypes(wide[:2].copy(), np.zeros(2, dtype=bool), 1.0)
    refined = refine(wide, links, labels, start, ignored=NONE)
    direction = refined.prototypes[0] / np.linalg.norm(refined.prototypes[0])
    assert direction == pytest.approx(wide[0], abs=1e-4)
    assert refined.unlabelled[0] < 1e-3 < refined.unlabelled[1]


def test_ignored_images_teach_nothing() -> None:
    """Images that show none of the classes have no share in any prototype."""
    vectors = unit(np.random.default_rng(0).normal(size=(10, 6)))
    links = links_between(nearest(vectors, vectors, own=np.arange(10)))
    labels = anchor_labels([0, 1], [[0], [1]], 2)
    start = InitialPrototypes(vectors[:2].copy(), np.zeros(2, dtype=bool), 1.0)
    refined = refine(vectors, links, labels, start, ignored=np.arange(2, 10))
    assert refined.unlabelled.tolist() == [0, 0]
    assert refined.prototypes == pytest.approx(vectors[:2], abs=1e-6)


def test_a_zero_shot_class_stays_where_its_ancestors_put_it() -> None:
    """Nobody labelled what it looks like: the collection does not guess."""
    vectors = unit(np.random.default_rng(0).normal(size=(20, 6)))
    links = links_between(nearest(vectors, vectors, own=np.arange(20)))
    labels = anchor_labels([0], [[0]], 2)
    start = InitialPrototypes(
        np.stack([vectors[0], vectors[:3].mean(axis=0)]), np.array([False, True]), 1.0
    )
    refined = refine(vectors, links, labels, start, ignored=NONE)
    assert refined.prototypes[1] == pytest.approx(start.prototypes[1])
    assert (refined.start[1], refined.unlabelled[1]) == (1, 0)


# -- calibration -----------------------------------------------------------------------------------


def no_branches(candidates: int) -> Branches:
    """Of classes that have nothing above them."""
    return Branches(np.zeros((candidates, 0), dtype=np.float32))


def test_probabilities_by_hand() -> None:
    """Power 2 on 0.8 and 0.2 gives 16/17 and 1/17.

    Smoothing 0.2 leaks a fifth to the square roots, 4/5 and 1/5.
    """
    calibration = Calibration(2.0, np.full(2, 0.2, np.float32), no_branches(2))
    found = calibration.apply(np.array([[0.8, 0.2]], dtype=np.float32))
    assert found[0] == pytest.approx([0.8 * 16 / 17 + 0.2 * 4 / 5, 0.8 / 17 + 0.2 / 5], abs=1e-6)


def test_probabilities_sum_to_one_whatever_the_chances() -> None:
    """Also of chances that do not sum to one, and of none at all."""
    chances = np.array([[0.1, 0.05, 0], [0, 0, 0], [1, 0, 0]], dtype=np.float32)
    calibration = Calibration(
        0.7, smoothing_for(np.array([0, 1, 10], dtype=np.float32)), no_branches(3)
    )
    found = calibration.apply(chances)
    assert found.sum(axis=1) == pytest.approx(1)
    assert found[1] == pytest.approx([1 / 3] * 3)


def test_doubt_goes_down_with_shots() -> None:
    """Ten shots leave a tenth of the smoothing of one; a zero-shot class has twice that of one."""
    assert smoothing_for(np.array([0, 1, 10], dtype=np.float32)) == pytest.approx(
        [2 * SMOOTHING, SMOOTHING, SMOOTHING / 10]
    )


def _held_out(right: int, wrong: int) -> HeldOutChances:
    chances = np.tile(np.array([0.7, 0.3], dtype=np.float32), (right + wrong, 1))
    classes = np.repeat([0, 1], [right, wrong]).astype(np.int64)
    return HeldOutChances(
        chances, np.arange(len(classes)), classes, np.full_like(chances, 1e6), 0, no_branches(2)
    )


def test_the_power_follows_held_out_shots() -> None:
    """95 of 100 right where 70% was predicted sharpens, 55 flattens, 70 changes little."""
    assert power_from(_held_out(700, 300), 1.0, 1.0) == pytest.approx(1, rel=0.06)
    assert power_from(_held_out(950, 50), 1.0, 1.0) > 1.3
    assert power_from(_held_out(550, 450), 1.0, 1.0) < 0.6
    assert 1 <= power_from(_held_out(3, 0), 1.0, 1.0) < 1.4
    assert power_from(_held_out(0, 0), 0.8, 1.0) == 0.8
    assert power_from(_held_out(950, 50), MOST_POWER, 1.0) == MOST_POWER
    assert _held_out(3, 2).hits == 3


def test_held_out_shots_from_elsewhere_are_not_believed() -> None:
    """They have their siblings among the shots, and the collection has none of them.

    At half the similarity, little.
    """
    assert power_from(_held_out(95, 5), 1.0, 0.5) < 1.15 < power_from(_held_out(95, 5), 1.0, 1.0)


def test_the_expected_power() -> None:
    """It rises with similarity and shots and falls with shots from elsewhere."""
    usual = expected_power(similarity=0.5, shots=1, familiarity=1)
    assert expected_power(similarity=0.7, shots=1, familiarity=1) == pytest.approx(
        usual * np.exp(0.2 * SIMILARITY)
    )
    assert expected_power(similarity=0.5, shots=5, familiarity=1) == pytest.approx(usual * 5**SHOTS)
    assert expected_power(similarity=0.5, shots=1, familiarity=0.25) == pytest.approx(
        usual * 0.25**FAMILIARITY
    )
    assert expected_power(similarity=1, shots=10_000_000, familiarity=1) == MOST_POWER


def test_disagreement_of_the_regression_makes_imbalanced_collections_less_sure() -> None:
    """While classes are of one size it is no evidence."""
    usual = expected_power(similarity=0.5, shots=1, familiarity=1)
    assert (
        expected_power(similarity=0.5, shots=1, familiarity=1, imbalance=0, agreement=0.5) == usual
    )
    agreed = expected_power(
        similarity=0.5, shots=1, familiarity=1, imbalance=1, agreement=AGREED[1]
    )
    assert agreed == pytest.approx(usual)
    doubtful = expected_power(
        similarity=0.5, shots=1, familiarity=1, imbalance=1, agreement=AGREED[1] - 0.2
    )
    assert doubtful == pytest.approx(usual * np.exp(-0.2 * AGREEMENT))


@pytest.mark.parametrize(
    ("shots", "imbalance", "agreement", "expected"),
    [
        (5, 0, 1, 0),
        (5, 1, AGREED[0], 0),
        (1, 1, 1, 0),
        (2, 1, 1, PRIORS / 2),
        (1_000_000, 1, 1, PRIORS),
    ],
)
def test_estimated_sizes_count_with_shots_and_agreement(
    shots: float, imbalance: float, agreement: float, expected: float
) -> None:
    found = prior_power(shots=shots, imbalance=imbalance, agreement=agreement)
    assert found == pytest.approx(expected, abs=1e-5)


# -- familiarity -----------------------------------------------------------------------------------


def _crowds(apart: float) -> tuple[CollectionBasis, AnchorLabels]:
    """Pairs of look-alikes; shots are one of each of the first pairs, moved away from the other."""
    generator = np.random.default_rng(0)
    one = generator.normal(size=(60, 24))
    pairs = np.stack([one, one + 0.3 * generator.normal(size=one.shape)], axis=1)
    pairs[:20, 0] += apart * generator.normal(size=(20, 24))
    embeddings = unit(pairs.reshape(120, 24))
    shots = np.arange(0, 40, 2)
    basis = collection_basis(np.arange(120), embeddings, labelled=shots)
    assert basis is not None
    return basis, anchor_labels(shots.tolist(), [[place] for place in range(20)], 20)


def test_familiar_shots_have_look_alikes_in_the_collection() -> None:
    """Shots drawn from the collection are as alike to it as it is to itself.

    From elsewhere they are less so.
    """
    assert familiarity_of(*_crowds(0.0)) > 0.9
    assert (
        familiarity_of(*_crowds(0.0))
        > familiarity_of(*_crowds(0.6))
        > familiarity_of(*_crowds(3.0))
    )
    assert LEAST <= familiarity_of(*_crowds(3.0)) < 0.7


def test_without_shots_or_without_others_everything_is_familiar() -> None:
    """There is nothing to compare."""
    basis, labels = _crowds(0.0)
    assert familiarity_of(basis, labels.without(np.arange(20))) == 1
    everybody = anchor_labels(range(120), [[place] for place in range(120)], 120)
    assert familiarity_of(basis, everybody) == 1


OAKS_AND_A_PINE = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1]], dtype=np.float32)
"""Two oaks and a pine: all are trees, each kind is a branch."""


def test_by_hand() -> None:
    """Sums of 0.8 and 0.2, to the power; what lies above all candidates tells nothing."""
    branches = Branches.telling(OAKS_AND_A_PINE)
    assert branches.roll_up.tolist() == [[1, 0], [1, 0], [0, 1]]
    oak, pine = 0.8 ** float(BRANCH_POWER), 0.2 ** float(BRANCH_POWER)
    expected = np.array([0.5 * oak, 0.3 * oak, 0.2 * pine])
    found = branches.lean(np.array([[0.5, 0.3, 0.2]], dtype=np.float32))
    assert found[0] == pytest.approx(expected / expected.sum(), abs=1e-6)
    assert found[0, :2].sum() > 0.85


def test_the_mean_over_what_is_above_a_candidate() -> None:
    """Of a candidate with two ancestors the geometric mean counts, so that depth costs nothing."""
    deep = Branches.telling(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.float32))
    flat = Branches.telling(np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32))
    claims = np.array([[0.2, 0.1, 0.7], [0, 0, 1]], dtype=np.float32)
    assert deep.lean(claims) == pytest.approx(flat.lean(claims), abs=1e-6)


def test_without_branches_claims_stay() -> None:
    """A flat list of classes, and classes below one root."""
    claims = np.array([[0.6, 0.4]], dtype=np.float32)
    for roll_up in (np.zeros((2, 0), dtype=np.float32), np.ones((2, 1), dtype=np.float32)):
        assert (Branches.telling(roll_up).lean(claims) == claims).all()


def test_order_within_a_branch_stays() -> None:
    """Probabilities sum to one, and siblings with the same classes above them keep their ratio."""
    claims = np.random.default_rng(0).dirichlet(np.ones(3), 50).astype(np.float32)
    found = Branches.telling(OAKS_AND_A_PINE).lean(claims)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert found[:, 0] / found[:, 1] == pytest.approx(claims[:, 0] / claims[:, 1], rel=1e-4)


def test_weights_of_plain_embeddings_hold_for_whitened_ones() -> None:
    """The same differences between images, but for directions that whitening leaves out."""
    given = crowd(10)
    basis = given.basis(given.shots(2))
    weights = (
        np.random.default_rng(0).normal(size=(3, given.embeddings.shape[1])).astype(np.float32)
    )
    raw = (given.embeddings - basis.whitening.mean) @ basis.whitening.matrix
    found = raw @ basis.unfold(weights).T
    expected = (given.embeddings - basis.whitening.mean) @ weights.T
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.99

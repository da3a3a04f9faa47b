import numpy as np
import pytest
from numpy.typing import NDArray

from engine.graph.codes import NO_CLASS
from research.transfer.class_sizes import SHOT_SIZES, SIZES
from research.transfer.draws import COARSE_LABELS, Situation, draw, resampled_rows
from tests.support.transfer import collection_of, small_graph

BASIL, MINT, SAGE, OAK, PINE, MOSS = 3, 4, 5, 7, 8, 10
HERBS, TREES = 2, 6
TRAIN = {BASIL: 30, MINT: 25, SAGE: 12, OAK: 4, PINE: 2, MOSS: 1}
COLLECTION = collection_of(TRAIN, {BASIL: 3, OAK: 2}, small_graph())
UNEVEN = collection_of(
    {BASIL: 30, MINT: 25, SAGE: 12, OAK: 4, PINE: 2, MOSS: 1},
    {BASIL: 90, MINT: 40, SAGE: 40, OAK: 20, PINE: 3, MOSS: 30, TREES: 7},
    small_graph(),
)
"""Seven images of val have no leaf."""
FORMS = [(sizes, shots) for sizes in SIZES for shots in SHOT_SIZES]


def sizes_of(rows: NDArray[np.int64]) -> dict[int, int]:
    """Images of each class."""
    return dict(
        zip(
            *(each.tolist() for each in np.unique(UNEVEN.class_ids[rows], return_counts=True)),
            strict=True,
        )
    )


def test_each_image_has_one_part() -> None:
    """Shots, coarse labels and the rest partition all images; val is unlabelled."""
    for coarse in (False, True):
        found = draw(COLLECTION, Situation(coarse, 3), seed=1)
        everything = np.concatenate([found.shots, found.coarse, found.unlabelled])
        assert sorted(everything.tolist()) == list(range(len(COLLECTION.files)))
        assert COLLECTION.is_train[np.concatenate([found.shots, found.coarse])].all()
    assert draw(COLLECTION, Situation(has_coarse_labels=False, shots=3), seed=1).coarse.size == 0


def test_a_class_with_few_images_keeps_one_back() -> None:
    """Of four oaks and two pines one image each stays unlabelled; the only moss is a shot."""
    found = draw(COLLECTION, Situation(has_coarse_labels=False, shots=5), seed=0)
    ids, counts = np.unique(COLLECTION.class_ids[found.shots], return_counts=True)
    assert dict(zip(ids.tolist(), counts.tolist(), strict=True)) == {
        BASIL: 5,
        MINT: 5,
        SAGE: 5,
        OAK: 3,
        PINE: 1,
        MOSS: 1,
    }


def test_coarse_labels_are_of_further_images_below() -> None:
    """At most 20 of a coarse class, of images below it."""
    found = draw(COLLECTION, Situation(has_coarse_labels=True, shots=2), seed=4)
    labelled = dict(zip(*np.unique(found.coarse_ids, return_counts=True), strict=True))
    assert labelled == {HERBS: COARSE_LABELS, TREES: 3}
    for row, coarse in zip(found.coarse.tolist(), found.coarse_ids.tolist(), strict=True):
        assert int(COLLECTION.class_ids[row]) in COLLECTION.graph.descendants(coarse)


def test_draws_are_paired() -> None:
    """Draws are deterministic; more shots contain fewer; coarse labels do not change the shots."""
    one, three = (
        draw(COLLECTION, Situation(has_coarse_labels=False, shots=shots), seed=7)
        for shots in (1, 3)
    )
    again = draw(COLLECTION, Situation(has_coarse_labels=True, shots=3), seed=7)
    assert set(one.shots.tolist()) < set(three.shots.tolist())
    assert again.shots.tolist() == three.shots.tolist()
    other = draw(COLLECTION, Situation(has_coarse_labels=False, shots=3), seed=8)
    assert other.shots.tolist() != three.shots.tolist()


def test_elsewhere_only_labelled_images_and_val_are_there() -> None:
    """Labels are those of the default situation; the rest of train is left out."""
    val = np.flatnonzero(~COLLECTION.is_train)
    for coarse in (False, True):
        usual = draw(COLLECTION, Situation(coarse, 3), seed=2)
        found = draw(COLLECTION, Situation(coarse, 3, is_elsewhere=True), seed=2)
        assert found.shots.tolist() == usual.shots.tolist()
        assert found.coarse.tolist() == usual.coarse.tolist()
        assert found.coarse_ids.tolist() == usual.coarse_ids.tolist()
        assert found.unlabelled.tolist() == val.tolist()
        assert found.rows.tolist() == sorted(
            {*usual.shots.tolist(), *usual.coarse.tolist(), *val.tolist()}
        )
        assert usual.rows.tolist() == list(range(len(COLLECTION.files)))


@pytest.mark.parametrize("is_elsewhere", [False, True])
@pytest.mark.parametrize(("sizes", "shot_sizes"), FORMS)
def test_every_form_is_a_draw(sizes: str, shot_sizes: str, *, is_elsewhere: bool) -> None:
    """Disjoint parts, each class with a shot, none with more than in train; deterministic."""
    for coarse in (False, True):
        situation = Situation(coarse, 3, is_elsewhere, sizes, shot_sizes)
        found, again = draw(UNEVEN, situation, seed=5), draw(UNEVEN, situation, seed=5)
        assert (found.shots.tolist(), found.rows.tolist()) == (
            again.shots.tolist(),
            again.rows.tolist(),
        )
        assert len(np.unique(found.rows)) == len(found.shots) + len(found.coarse) + len(
            found.unlabelled
        )
        assert UNEVEN.is_train[np.concatenate([found.shots, found.coarse])].all()
        shots = sizes_of(found.shots)
        assert shots.keys() == TRAIN.keys()
        assert all(count <= max(1, TRAIN[leaf] - 1) for leaf, count in shots.items())
        assert (NO_CLASS in sizes_of(found.unlabelled)) == (sizes == "as-is")
        assert not (is_elsewhere and UNEVEN.is_train[found.unlabelled].any())
    fewer = draw(UNEVEN, Situation(False, 1, is_elsewhere, sizes, shot_sizes), seed=5)
    more = draw(UNEVEN, Situation(False, 3, is_elsewhere, sizes, shot_sizes), seed=5)
    assert set(fewer.shots.tolist()) < set(more.shots.tolist())


def test_sizes_of_a_collection() -> None:
    """Equal, by Zipf's law, and one class of two thirds; other seeds draw other images."""
    equal, zipf, large = (
        [
            sizes_of(draw(UNEVEN, Situation(False, 1, True, form), seed).unlabelled)
            for seed in range(4)
        ]
        for form in ("equal", "zipf", "one-large")
    )
    assert equal == [dict.fromkeys(TRAIN, 3)] * 4
    for sizes in zipf:
        wanted = max(sizes.values()) / np.arange(1, 7)
        assert max(sizes, key=lambda leaf: sizes[leaf]) in {BASIL, MINT, SAGE}
        assert sum(sizes.values()) <= np.rint(wanted).sum()
        assert sum(sizes.values()) >= np.rint(wanted).sum() - 17  # pines are three at most
    for sizes in large:
        assert max(sizes.values()) in {90, 40}
        assert sum(sizes.values()) == max(sizes.values()) * 3 // 2
    images = [
        draw(UNEVEN, Situation(False, 1, True, "equal"), seed).unlabelled.tolist()
        for seed in (0, 1)
    ]
    assert images[0] != images[1]


def test_shots_in_proportion() -> None:
    """In total as many as equal ones, if available; in proportion to the resampled collection."""
    as_is = sizes_of(draw(UNEVEN, Situation(False, 3, True, "as-is", "proportional"), seed=0).shots)
    assert sum(as_is.values()) == 3 * 6
    assert as_is == {BASIL: 8, MINT: 3, SAGE: 3, OAK: 2, PINE: 1, MOSS: 1}
    even = sizes_of(draw(UNEVEN, Situation(False, 3, True, "equal", "proportional"), seed=0).shots)
    assert max(even.values()) - even[BASIL] <= 1


def test_shots_in_order_of_appearance() -> None:
    """The common class has most on average, and a missing class gets one."""
    counts = [
        sizes_of(draw(UNEVEN, Situation(False, 3, True, "as-is", "common-first"), seed).shots)
        for seed in range(10)
    ]
    assert all(18 <= sum(each.values()) <= 23 for each in counts)
    assert len({tuple(each.values()) for each in counts}) > 5
    assert np.mean([each[BASIL] for each in counts]) > 5


def test_names_for_tables() -> None:
    """One shot, several shots, coarse labels."""
    situations = [Situation(False, 1), Situation(False, 5), Situation(True, 1)]
    assert [each.name for each in situations] == ["1 shot", "5 shots", "1 shot + coarse"]


def test_all_images_are_resampled_without_shots() -> None:
    """Unchanged, all images of leaves; with one large class the others have half in total."""
    assert sum(sizes_of(resampled_rows(UNEVEN, "as-is", seed=0)).values()) == len(UNEVEN.files) - 7
    sizes = sizes_of(resampled_rows(UNEVEN, "one-large", seed=3))
    largest = max(sizes.values())
    assert largest // 2 - 1 <= sum(sizes.values()) - largest <= largest // 2
    assert set(sizes) == {BASIL, MINT, SAGE, OAK, PINE, MOSS}
    assert (
        resampled_rows(UNEVEN, "zipf", seed=3).tolist()
        == resampled_rows(UNEVEN, "zipf", seed=3).tolist()
    )

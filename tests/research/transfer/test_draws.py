import numpy as np

from research.transfer.draws import COARSE_LABELS, Situation, draw
from tests.support.transfer import collection_of, small_graph

BASIL, MINT, SAGE, OAK, PINE, MOSS = 3, 4, 5, 7, 8, 10
HERBS, TREES = 2, 6
TRAIN = {BASIL: 30, MINT: 25, SAGE: 12, OAK: 4, PINE: 2, MOSS: 1}
COLLECTION = collection_of(TRAIN, {BASIL: 3, OAK: 2}, small_graph())


def test_each_image_has_one_part() -> None:
    """Shots, coarse labels and the rest share out all images; nothing of val is labelled."""
    for coarse in (False, True):
        found = draw(COLLECTION, Situation(coarse, 3), seed=1)
        everything = np.concatenate([found.shots, found.coarse, found.unlabelled])
        assert sorted(everything.tolist()) == list(range(len(COLLECTION.files)))
        assert COLLECTION.is_train[np.concatenate([found.shots, found.coarse])].all()
    assert draw(COLLECTION, Situation(has_coarse_labels=False, shots=3), seed=1).coarse.size == 0


def test_a_class_with_few_images_keeps_one_back() -> None:
    """Five shots of four oaks are three, of two pines one; the only moss is a shot."""
    found = draw(COLLECTION, Situation(has_coarse_labels=False, shots=5), seed=0)
    ids, counts = np.unique(COLLECTION.class_ids[found.shots], return_counts=True)
    assert dict(zip(ids.tolist(), counts.tolist(), strict=True)) == {
        BASIL: 5, MINT: 5, SAGE: 5, OAK: 3, PINE: 1, MOSS: 1,
    }  # fmt: skip


def test_coarse_labels_are_of_further_images_below() -> None:
    """At most 20 of a coarse class, of images below it."""
    found = draw(COLLECTION, Situation(has_coarse_labels=True, shots=2), seed=4)
    labelled = dict(zip(*np.unique(found.coarse_ids, return_counts=True), strict=True))
    assert labelled == {HERBS: COARSE_LABELS, TREES: 3}
    for row, coarse in zip(found.coarse.tolist(), found.coarse_ids.tolist(), strict=True):
        assert int(COLLECTION.class_ids[row]) in COLLECTION.graph.descendants(coarse)


def test_draws_are_paired() -> None:
    """A seed gives the same draw; more shots contain fewer; coarse labels leave the shots; other seeds differ."""
    one, three = (draw(COLLECTION, Situation(has_coarse_labels=False, shots=shots), seed=7) for shots in (1, 3))
    again = draw(COLLECTION, Situation(has_coarse_labels=True, shots=3), seed=7)
    assert set(one.shots.tolist()) < set(three.shots.tolist())
    assert again.shots.tolist() == three.shots.tolist()
    other = draw(COLLECTION, Situation(has_coarse_labels=False, shots=3), seed=8)
    assert other.shots.tolist() != three.shots.tolist()


def test_elsewhere_only_labelled_images_and_val_are_there() -> None:
    """The labels are those of the usual situation; the rest of train is not in the collection."""
    val = np.flatnonzero(~COLLECTION.is_train)
    for coarse in (False, True):
        usual = draw(COLLECTION, Situation(coarse, 3), seed=2)
        found = draw(COLLECTION, Situation(coarse, 3, is_elsewhere=True), seed=2)
        assert found.shots.tolist() == usual.shots.tolist()
        assert found.coarse.tolist() == usual.coarse.tolist()
        assert found.coarse_ids.tolist() == usual.coarse_ids.tolist()
        assert found.unlabelled.tolist() == val.tolist()
        assert found.rows.tolist() == sorted({*usual.shots.tolist(), *usual.coarse.tolist(), *val.tolist()})
        assert usual.rows.tolist() == list(range(len(COLLECTION.files)))


def test_names_for_tables() -> None:
    """One shot, several shots, coarse labels."""
    situations = [Situation(False, 1), Situation(False, 5), Situation(True, 1)]
    assert [each.name for each in situations] == ["1 shot", "5 shots", "1 shot + coarse"]

import numpy as np
import pytest
from sklearn import metrics

from research.transfer.draws import Situation, draw
from research.transfer.parts import accuracies_of, by_part, scored
from research.transfer.results import BALANCED, MACRO_F1, TOP1
from tests.support.transfer import collection_of, small_graph

COLLECTION = collection_of({3: 4, 4: 2}, {3: 2, 1: 1}, small_graph())


def test_figures_of_all_and_of_each_part() -> None:
    """Six photos of train and two of val; a photo without a leaf is not scored."""
    rows = np.flatnonzero(COLLECTION.class_ids >= 0)
    found = by_part(COLLECTION, rows, lambda chosen: {"images": float(chosen.sum())})
    assert found == {"images": 8, "images_train": 6, "images_val": 2}


def test_one_part_alone_is_all_there_is() -> None:
    """Elsewhere only val is scored, without parts."""
    drawn = draw(COLLECTION, Situation(False, 1, is_elsewhere=True), seed=0)
    rows = scored(COLLECTION, drawn)
    assert by_part(COLLECTION, rows, lambda chosen: {"images": float(chosen.sum())}) == {
        "images": 2
    }


@pytest.mark.parametrize("seed", range(5))
def test_accuracies_are_those_of_scikit_learn(seed: int) -> None:
    """On random predictions, with missing and additional classes."""
    generator = np.random.default_rng(seed)
    answers = generator.choice([2, 3, 5, 9, 11], 60, p=[0.6, 0.2, 0.1, 0.05, 0.05])
    given = np.where(generator.random(60) < 0.5, answers, generator.choice([1, 2, 3, 7, 9], 60))
    there = np.unique(answers)
    expected = {
        TOP1: metrics.accuracy_score(answers, given),
        BALANCED: metrics.recall_score(answers, given, labels=there, average="macro"),
        MACRO_F1: metrics.f1_score(answers, given, labels=there, average="macro"),
    }
    assert accuracies_of(answers, given) == pytest.approx(expected)

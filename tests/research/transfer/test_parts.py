import numpy as np

from research.transfer.draws import Situation, draw
from research.transfer.parts import by_part, scored
from tests.support.transfer import collection_of, small_graph

COLLECTION = collection_of({3: 4, 4: 2}, {3: 2, 1: 1}, small_graph())


def test_figures_of_all_and_of_each_part() -> None:
    """Six photos of train and two of val; a photo of no leaf is not scored."""
    rows = np.flatnonzero(COLLECTION.class_ids >= 0)
    found = by_part(COLLECTION, rows, lambda chosen: {"images": float(chosen.sum())})
    assert found == {"images": 8, "images_train": 6, "images_val": 2}


def test_one_part_alone_is_all_there_is() -> None:
    """Elsewhere only val is scored: there is nothing to tell apart."""
    drawn = draw(COLLECTION, Situation(False, 1, is_elsewhere=True), seed=0)
    rows = scored(COLLECTION, drawn)
    assert by_part(COLLECTION, rows, lambda chosen: {"images": float(chosen.sum())}) == {"images": 2}

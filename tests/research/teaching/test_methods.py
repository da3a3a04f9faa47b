"""Every method selects the requested number of unlabelled images, deterministically."""

import numpy as np
import pytest
from numpy.typing import NDArray

from research.teaching.methods import METHODS, OURS, TeachMethod
from research.teaching.person import ScriptedPerson
from tests.support.transfer import collection_of, embedded, small_graph

BASIL, MINT, SAGE, OAK, PINE, PEAT = 3, 4, 5, 7, 8, 10
LEAVES = (BASIL, MINT, SAGE, OAK, PINE, PEAT)


@pytest.fixture(scope="module")
def person() -> ScriptedPerson:
    """On a read-only collection of six leaves with twelve images each."""
    return ScriptedPerson(
        embedded(collection_of(dict.fromkeys(LEAVES, 10), dict.fromkeys(LEAVES, 2), small_graph())),
        0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_free_images_the_same_each_time(person: ScriptedPerson, name: str) -> None:
    """In the first round nothing is labelled; later there is a model."""
    asked: list[list[int]] = []

    def watched(known: object, count: int) -> NDArray[np.int64]:
        chosen = METHODS[name].choose(known, count)  # type: ignore[arg-type]
        assert len(np.unique(chosen)) == count
        assert not np.isin(chosen, known.labelled).any()  # type: ignore[attr-defined]
        asked.append(chosen.tolist())
        return chosen

    person.label(watched)
    first = list(asked)
    asked.clear()
    outcomes = person.label(watched)
    assert asked == first
    assert [len(chosen) for chosen in asked] == [3, 3, 3, 3, 6, 6, 6]
    assert 0.5 < outcomes[-1].named <= 1
    assert outcomes[-1].predicted <= outcomes[-1].named


def test_ours_finds_all_classes_first(person: ScriptedPerson) -> None:
    """One label per class covers every class of this easy collection."""
    assert person.label(METHODS[OURS].choose)[1].classes == 6


def test_titles_differ() -> None:
    """Titles of rows are unique."""
    titles = [method.title for method in METHODS.values() if isinstance(method, TeachMethod)]
    assert len(set(titles)) == len(METHODS)

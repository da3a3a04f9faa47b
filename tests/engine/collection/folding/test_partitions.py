import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.collection.folding.partitions import ALONE, as_partition, components, groups_of, joined


def test_components_by_hand() -> None:
    """Components 0-2-4 and 1-3; 5 alone."""
    found = components(6, np.array([0, 2, 3]), np.array([2, 4, 1]))
    assert found.tolist() == [0, 1, 0, 1, 0, 5]
    assert groups_of(found).tolist() == [0, 1, 0, 1, 0, ALONE]


def test_a_chain_of_50_000_is_one_component() -> None:
    places = np.random.default_rng(0).permutation(50_000)
    assert components(50_000, places[:-1], places[1:]).max() == 0


def test_joined_by_hand() -> None:
    """Partitions {0, 1} and {1, 2} join to {0, 1, 2}; 3 stays alone."""
    found = joined(np.array([0, 0, ALONE, ALONE]), np.array([ALONE, 5, 5, ALONE]))
    assert found.tolist() == [0, 0, 0, ALONE]


@pytest.mark.slow
@given(st.lists(st.integers(ALONE, 4), max_size=12), st.lists(st.integers(ALONE, 4), max_size=12))
def test_joined_is_what_following_the_links_gives(one: list[int], other: list[int]) -> None:
    count = min(len(one), len(other))
    first, second = np.array(one[:count], dtype=np.int64), np.array(other[:count], dtype=np.int64)
    found = as_partition(joined(first, second))
    expected = list(range(count))
    for _pass in range(count):
        for a in range(count):
            for b in range(a):
                is_linked = any(each[a] == each[b] != ALONE for each in (first, second))
                if is_linked and expected[a] != expected[b]:
                    expected[a] = expected[b] = min(expected[a], expected[b])
    assert found.tolist() == expected


def test_partitions_are_equal_however_they_are_numbered() -> None:
    one, other = np.array([3, ALONE, 3, 1, 1]), np.array([0, ALONE, 0, 7, 7])
    assert as_partition(one).tolist() == as_partition(other).tolist() == [0, 1, 0, 3, 3]

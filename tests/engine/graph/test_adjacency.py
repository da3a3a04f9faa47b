"""Sets of ids that copies share, held against plain sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.graph.adjacency import MOST_IN_TUPLE, SharedSets
from engine.graph.traversal import shortest_way

KEYS = ("a", "b")
verbs = st.sampled_from(("add", "discard", "drop", "copy"))
steps = st.lists(
    st.tuples(verbs, st.integers(0, 3), st.sampled_from(KEYS), st.integers(0, 12)), max_size=80
)


@pytest.mark.slow
@given(steps)
def test_copies_go_their_own_ways(todo: list[tuple[str, int, str, int]]) -> None:
    held: list[SharedSets[str]] = [SharedSets()]
    plain: list[dict[str, set[int]]] = [{key: set() for key in KEYS}]
    for verb, which, key, class_id in todo:
        place = which % len(held)
        if verb == "add":
            held[place].add(key, class_id)
            plain[place][key].add(class_id)
        elif verb == "discard":
            held[place].discard(key, class_id)
            plain[place][key].discard(class_id)
        elif verb == "drop":
            held[place].drop(key)
            plain[place][key].clear()
        else:
            held.append(held[place].copy())
            plain.append({each: set(ids) for each, ids in plain[place].items()})
        assert [{each: set(sets.of(each)) for each in KEYS} for sets in held] == plain
        assert [len(sets) for sets in held] == [
            sum(bool(ids) for ids in one.values()) for one in plain
        ]


def test_many_ids_of_a_key_are_added_and_taken_in_no_time() -> None:
    sets: SharedSets[int] = SharedSets()
    many = 100_000
    for class_id in range(many):
        sets.add(0, class_id)
    for class_id in range(many - MOST_IN_TUPLE):
        sets.discard(0, class_id)
    assert sorted(sets.of(0)) == list(range(many - MOST_IN_TUPLE, many))


def test_the_shortest_way_has_both_ends_and_is_empty_where_none_leads() -> None:
    edges = {1: (2, 3), 2: (4,), 3: (5,), 4: (5,), 5: (), 6: (1,)}
    assert shortest_way(edges.__getitem__, 1, 5) == (1, 3, 5)
    assert shortest_way(edges.__getitem__, 1, 1) == (1,)
    assert shortest_way(edges.__getitem__, 1, 6) == ()

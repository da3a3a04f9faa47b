from engine.training.level_wise.ancestors import edges_from_ancestors
from tests.support.category_graphs import two_branches
from tests.support.few_shot_problems import colour_training_set


def test_every_ancestor_becomes_a_parent() -> None:
    """Through a chain and through two parents: each pair once; nothing else changes."""
    training_set = two_branches(pairs=((0, 1), (1, 2), (0, 3), (2, 4), (3, 4)))
    reaching = edges_from_ancestors(training_set)
    assert reaching.edge_index.T.tolist() == [[0, 1], [0, 2], [1, 2], [0, 3], [0, 4], [1, 4], [2, 4], [3, 4]]
    assert reaching.ancestors == training_set.ancestors
    assert reaching.pixels is training_set.pixels


def test_doing_it_again_changes_nothing() -> None:
    """Ancestors of ancestors are there already."""
    reaching = edges_from_ancestors(colour_training_set())
    assert reaching.edge_index.shape == (2, 4 + 12 * 2)
    assert (edges_from_ancestors(reaching).edge_index == reaching.edge_index).all()


def test_without_edges() -> None:
    """No edge stays no edge, in the same shape."""
    assert edges_from_ancestors(two_branches(pairs=())).edge_index.shape == (2, 0)

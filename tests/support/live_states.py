"""Comparing a live collection with a freshly opened one."""

import copy as copy_module

import numpy as np

from engine.collection.live import LiveCollection
from engine.collection.state import CollectionState, ImageStatus
from engine.config import CacheFolders

SCORE_TOLERANCE = 1e-4


def fresh_state(live: LiveCollection, caches: CacheFolders) -> CollectionState:
    """The state of a new opening."""
    other = LiveCollection.open(live.project.path, caches, for_writing=False)
    try:
        return other.load()
    finally:
        other.close()


def own_copy(state: CollectionState) -> CollectionState:
    """A deep copy."""
    copy = copy_module.deepcopy(state)
    assert not np.shares_memory(copy.best_score, state.best_score)
    return copy


def assert_same(
    found: CollectionState, expected: CollectionState, *, tolerance: float = SCORE_TOLERANCE
) -> None:
    """Equal classes, flags, counts and names; scores within the tolerance."""
    assert found.model_name == expected.model_name
    assert found.folder == expected.folder
    assert list(found.paths) == list(expected.paths)
    for name in ("image_ids", "label_class", "best_class", "safe_class", "is_unknown", "status"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    for name in ("best_score", "safe_score"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=0, atol=tolerance, err_msg=name
        )
    assert (_failed(found), found.is_list_only) == (_failed(expected), expected.is_list_only)
    assert dict(found.shot_counts) == dict(expected.shot_counts)
    assert dict(found.image_counts) == dict(expected.image_counts)


def _failed(state: CollectionState) -> dict[int, str]:
    """Reasons of images shown as failed; others may have one of a former backbone."""
    failed = state.image_ids[state.status == ImageStatus.FAILED].tolist()
    return {image_id: state.failures[image_id] for image_id in failed}

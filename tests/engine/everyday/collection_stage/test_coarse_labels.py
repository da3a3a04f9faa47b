"""What classes are that coarse labels alone name."""

import numpy as np

from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import Shots
from tests.support.collection_stage import crowd
from tests.support.everyday import PRIOR, some_shots


def test_a_class_of_coarse_labels_alone_keeps_its_images(propagation: PropagationSession) -> None:
    """Eight images that are only known to be of one family, and three of each leaf elsewhere.

    Its leaves have no shot, so that neither class sizes nor the regression knew of the family.
    """
    given = crowd()
    family = given.graph.find("family 1")
    is_own = np.isin(given.truth, sorted(given.graph.descendants(family)))
    fine, rows = given.shots(3), np.flatnonzero(is_own)[::20]
    others = some_shots(fine, np.flatnonzero(~np.isin(fine.class_ids, given.truth[is_own])))
    order = np.argsort(np.concatenate([others.image_ids, given.image_ids[rows]]))
    shots = Shots(
        np.concatenate([others.image_ids, given.image_ids[rows]])[order],
        np.concatenate([others.class_ids, np.full(len(rows), family)])[order],
        np.concatenate([others.embeddings, given.embeddings[rows]])[order],
    )
    model = fit(given.graph, shots, propagation, PRIOR, basis=given.basis(shots))
    safe = model.classify(given.embeddings).safe_class
    assert (safe[is_own] == family).mean() > 0.8
    assert (safe[~is_own] == family).mean() < 0.1

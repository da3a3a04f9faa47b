"""The collection stage: what the unlabelled and coarse-labelled images add to the paper's model.

A named step on top of Eq. 2 to 6 that can be switched off. It is checked by shots held out, and
drops itself where it would do worse on them than the model without it. Ours, not the paper's; the
paper's experiments never use it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.arrays import Floats, Integers
from engine.everyday.back_off import BackOff
from engine.everyday.blocks import (
    Embeddings,
    block_of,
    factor_of,
    in_blocks,
    no_similarity,
    to_floats,
)
from engine.everyday.classifier import CollectionFigures
from engine.everyday.collection_stage.anchor_labels import AnchorLabels
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.calibration import Calibration
from engine.everyday.collection_stage.class_balance import ClassBalance
from engine.everyday.collection_stage.neighbours import Links, links_to
from engine.everyday.collection_stage.novelty import Novelty
from engine.everyday.collection_stage.refinement import Refined, chances_of, joined
from engine.everyday.prototypical.classification import LinearClassifier, scores_of, softmax
from engine.everyday.scores import HeldOutShots, Scores
from engine.everyday.unseen import UnseenClasses

PASS_ROWS = 256
"""Images classified at a time by a core. Chosen: their links and chances stay in its cache."""
ELSEWHERE = 0.8
"""Familiarity below which shots were taken in another place: the collection has nothing similar."""
ENOUGH_SHOTS = 10  # fewer shots may be odd by chance

Rows = slice | Integers


@dataclass(frozen=True)
class CollectionStage:
    """A fitted stage."""

    basis: CollectionBasis  # that it was fitted to
    labels: AnchorLabels  # what was held fixed
    balance: ClassBalance  # the mean from which images are compared with prototypes
    # Of the shots alone; None where chances do not depend on it
    regression: LinearClassifier | None
    refined: Refined  # prototypes and chances of the anchors
    familiarity: float  # similarity of shots to the unlabelled images, in (0, 1]
    calibration: Calibration  # from chances to probabilities
    check: CollectionFigures  # its accuracy on held-out shots
    held_out: HeldOutShots  # with calibrated probabilities
    # Detects images that show none of the classes; None with too little data
    novelty: Novelty | None
    # What probabilities are divided with; None where all classes have examples
    unseen: UnseenClasses | None = None

    @property
    def has_shots_from_elsewhere(self) -> bool:
        """Whether a few labels among the other images would teach most."""
        return self.familiarity < ELSEWHERE and int(self.labels.is_shot.sum()) >= ENOUGH_SHOTS

    def probabilities(self, embeddings: Embeddings, rows: Integers | None = None) -> Floats:
        """Probabilities (n, c) of images (n, d), at rows (n,) of the basis or of new images."""
        return self._answers(embeddings, rows)[0]

    def classify_known(
        self,
        embeddings: Embeddings,
        back_off: BackOff,
        classifier: LinearClassifier,
        *,
        rows: Integers | None = None,
    ) -> Scores:
        """Classify images of the collection.

        Args:
            embeddings: (k, d) of these rows; all without `rows`.
            classifier: of the model without the stage. Scores keep its logits, from which distances
                are computed; the probabilities in them are the stage's.
            rows: (k,) rows in the basis; by default all, in order.
        """
        scores = Scores.empty(len(embeddings))
        factor = factor_of(embeddings)
        logits_of = self._folded(factor)

        def classify_some(part: Rows, at: Rows, links: Links) -> None:
            block = block_of(embeddings[part])
            logits = logits_of(block, self.basis.scales[at])
            images = block * factor
            probabilities, similarity = self._finish(softmax(logits), links, images)
            scores.put(part, _scores(probabilities, similarity, back_off, classifier, images))

        first = None if rows is None else _first_of_consecutive(rows)

        def classify_part(part: slice) -> None:
            at: Rows = part
            if rows is not None:
                at = rows[part] if first is None else slice(first + part.start, first + part.stop)
            classify_some(part, at, links_to(self.basis.found.rows(at)))

        # Anchors have more links. They are few: repeating them is faster than excluding them.
        anchors = (
            self.basis.anchors
            if rows is None
            else np.flatnonzero(self.basis.positions_of(rows) >= 0)
        )

        def classify_anchors(part: slice) -> None:
            at = anchors[part] if rows is None else rows[anchors[part]]
            classify_some(anchors[part], at, self.basis.links_at(at))

        in_blocks(len(embeddings), classify_part, PASS_ROWS)
        in_blocks(len(anchors), classify_anchors, PASS_ROWS)
        return scores

    def classify_new(
        self, embeddings: Embeddings, back_off: BackOff, classifier: LinearClassifier
    ) -> Scores:
        """Classify images (n, d) that may be new; otherwise like `classify_known`."""
        scores = Scores.empty(len(embeddings))
        for start in range(0, len(embeddings), PASS_ROWS):
            part = slice(start, start + PASS_ROWS)
            probabilities, similarity = self._answers(embeddings[part], None)
            images = block_of(embeddings[part]) * factor_of(embeddings)
            scores.put(part, _scores(probabilities, similarity, back_off, classifier, images))
        return scores

    def _folded(self, factor: np.float32) -> Callable[[Floats, Floats], Floats]:
        """Return a function from embeddings (n, d) times `factor`, and scales (n,), to logits."""
        classifier, balance, basis = self.refined.classifier, self.balance, self.basis
        if balance.compared < 1:
            return self._compared(factor)
        constant = classifier.offsets + classifier.breadth
        weights = classifier.weights
        if balance.is_moved:
            weights = np.concatenate([weights, balance.shift[None]])
        folded, shifts = basis.fold(weights)
        folded = (folded.T * factor).astype(np.float32)
        moved = (classifier.weights @ balance.shift).astype(np.float32)

        def logits_of(block: Floats, scales: Floats) -> Floats:
            logits: Floats = block @ folded
            logits -= shifts
            if balance.is_moved:
                logits, along = np.ascontiguousarray(logits[:, :-1]), logits[:, -1]
                logits -= moved
                scales = balance.scales(along, scales)
            logits *= scales[:, None]
            logits += constant
            return logits

        return logits_of

    def _compared(self, factor: np.float32) -> Callable[[Floats, Floats], Floats]:
        """As `_folded` where images are compared in few directions, whose lengths are unknown."""
        whitening, classifier = (
            self.balance.whitening(self.basis.whitening),
            self.refined.classifier,
        )

        def logits_of(block: Floats, scales: Floats) -> Floats:
            vectors = whitening.apply(block * factor)
            vectors[scales == 0] = 0
            return classifier.logits(vectors)

        return logits_of

    def _answers(self, embeddings: Embeddings, rows: Integers | None) -> tuple[Floats, Floats]:
        """Probabilities (n, c) of images, and their similarity (n,) to the labelled ones."""
        basis = self.basis
        if rows is None:
            links = basis.links_of_new(basis.whitening.apply(embeddings))
        else:
            links = basis.links_at(rows)
        whitened = self.balance.whitening(basis.whitening).apply(embeddings)
        chances = chances_of(self.refined.classifier, whitened)
        return self._finish(chances, links, to_floats(embeddings))

    def _finish(self, by_prototype: Floats, links: Links, images: Floats) -> tuple[Floats, Floats]:
        chances = joined(by_prototype, links, self.refined.chances)
        if self.regression is not None:
            chances = self.balance.blend(chances, chances_of(self.regression, images))
        probabilities, similarity = self.calibration.apply(chances), no_similarity(len(images))
        if self.novelty is not None:
            similarity = self.novelty.similarity(links)
        if self.unseen is not None:
            probabilities = self.unseen.divide(probabilities, similarity)
        return probabilities, similarity


def _first_of_consecutive(rows: Integers) -> int | None:
    """The first of consecutive rows (k,), which are read in place; None for others."""
    return int(rows[0]) if len(rows) and bool((np.diff(rows) == 1).all()) else None


def _scores(
    probabilities: Floats,
    similarity: Floats,
    back_off: BackOff,
    classifier: LinearClassifier,
    images: Floats,
) -> Scores:
    def logit_of(best: Integers) -> Floats:
        logit: Floats = np.einsum("nd,nd->n", images, np.take(classifier.weights, best, axis=0))
        logit += classifier.offsets[best] + classifier.breadth[best]
        return logit

    return scores_of(probabilities, similarity, back_off, logit_of)

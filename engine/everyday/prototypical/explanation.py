"""What a prototype is made of, and whose look-alike an image is, in numbers that can be followed back to images."""

from dataclasses import dataclass, replace

import numpy as np

from engine.everyday.classifier import LookAlike, Share
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.stage import CollectionStage
from engine.everyday.prototypical.prototypes import PrototypeTable
from engine.everyday.shots import Shots


@dataclass(frozen=True)
class MadeOf:
    """Shares of a prototype, see `Explanation`."""

    own: Share
    parents: tuple[Share, ...]
    coarse: tuple[Share, ...] = ()
    unlabelled: float = 0.0


def made_of(
    table: PrototypeTable, shots: Shots, place: int, stage: CollectionStage | None, candidate: int | None
) -> MadeOf:
    """What a prototype is made of; the shares sum to 1.

    Args:
        table: all prototypes.
        shots: that they are made from.
        place: of the class in the table.
        stage: what the collection adds.
        candidate: the class among the candidates; None where it is none.
    """
    keep = float(table.lambda_[place])
    edges = np.flatnonzero(table.edges[1] == place)
    own = Share(int(table.class_ids[place]), keep, _images_of(table, shots, place))
    parents = tuple(
        Share(int(table.class_ids[parent]), (1 - keep) * float(weight), _images_of(table, shots, int(parent)))
        for parent, weight in zip(table.edges[0, edges], table.edge_weights[edges], strict=True)
    )
    found = MadeOf(own, tuple(sorted(parents, key=lambda share: -share.share)))
    return found if stage is None or candidate is None else _refined(found, shots, stage, candidate)


def _refined(start: MadeOf, shots: Shots, stage: CollectionStage, candidate: int) -> MadeOf:
    """What the collection stage made of it: the propagated prototype keeps a share, the shots have theirs once more."""
    refined = stage.refined
    kept, unlabelled = float(refined.start[candidate]), float(refined.unlabelled[candidate])
    by_shots = 1 - kept - unlabelled - float(refined.coarse[candidate])
    return MadeOf(
        replace(start.own, share=kept * start.own.share + by_shots),
        tuple(replace(parent, share=kept * parent.share) for parent in start.parents),
        _coarse_shares(shots, stage, candidate),
        unlabelled,
    )


def _coarse_shares(shots: Shots, stage: CollectionStage, candidate: int) -> tuple[Share, ...]:
    """The part that images with a coarse label have, by the class they are labelled with."""
    total, positions = float(stage.refined.coarse[candidate]), stage.labels.sharing(candidate)
    parts = stage.refined.chances.at(positions)[:, candidate]
    if total <= 0 or parts.sum() <= 0:
        return ()
    image_ids = stage.basis.image_ids[stage.basis.anchors[positions]]
    order = np.argsort(shots.image_ids, kind="stable")
    label_of = shots.class_ids[order][np.searchsorted(shots.image_ids[order], image_ids)]
    shares = [
        Share(
            int(label), total * float(parts[label_of == label].sum() / parts.sum()),
            tuple(image_ids[label_of == label].tolist()),
        )
        for label in np.unique(label_of)
    ]  # fmt: skip
    return tuple(sorted(shares, key=lambda share: -share.share))


def look_alikes(basis: CollectionBasis, image_id: int) -> tuple[LookAlike, ...]:
    """The images whose classes this one's probabilities follow, the strongest link first."""
    row = int(basis.rows_of(np.array([image_id]))[0])
    if row < 0:
        return ()
    links = basis.links_at(np.array([row]))
    positions, weights = links.positions[0], links.weights[0]
    linked = np.flatnonzero(weights > 0)
    ids = basis.image_ids[basis.anchors[positions[linked]]]
    return tuple(LookAlike(int(other), float(weight)) for other, weight in zip(ids, weights[linked], strict=True))


def _images_of(table: PrototypeTable, shots: Shots, place: int) -> tuple[int, ...]:
    members = table.membership
    positions = members.image_positions[members.class_positions == place]
    return tuple(shots.image_ids[positions].tolist())

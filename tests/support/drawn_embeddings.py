"""An open collection of generated embeddings of any width, without image files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import open_cache
from engine.collection.live import LiveCollection
from engine.collection.models import CARD_SETTING
from engine.collection.new_project import new_project
from engine.collection.state import ImageStatus
from engine.config import CacheFolders
from engine.files import FoundFile
from engine.images.read_file import content_hash
from engine.model_card import BackboneCard, card_text
from engine.project import Change, Project
from tests.support.projects import named

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class DrawnEmbeddings:
    """Project and caches of a missing backbone: only its embeddings exist."""

    live: LiveCollection
    caches: CacheFolders

    @property
    def project(self) -> Project:
        """The open project."""
        return self.live.project

    def add_images(self, count: int) -> tuple[int, ...]:
        """Add pending images; return their ids."""
        folder = self.project.path.parent
        first = len(self.project.history.steps())
        change = self.project.images.add(
            [FoundFile(folder / f"{first}-{place}.jpg", 0, 0) for place in range(count)]
        )
        self.live.apply(change)
        return change.images_added

    def embed(self, embeddings: Mapping[int, Vector | None]) -> None:
        """Apply embeddings by image, as after reading files; None for unreadable ones."""
        hashes = {
            i: content_hash(v.tobytes() + bytes([i % 256]))
            for i, v in embeddings.items()
            if v is not None
        }
        with open_cache(self.live.model, self.caches) as cache:
            for image_id, key in hashes.items():
                cache.put_many([key], np.asarray(embeddings[image_id])[None])
        nothing = content_hash(b"")
        self.project.images.record_scan(
            [(i, hashes.get(i, nothing), None if i in hashes else "empty") for i in embeddings]
        )
        self.live.take_embedded(list(embeddings))

    def act(self, change: Change | None) -> None:
        """Apply an action."""
        if change is not None:
            self.live.apply(change)

    def embed_waiting(self, count: int, kinds: int) -> None:
        """Embed pending images, each near the centre of its kind."""
        state = self.live.state
        waiting = state.image_ids[state.status == ImageStatus.WAITING].tolist()
        self.embed({i: self.near(i % kinds, seed=i) for i in waiting[:count]})

    def near(self, kind: int, *, seed: int) -> Vector:
        """An embedding near the centre of a kind, different by seed."""
        width = self.live.model.card.embedding_width
        vector = np.random.default_rng(1000 + kind).normal(size=width)
        vector = vector + 0.4 * np.random.default_rng(seed).normal(size=width)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


def drawn_embeddings(folder: Path, *, width: int) -> DrawnEmbeddings:
    """An empty loaded project for embeddings of this width."""
    caches, path = CacheFolders(folder / "cache"), folder / "drawn.protoleaf"
    card = BackboneCard(
        "drawn", 8, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), width, temperature=0.12, shrinkage=1.5
    )
    with new_project(path) as project:
        version = project.models.add(
            backbone_name="drawn", backbone_hash="d" * 64, settings={CARD_SETTING: card_text(card)}
        )
        project.models.choose(version.version_id)
    live = LiveCollection.open(path, caches)
    live.load()
    return DrawnEmbeddings(live, caches)


def drawn_kinds(
    folder: Path, parents: Sequence[Sequence[str]], *, images: int, width: int = 12
) -> DrawnEmbeddings:
    """Images around centres, three of each kind labelled, in classes below "A" and "B".

    Args:
        folder: for project and caches.
        parents: names of the parents of each kind's class.
        images: number of images.
        width: of the embeddings.
    """
    made, kinds = drawn_embeddings(folder, width=width), len(parents)
    roots = {name: made.project.classes.add(name)[1] for name in ("A", "B")}
    leaves = [
        made.project.classes.add(f"leaf {kind}", [roots[name] for name in names])[1]
        for kind, names in enumerate(parents)
    ]
    made.live.load()
    ids = made.add_images(images)
    made.embed({image_id: made.near(image_id % kinds, seed=image_id) for image_id in ids})
    with made.project.history.one_step(named("Label some")) as step:
        for image_id in ids[: 3 * kinds]:
            made.project.labels.set([image_id], leaves[image_id % kinds])
    made.act(step.change)
    return made

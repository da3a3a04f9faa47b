"""Generated pictures through the real backbone: in memory and through project files."""

import math
import re
from pathlib import Path

import pytest

from engine.collection.models import BUNDLED_NAME, find_model
from engine.config import CacheFolders
from research.transfer import everyday
from research.transfer.collection import read_collection
from research.transfer.draws import Situation, draw
from research.transfer.embedded import EmbeddedCollection, embed_collection
from research.transfer.parts import scored
from tests.support.transfer import write_shapes


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> CacheFolders:
    """Caches with the embeddings of the pictures."""
    return CacheFolders(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory, caches: CacheFolders) -> EmbeddedCollection:
    """64 drawn pictures of 8 classes, embedded once."""
    collection = read_collection(write_shapes(tmp_path_factory.mktemp("shapes")))
    return embed_collection(collection, find_model(), caches, device="cpu")


@pytest.mark.slow
def test_embeddings_are_of_length_one(shapes: EmbeddedCollection) -> None:
    """One row an image, as in a project."""
    assert shapes.floats.shape == (64, shapes.model.card.embedding_width)
    assert (shapes.floats**2).sum(axis=1) == pytest.approx(1, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("with_collection", [False, True], ids=["stage off", "stage on"])
@pytest.mark.parametrize(
    "situation",
    [Situation(False, 2), Situation(True, 2), Situation(False, 2, is_elsewhere=True)],
    ids=["2 shots", "2 shots + coarse", "2 shots elsewhere"],
)
def test_memory_and_project_file_agree(
    shapes: EmbeddedCollection, caches: CacheFolders, situation: Situation, with_collection: bool
) -> None:
    """Figures in memory equal those of import, embed, classify and evaluate in a project."""
    drawn = draw(shapes.collection, situation, seed=0)
    fast = everyday.in_memory(shapes, drawn, with_collection=with_collection)
    slow = everyday.in_project(
        shapes.collection,
        BUNDLED_NAME,
        drawn,
        caches,
        with_collection=with_collection,
        device="cpu",
    )
    assert {name: fast[name] for name in slow} == pytest.approx(slow, abs=1e-6, nan_ok=True)
    gaps = [
        abs(value) for name, value in fast.items() if re.fullmatch(r"calibration_gap_\d+", name)
    ]
    assert math.fsum(gaps) == pytest.approx(fast["calibration_error"])
    assert 0.2 < fast["top1"] <= 1
    # Else only val is scored.
    assert ("safe_accuracy_val" in fast) == (situation == Situation(False, 2))


def test_scores_only_what_is_unlabelled_and_known(shapes: EmbeddedCollection) -> None:
    """Neither shots nor images with a coarse label count."""
    collection = shapes.collection
    drawn = draw(collection, Situation(True, 1), seed=2)
    rows = set(scored(collection, drawn).tolist())
    assert rows == set(range(64)) - set(drawn.shots.tolist()) - set(drawn.coarse.tolist())


def test_the_basis_is_of_the_collection_alone(shapes: EmbeddedCollection) -> None:
    """Elsewhere it has the labelled images, as anchors, and val only."""
    drawn = draw(shapes.collection, Situation(False, 2, is_elsewhere=True), seed=0)
    basis = shapes.basis_of(drawn.rows, drawn.shots)
    assert basis is not None
    assert basis.image_ids.tolist() == drawn.rows.tolist()
    assert basis.learned_from == 8 * 2 + 8 * 2
    assert (basis.positions_of(basis.rows_of(drawn.shots)) >= 0).all()
    usual = draw(shapes.collection, Situation(False, 2), seed=0)
    everything = shapes.basis_of(usual.rows, usual.shots)
    assert everything is not None
    assert everything.learned_from == 64


def test_what_cannot_be_embedded_is_reported(tmp_path: Path, caches: CacheFolders) -> None:
    """The message has the file that is no image."""
    from engine.errors import InputError

    folder = write_shapes(tmp_path)
    broken = next((folder / "val").rglob("*.png"))
    broken.write_bytes(b"no image")
    with pytest.raises(InputError, match="1 images cannot be embedded"):
        embed_collection(read_collection(folder), find_model(), caches, device="cpu")

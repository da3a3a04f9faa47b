"""Training starts from the backbone in use, and the result embeds as fast."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.collection.embed import embed_project
from engine.collection.models import find_model, model_of
from engine.collection.training.settings import BackboneSettings, Chosen
from engine.collection.training.starts import FromFile, start_of
from engine.collection.training.train import train
from engine.collection.training.trained import TrainedFiles, adopt
from engine.errors import InputError, ModelError
from engine.model_card import write_card
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.eight_bit import eight_bit_path
from engine.runtime.providers import CPU_CHOICE
from engine.training.onnx_conversion import read_model, weights_of
from tests.support.backbones import write_tiny_backbone
from tests.support.collections import Collection

QUICK: Chosen = {"iterations": 1, "points": 1, "device": "cpu", "side": 32}


@pytest.fixture(scope="module")
def trained(
    embedded_once: Collection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TrainedFiles]:
    """One iteration from the bundled backbone at its input size."""
    with Project.open(embedded_once.project, for_writing=False) as project:
        yield train(
            project,
            embedded_once.caches,
            "backbone",
            {**QUICK, "side": None},
            out=tmp_path_factory.mktemp("trained") / "out",
        )


def test_settings_follow_from_the_start(project: Project, collection: Collection) -> None:
    """A lower learning rate and its own input size; Conv4 as in the paper; explicit values stay."""
    current, conv4 = (start_of(project, collection.caches, name) for name in ("current", "conv4"))
    card = find_model().card
    filled = current.filled_in(BackboneSettings())
    assert (current.name, filled.side, filled.learning_rate) == ("leafnet", card.input_side, 3e-4)
    filled = conv4.filled_in(BackboneSettings())
    assert (filled.side, filled.learning_rate) == (84, 1e-3)
    assert conv4.filled_in(BackboneSettings(side=64)).side == 64


@pytest.mark.slow
def test_a_trained_version_is_the_same_network(trained: TrainedFiles) -> None:
    """The same graph with other weights, and equal preprocessing."""
    bundled = find_model()
    assert trained.backbone is not None
    assert trained.backbone.read_bytes() != bundled.backbone.read_bytes()
    assert abs(trained.backbone.stat().st_size - bundled.backbone.stat().st_size) < 1000
    card = trained.card
    assert (card.input_side, card.mean, card.shrinkage) == (
        96,
        bundled.card.mean,
        bundled.card.shrinkage,
    )
    assert (card.name, trained.backbone_name) == ("leafnet", "leafnet")


@pytest.mark.slow
def test_nothing_changes_where_the_trained_weights_have_no_share(
    trained: TrainedFiles, project: Project, collection: Collection
) -> None:
    """Old and new weights are averaged, by default half each."""
    files = train(
        project,
        collection.caches,
        "backbone",
        {**QUICK, "trained_share": 0},
        out=collection.folder / "out",
    )
    assert files.backbone is not None
    assert trained.backbone is not None
    paths = (find_model().backbone, files.backbone, trained.backbone)
    before, same, other = (weights_of(read_model(path)) for path in paths)
    assert all(np.array_equal(before[name], same[name]) for name in before)
    assert not all(np.array_equal(before[name], other[name]) for name in before)
    assert trained.settings["trained_share"] == 0.5


@pytest.mark.slow
def test_a_trained_version_has_its_eight_bit_companion(
    trained: TrainedFiles, project: Project, collection: Collection
) -> None:
    """It is calibrated on the project's images, stored with it and extracted with the backbone."""
    assert trained.eight_bit is not None
    content = trained.eight_bit.read_bytes()
    version = project.models.version(adopt(project, trained))
    shutil.rmtree(collection.caches.models, ignore_errors=True)
    files = model_of(project, collection.caches, version)
    assert eight_bit_path(files.backbone).read_bytes() == content
    companion, plain = (
        BackboneSession(path, files.card, CPU_CHOICE, threads=1)
        for path in (files.backbone, find_model().backbone)
    )
    assert companion.is_eight_bit == plain.is_eight_bit
    assert project.check() == []


@pytest.mark.slow
def test_it_goes_on_from_a_trained_version(
    trained: TrainedFiles, project: Project, collection: Collection
) -> None:
    """A trained version can be trained again."""
    project.models.choose(adopt(project, trained))
    embed_project(project, collection.caches, device="cpu")
    again = train(project, collection.caches, "backbone", QUICK, out=collection.folder / "again")
    assert (again.name, again.parent_id) == ("Trained backbone 2", 2)
    assert again.backbone_hash != trained.backbone_hash


@pytest.mark.slow
def test_it_goes_on_from_a_file_of_anybody(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """An unknown ONNX file gets new propagation and keeps its preprocessing."""
    path = tmp_path / "own.onnx"
    card = write_tiny_backbone(path)
    write_card(
        path, replace(card, name="own", mean=(0.5, 0.5, 0.5), unit_length=True, temperature=0.2)
    )
    files = train(
        project, collection.caches, "backbone", {**QUICK, "start": str(path)}, out=tmp_path / "out"
    )
    assert (files.backbone_name, files.card.mean, files.card.unit_length) == (
        "own",
        (0.5, 0.5, 0.5),
        True,
    )
    assert files.card.embedding_width == card.embedding_width
    project.models.choose(adopt(project, files))
    assert embed_project(project, collection.caches, device="cpu").failed == ()


@pytest.mark.parametrize(
    ("name", "message"), [("nobody", "no such backbone"), ("gone.onnx", "no such backbone")]
)
def test_a_start_that_is_not_there_is_refused(
    name: str, message: str, project: Project, collection: Collection
) -> None:
    """The message lists the choices."""
    with pytest.raises(ModelError, match=message):
        start_of(project, collection.caches, name)


@pytest.mark.slow
def test_a_side_that_the_network_cannot_take_is_refused(tmp_path: Path) -> None:
    """Exported Conv4 has a fixed input size, which the message names."""
    from engine.model.backbone import Conv4
    from engine.training.export import export_backbone
    from tests.support.backbones import tiny_card

    path = tmp_path / "conv4.onnx"
    card = tiny_card(width=256)
    export_backbone(Conv4(32).eval(), path, card, one_side=True)
    files = replace(find_model(), backbone=path, card=card)
    with pytest.raises(
        InputError, match="takes no images of this size: expected 32 px, found 48 px"
    ):
        FromFile(files).network(BackboneSettings(side=48, learning_rate=1e-4))

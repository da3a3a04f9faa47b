"""Which backbone a project uses, and what is reported when its files are not what they should be."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.backbones.model_files import width_agnostic_propagation
from engine.collection.embed import open_cache, open_views_cache
from engine.collection.models import (
    BUNDLED_NAME,
    all_models,
    bundled_backbones,
    choose_version,
    find_model,
    model_of,
)
from engine.collection.new_project import new_project
from engine.config import backbones_folder
from engine.errors import InputError, ModelError, ProjectExistsError, StorageError
from engine.model_card import card_path, card_text
from engine.project import ModelVersion, Project
from tests.support.backbones import WIDTH, write_tiny_backbone
from tests.support.collections import cache_of_test
from tests.support.companions import write_companion
from tests.support.projects import trained_model


@pytest.fixture
def own_backbone(tmp_path: Path) -> Path:
    """A copy of the bundled backbone with its card and propagation file, under another name."""
    bundled, copy = find_model(), tmp_path / "my own.onnx"
    shutil.copy(bundled.backbone, copy)
    shutil.copy(card_path(bundled.backbone), card_path(copy))
    shutil.copy(bundled.propagation, copy.with_suffix(".propagation.onnx"))
    return copy


def test_the_bundled_backbone() -> None:
    """It is found by name, is whole, and the list does not show its propagation file."""
    assert "leafnet" in bundled_backbones()
    assert not [name for name in bundled_backbones() if "propagation" in name]
    model = find_model()
    assert model.is_bundled
    assert model.card.embedding_width > 0
    assert model.propagation.is_file()


def test_a_project_with_a_backbone_of_ones_own(own_backbone: Path, tmp_path: Path) -> None:
    """The file is copied into the library with what belongs to it, so it may move or go afterwards."""
    path, content = tmp_path / "a.protoleaf", own_backbone.read_bytes()
    new_project(path, str(own_backbone)).close()
    own_backbone.unlink()
    with Project.open(path, for_writing=False) as project:
        assert (project.models.current.backbone_path, project.models.current.backbone_name) == (
            "",
            "own-leafnet",
        )
        model = model_of(project, cache_of_test())
    assert model.backbone.is_relative_to(backbones_folder())
    assert model.backbone.read_bytes().startswith(content)
    assert model.has_own_propagation
    assert [each.name for each in all_models()] == [
        BUNDLED_NAME,
        "own-leafnet",
    ]  # its card has "leafnet"


def project_on_a_path(path: Path, backbone: Path) -> Project:
    """A project as earlier versions made them: it remembers the backbone's path."""
    files = find_model(str(backbone))
    return Project.create(
        path,
        backbone_name=backbone.stem,
        backbone_hash=files.backbone_hash,
        backbone_path=str(backbone),
        propagation_hash=files.propagation_hash,
    )


def test_a_backbone_that_changed_or_is_gone(own_backbone: Path, tmp_path: Path) -> None:
    """Other embeddings would be mixed with the old ones, so a changed file is refused, as is a missing one."""
    with project_on_a_path(tmp_path / "a.protoleaf", own_backbone) as project:
        assert model_of(project, cache_of_test()).backbone == own_backbone
        with own_backbone.open("ab") as file:
            file.write(b"\x00")
        with pytest.raises(ModelError, match="has changed since the project was made"):
            model_of(project, cache_of_test())
        own_backbone.unlink()
        with pytest.raises(ModelError, match="no such backbone"):
            model_of(project, cache_of_test())


def test_a_backbone_with_half_its_files(own_backbone: Path) -> None:
    """Without propagation of its own it takes the one for any width; by path alone it needs a card."""
    own_backbone.with_suffix(".propagation.onnx").unlink()
    assert find_model(str(own_backbone)).propagation == width_agnostic_propagation()
    card_path(own_backbone).unlink()
    with pytest.raises(ModelError, match="no card"):
        find_model(str(own_backbone))


def test_places_where_no_project_can_be_made(own_backbone: Path, tmp_path: Path) -> None:
    """They are refused before a backbone is tried out and kept."""
    (tmp_path / "a.protoleaf").write_bytes(b"something")
    with pytest.raises(ProjectExistsError):
        new_project(tmp_path / "a.protoleaf", str(own_backbone))
    with pytest.raises(StorageError, match="folder is missing"):
        new_project(tmp_path / "nowhere" / "a.protoleaf", str(own_backbone))
    assert not backbones_folder().exists()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """An empty project on the bundled backbone."""
    with new_project(tmp_path / "a.protoleaf") as opened:
        yield opened


def _trained(project: Project, *, backbone: bytes = b"network") -> ModelVersion:
    card = replace(find_model().card, temperature=0.5)
    model = replace(trained_model(backbone=backbone), card=card_text(card))
    return project.models.add_trained(model)


def test_embeddings_of_network_and_companion_are_never_mixed(tmp_path: Path) -> None:
    """Neither cache knows what the other has, of one view as of all; what was there is there when it is looked up."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    caches, key = cache_of_test(), b"k" * 32
    models = [find_model(str(tmp_path / "tiny.onnx"))]
    with open_cache(models[0], caches) as cache:
        assert cache.path.name.startswith(models[0].backbone_hash[:32]), (
            "as before there were companions"
        )
        cache.put_many([key], np.ones((1, WIDTH)))
    companion = write_companion(tmp_path / "tiny.onnx", tmp_path / "tiny.onnx")
    for opened in (open_cache, open_views_cache):
        with opened(find_model(str(tmp_path / "tiny.onnx")), caches) as cache:
            assert cache.missing([key]) == [key]
            cache.put_many([key], np.zeros((1, WIDTH)))
    companion.unlink()
    with open_cache(models[0], caches) as cache, open_views_cache(models[0], caches) as views:
        assert cache.get_many([key])[0].tolist() == [[1.0] * WIDTH]
        assert views.missing([key]) == [key]


def test_a_model_trained_in_the_project_is_taken_out_once(project: Project) -> None:
    """Its files lie in the cache under their hashes, its card is its own, and a second look writes nothing."""
    version, caches = _trained(project), cache_of_test()
    model = model_of(project, caches, version)
    assert (model.name, model.card.temperature, model.is_bundled) == (
        "Tuned propagation 1",
        0.5,
        False,
    )
    assert model.backbone.read_bytes() == b"network"
    assert model.propagation.read_bytes() == b"Tuned propagation 1"
    assert sorted(path.name for path in caches.models.iterdir()) == sorted(
        f"{content_hash}.onnx" for content_hash in (version.backbone_hash, version.propagation_hash)
    )
    before = model.backbone.stat()
    assert model_of(project, caches, version) == model
    assert model.backbone.stat().st_ino == before.st_ino
    assert model_of(project, caches).is_bundled  # it was not chosen


def test_taken_out_files_are_made_again(project: Project) -> None:
    """The cache may be deleted at any time, and a file in it that is not what it was is replaced."""
    version, caches = _trained(project), cache_of_test()
    shutil.rmtree(model_of(project, caches, version).backbone.parent)
    backbone = model_of(project, caches, version).backbone
    backbone.write_bytes(b"damaged")
    os.utime(backbone, ns=(1, 1))
    assert model_of(project, caches, version).backbone.read_bytes() == b"network"


def test_the_bundled_backbone_is_not_taken_out(project: Project) -> None:
    """Propagation tuned on the bundled backbone goes on using its file, so embeddings and sessions are shared."""
    bundled = find_model()
    version, caches = _trained(project, backbone=bundled.backbone.read_bytes()), cache_of_test()
    model = model_of(project, caches, version)
    assert (model.backbone, model.backbone_hash) == (bundled.backbone, bundled.backbone_hash)
    assert [path.stem for path in caches.models.iterdir()] == [version.propagation_hash]


def test_a_cache_folder_that_refuses_is_a_message(project: Project) -> None:
    """A file is where the folder should be: the message says where, and nothing is half written."""
    version, caches = _trained(project), cache_of_test()
    caches.root.mkdir(parents=True)
    caches.models.write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot be written to the cache folder"):
        model_of(project, caches, version)


def test_a_broken_card_is_a_message(project: Project) -> None:
    """The version's card is no card: its name is in the message, and other versions go on working."""
    version = project.models.add_trained(replace(trained_model(), card="{}"))
    with pytest.raises(ModelError, match="Tuned propagation 1"):
        model_of(project, cache_of_test(), version)
    assert model_of(project, cache_of_test()).is_bundled


def test_a_version_is_chosen_only_while_its_files_are_there(project: Project) -> None:
    """One action, which undo takes back; a version whose file is gone or that does not exist changes nothing."""
    caches, first = cache_of_test(), project.models.current.version_id
    version = _trained(project)
    choose_version(project, caches, version.version_id)
    assert project.models.current.version_id == version.version_id
    project.history.undo()
    assert project.models.current.version_id == first
    gone = project.models.add(
        backbone_name="gone", backbone_hash="0" * 64, backbone_path="/gone.onnx"
    )
    before = str(project.history.undo_action)
    for version_id, error in ((gone.version_id, ModelError), (99, InputError)):
        with pytest.raises(error):
            choose_version(project, caches, version_id)
    assert (project.models.current.version_id, str(project.history.undo_action)) == (first, before)

"""The backbone of a project, and errors about changed or missing files."""

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
    """A renamed copy of the bundled backbone with card and propagation file."""
    bundled, copy = find_model(), tmp_path / "my own.onnx"
    shutil.copy(bundled.backbone, copy)
    shutil.copy(card_path(bundled.backbone), card_path(copy))
    shutil.copy(bundled.propagation, copy.with_suffix(".propagation.onnx"))
    return copy


def test_the_bundled_backbone() -> None:
    """It is found by name and complete; the list omits its propagation file."""
    assert "leafnet" in bundled_backbones()
    assert not [name for name in bundled_backbones() if "propagation" in name]
    model = find_model()
    assert model.is_bundled
    assert model.card.embedding_width > 0
    assert model.propagation.is_file()


@pytest.mark.slow
def test_a_project_with_a_backbone_of_ones_own(own_backbone: Path, tmp_path: Path) -> None:
    """File, card and propagation are copied to the library; the originals may be removed."""
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
    ]  # its card says "leafnet"


def project_on_a_path(path: Path, backbone: Path) -> Project:
    """A project of an earlier version, which stores the backbone's path."""
    files = find_model(str(backbone))
    return Project.create(
        path,
        backbone_name=backbone.stem,
        backbone_hash=files.backbone_hash,
        backbone_path=str(backbone),
        propagation_hash=files.propagation_hash,
    )


def test_a_backbone_that_changed_or_is_gone(own_backbone: Path, tmp_path: Path) -> None:
    """Both are refused, since other embeddings must not be mixed with the old ones."""
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
    """Without propagation the generic one is used; without a card a path is not enough."""
    own_backbone.with_suffix(".propagation.onnx").unlink()
    assert find_model(str(own_backbone)).propagation == width_agnostic_propagation()
    card_path(own_backbone).unlink()
    with pytest.raises(ModelError, match="no card"):
        find_model(str(own_backbone))


def test_places_where_no_project_can_be_made(own_backbone: Path, tmp_path: Path) -> None:
    """Invalid locations are refused before a backbone is tried and copied."""
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
    """Their caches are separate, for one view and for all."""
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
    """Files are extracted to the cache by hash, once, with the card of the version."""
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
    assert model_of(project, caches).is_bundled  # not chosen


def test_taken_out_files_are_made_again(project: Project) -> None:
    """Missing or changed files in the cache are extracted again."""
    version, caches = _trained(project), cache_of_test()
    shutil.rmtree(model_of(project, caches, version).backbone.parent)
    backbone = model_of(project, caches, version).backbone
    backbone.write_bytes(b"damaged")
    os.utime(backbone, ns=(1, 1))
    assert model_of(project, caches, version).backbone.read_bytes() == b"network"


def test_the_bundled_backbone_is_not_taken_out(project: Project) -> None:
    """Propagation tuned on the bundled backbone uses its file, so embeddings are shared."""
    bundled = find_model()
    version, caches = _trained(project, backbone=bundled.backbone.read_bytes()), cache_of_test()
    model = model_of(project, caches, version)
    assert (model.backbone, model.backbone_hash) == (bundled.backbone, bundled.backbone_hash)
    assert [path.stem for path in caches.models.iterdir()] == [version.propagation_hash]


def test_a_cache_folder_that_refuses_is_a_message(project: Project) -> None:
    """An error names the folder, and no partial files are left."""
    version, caches = _trained(project), cache_of_test()
    caches.root.mkdir(parents=True)
    caches.models.write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot be written to the cache folder"):
        model_of(project, caches, version)


def test_a_broken_card_is_a_message(project: Project) -> None:
    """An error names the version; other versions work."""
    version = project.models.add_trained(replace(trained_model(), card="{}"))
    with pytest.raises(ModelError, match="Tuned propagation 1"):
        model_of(project, cache_of_test(), version)
    assert model_of(project, cache_of_test()).is_bundled


def test_a_version_is_chosen_only_while_its_files_are_there(project: Project) -> None:
    """One undoable action; a missing file or version changes nothing."""
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

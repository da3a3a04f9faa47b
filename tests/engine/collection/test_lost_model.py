"""A project whose backbone is missing opens, with a message about what to do."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from engine.backbones.library import BackboneLibrary
from engine.backbones.model_files import own_propagation, width_agnostic_propagation
from engine.backbones.preprocessing import stamp_of
from engine.collection.backbone_change import prepare_change, use_backbone
from engine.collection.embed import embed_project
from engine.collection.live import LiveCollection
from engine.collection.models import (
    CARD_SETTING,
    find_model,
    missing_model_reason,
    model_of,
    model_or_fallback,
)
from engine.collection.state import CollectionState, ImageStatus
from engine.errors import ModelError
from engine.project import Project
from tests.support.collections import Collection
from tests.support.companions import write_companion
from tests.support.live_states import assert_same, own_copy
from tests.support.other_backbones import add_to_library
from tests.support.projects import dump

pytestmark = pytest.mark.slow


@pytest.fixture
def changed(live: LiveCollection, collection: Collection, tmp_path: Path) -> CollectionState:
    """The state of a closed collection that uses a backbone of the library."""
    add_to_library(tmp_path)
    prepared = prepare_change(live.project, collection.caches, "tinyleaf", device="cpu")
    state = own_copy(
        live.apply(use_backbone(live.project, "tinyleaf", prepared.backbone_hash, prepared.news))
    )
    live.close()
    return state


def opened(collection: Collection) -> LiveCollection:
    """The loaded collection."""
    live = LiveCollection.open(collection.project, collection.caches)
    live.load()
    return live


def test_the_project_opens_with_what_it_knows(
    changed: CollectionState, collection: Collection
) -> None:
    """Labels and predictions of embedded images stay; embedding fails with a remedy."""
    with Project.open(collection.project, for_writing=False) as project:
        before = dump(project)
    BackboneLibrary().remove("tinyleaf")
    live = opened(collection)
    try:
        assert dump(live.project) == before
        assert (live.state.status == ImageStatus.READY).all()
        assert live.state.model_name == "tinyleaf"
        assert (live.state.label_class == changed.label_class).all()
        assert (live.state.best_class >= 0).all()
        reason = missing_model_reason(live.project, collection.caches)
        assert "no such backbone" in reason
        assert "choose another backbone; classes and labels are safe" in reason
        with pytest.raises(ModelError, match="classes and labels are safe"):
            embed_project(live.project, collection.caches, device="cpu")
    finally:
        live.close()


def test_what_a_companion_embedded_is_found_without_its_files(
    live: LiveCollection, collection: Collection, tmp_path: Path
) -> None:
    """The identity of a companion's embeddings is read from the name of their cache."""
    add_to_library(tmp_path)
    backbone = find_model("tinyleaf").backbone
    write_companion(backbone, backbone)
    identity = find_model("tinyleaf").embedding_identity
    prepared = prepare_change(live.project, collection.caches, "tinyleaf", device="cpu")
    live.apply(use_backbone(live.project, "tinyleaf", prepared.backbone_hash, prepared.news))
    live.close()
    BackboneLibrary().remove("tinyleaf")
    again = opened(collection)
    try:
        assert again.model.embedding_identity == identity != again.model.backbone_hash
        assert (again.state.status == ImageStatus.READY).all()
    finally:
        again.close()


def test_a_card_that_cannot_be_read_is_no_hindrance(
    changed: CollectionState, collection: Collection
) -> None:
    """An unreadable card, as of a newer version, does not hide the width of embeddings."""
    width = find_model("tinyleaf").card.embedding_width
    BackboneLibrary().remove("tinyleaf")
    with Project.open(collection.project, for_writing=False) as project:
        version = replace(
            project.models.current, settings={CARD_SETTING: '{"name": "tinyleaf", "colours": 4}'}
        )
        assert model_or_fallback(project, collection.caches, version).card.embedding_width == width


def test_the_name_is_taken_on_another_computer(
    changed: CollectionState, collection: Collection
) -> None:
    """Another backbone has its name, and it has another one: it is found by its hash."""
    files = find_model("tinyleaf")
    BackboneLibrary().add(files.backbone, replace(files.card, name="elsewhere"))
    with files.backbone.open("ab") as file:
        file.write(stamp_of(replace(files.card, value_scale=2.0)))
    with Project.open(collection.project, for_writing=False) as project:
        assert model_of(project, collection.caches).name == "elsewhere"
        assert missing_model_reason(project, collection.caches) == ""


def test_another_backbone_mends_it_and_undo_is_no_trap(
    changed: CollectionState, collection: Collection
) -> None:
    """Choosing another backbone works; undo returns to the cached embeddings of the missing one."""
    BackboneLibrary().remove("tinyleaf")
    live = opened(collection)
    try:
        without_file = own_copy(live.state)
        prepared = prepare_change(live.project, collection.caches, "leafnet", device="cpu")
        assert prepared.comparison.before is None
        assert prepared.comparison.after is not None
        live.apply(use_backbone(live.project, "leafnet", prepared.backbone_hash))
        assert missing_model_reason(live.project, collection.caches) == ""
        change = live.project.history.undo()
        assert change is not None
        assert_same(live.apply(change), without_file, tolerance=0)
    finally:
        live.close()


def test_without_embeddings_all_images_wait(
    changed: CollectionState, collection: Collection
) -> None:
    """Without backbone and cache the project opens with its labels and classes."""
    BackboneLibrary().remove("tinyleaf")
    shutil.rmtree(collection.caches.embeddings)
    live = opened(collection)
    try:
        assert (live.state.status == ImageStatus.WAITING).all()
        assert (live.state.label_class == changed.label_class).all()
        assert len(live.project.classes.graph)
    finally:
        live.close()


def test_the_width_is_found_without_a_card(
    changed: CollectionState, collection: Collection
) -> None:
    """A version from an older program has no card: the cache's name gives the width."""
    version_files = find_model("tinyleaf")
    with Project.open(collection.project) as project:
        project.models.choose(
            project.models.add(
                backbone_name="tinyleaf",
                backbone_hash=version_files.backbone_hash,
                backbone_path=str(version_files.backbone),
            ).version_id
        )
    BackboneLibrary().remove("tinyleaf")
    with Project.open(collection.project, for_writing=False) as project:
        found = model_or_fallback(project, collection.caches)
    assert found.card.embedding_width == version_files.card.embedding_width
    assert found.propagation == width_agnostic_propagation()
    assert not found.backbone.exists()


@pytest.mark.parametrize("path", [".", "/", "..", "a\0b"])
def test_a_path_that_names_no_file_is_a_lost_model(path: str, collection: Collection) -> None:
    """The path of a backbone in a project from elsewhere can be anything."""
    with Project.open(collection.project) as project:
        version = replace(project.models.current, backbone_path=path)
        assert (
            model_or_fallback(project, collection.caches, version).propagation
            == width_agnostic_propagation()
        )


def test_a_file_that_changed_is_as_good_as_gone(
    live: LiveCollection, collection: Collection, tinyleaf: Path
) -> None:
    """Embeddings of two networks are not mixed: the cached ones are shown unchanged."""
    prepared = prepare_change(live.project, collection.caches, str(tinyleaf), device="cpu")
    live.apply(use_backbone(live.project, str(tinyleaf), prepared.backbone_hash))
    state = own_copy(live.load())  # with copies by fingerprints read since
    live.close()
    with tinyleaf.open("ab") as file:
        file.write(b"\x00")
    again = opened(collection)
    try:
        assert "has changed since the project was made" in missing_model_reason(
            again.project, collection.caches
        )
        assert own_propagation(tinyleaf).is_file()
        assert_same(again.state, state, tolerance=0)
    finally:
        again.close()


def test_a_backbone_that_moved_within_the_library_is_found(
    changed: CollectionState,
    collection: Collection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A backbone of another path on another computer is found by its hash."""
    (tmp_path / "backbones").rename(tmp_path / "moved")
    monkeypatch.setenv("PROTOLEAF_BACKBONES", str(tmp_path / "moved"))
    with Project.open(collection.project, for_writing=False) as project:
        assert missing_model_reason(project, collection.caches) == ""
        assert model_or_fallback(project, collection.caches).backbone.is_relative_to(
            tmp_path / "moved"
        )

"""Changing the backbone: all or nothing, measured, undone without embedding."""

from pathlib import Path

import numpy as np
import pytest

from engine.collection.backbone_change import PreparedChange, prepare_change, use_backbone
from engine.collection.classify import classify_project
from engine.collection.embed import embed_project, open_cache
from engine.collection.fitting import policies_of
from engine.collection.live import LiveCollection
from engine.collection.models import find_model
from engine.collection.project_folds import folds_of_project
from engine.collection.state import ImageStatus
from engine.embedding.messages import EmbedResult
from engine.errors import Cancelled, InputError, ModelError, ProjectReadOnlyError, StorageError
from engine.events import CancelToken, Progress
from engine.project import ClassPolicy, Project
from tests.support.collections import Collection
from tests.support.live_states import assert_same, own_copy
from tests.support.projects import change_file, dump

IMAGES = 64


def change_to(live: LiveCollection, collection: Collection, source: Path) -> PreparedChange:
    """Prepare a backbone change and apply it to the live collection."""
    prepared = prepare_change(live.project, collection.caches, str(source), device="cpu")
    live.apply(use_backbone(live.project, prepared.source, prepared.backbone_hash, prepared.news))
    return prepared


@pytest.mark.slow
def test_labels_graph_and_bars_stay(
    live: LiveCollection, collection: Collection, tinyleaf: Path
) -> None:
    """Only the model version changes; every image is embedded and classified at once."""
    live.project.policies.set(1, ClassPolicy(bar=0.9))
    before, graph = dump(live.project), live.project.classes.graph.copy()
    prepared = change_to(live, collection, tinyleaf)
    after = dump(live.project)
    assert {table for table in before if before[table] != after[table]} == {"setting"}
    assert sorted(live.project.classes.graph.edges()) == sorted(graph.edges())
    assert policies_of(live.project)[1].bar == 0.9
    assert (prepared.name, prepared.embedded, prepared.failed) == ("tinyleaf", IMAGES, ())
    assert live.project.models.current.backbone_hash == find_model(str(tinyleaf)).backbone_hash
    assert live.state.model_name == "tinyleaf"
    assert (live.state.status == ImageStatus.READY).all()


@pytest.mark.slow
def test_undo_and_redo_are_exact_and_embed_nothing(
    live: LiveCollection, collection: Collection, tinyleaf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit-identical in the same run and after a restart, without loading a backbone."""
    old = own_copy(live.state)
    change_to(live, collection, tinyleaf)
    new = own_copy(live.state)
    assert not np.array_equal(old.best_score, new.best_score)
    monkeypatch.setattr("engine.runtime.backbone.BackboneSession", None)
    for take, expected in (
        (live.project.history.undo, old),
        (live.project.history.redo, new),
        (live.project.history.undo, old),
    ):
        change = take()
        assert change is not None
        assert change.text == "Changed the backbone to tinyleaf"
        assert_same(live.apply(change), expected, tolerance=0)
    live.close()
    again = LiveCollection.open(collection.project, collection.caches)
    try:
        assert_same(again.load(), old, tolerance=0)
        change = again.project.history.redo()
        assert change is not None
        assert_same(again.apply(change), new, tolerance=0)
        assert again.project.check() == []
    finally:
        again.close()


@pytest.mark.slow
def test_a_cancelled_change_goes_on_from_its_cache(collection: Collection, tinyleaf: Path) -> None:
    """The project file is unchanged; the next attempt embeds only missing images."""
    token = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.done:
            token.cancel()

    content = collection.project.read_bytes()
    with Project.open(collection.project, for_writing=False) as project:
        with pytest.raises(Cancelled):
            prepare_change(
                project,
                collection.caches,
                str(tinyleaf),
                device="cpu",
                on_progress=stop,
                cancel=token,
            )
        with open_cache(find_model(str(tinyleaf)), collection.caches) as cache:
            done = IMAGES - len(
                cache.missing([key for key in project.images.table().content_hashes if key])
            )
        prepared = prepare_change(project, collection.caches, str(tinyleaf), device="cpu")
    assert done > 0
    assert prepared.embedded == IMAGES - done
    assert collection.project.read_bytes() == content


@pytest.mark.slow
def test_a_prepared_change_that_is_not_used_changes_nothing(
    collection: Collection, tinyleaf: Path
) -> None:
    """The file is unchanged."""
    content = collection.project.read_bytes()
    with Project.open(collection.project, for_writing=False) as project:
        prepare_change(project, collection.caches, str(tinyleaf), device="cpu")
        with pytest.raises(ProjectReadOnlyError):
            use_backbone(project, str(tinyleaf), find_model(str(tinyleaf)).backbone_hash)
    assert collection.project.read_bytes() == content


@pytest.mark.slow
def test_both_are_measured_on_the_same_shots(
    live: LiveCollection, collection: Collection, tinyleaf: Path
) -> None:
    """Accuracy is that of tuning; the counts of changed predictions explain the difference."""
    folds_of_project(
        live.project, collection.caches
    )  # reads the fingerprints needed to find copies
    live.load()
    assert live.fitted is not None
    before, folds = live.fitted.figures, live.folds
    comparison = change_to(live, collection, tinyleaf).comparison
    after = classify_project(live.project, collection.caches, folds=folds).fitted.figures
    assert comparison.before == pytest.approx(before.accuracy)
    assert comparison.after == pytest.approx(after.accuracy)
    assert comparison.shots == before.shots_checked
    assert comparison.gained is not None
    assert comparison.lost is not None
    assert comparison.before is not None
    assert comparison.after is not None
    difference = (comparison.gained - comparison.lost) / comparison.shots
    assert difference == pytest.approx(comparison.after - comparison.before)


@pytest.mark.slow
def test_going_back_does_not_add_the_version_again(
    live: LiveCollection, collection: Collection, tinyleaf: Path
) -> None:
    """A known version is used again, such as the bundled backbone, without embedding."""
    old = own_copy(live.state)
    change_to(live, collection, tinyleaf)
    prepared = prepare_change(live.project, collection.caches, "leafnet", device="cpu")
    assert prepared.embedded == 0
    live.apply(use_backbone(live.project, "leafnet", prepared.backbone_hash))
    assert [version.label for version in live.project.models.versions()] == ["leafnet", "tinyleaf"]
    assert live.project.models.current.version_id == 1
    assert_same(live.state, old, tolerance=0)


def test_the_backbone_in_use_is_refused(live: LiveCollection, collection: Collection) -> None:
    """It raises an error."""
    with pytest.raises(InputError, match="uses this backbone already"):
        prepare_change(live.project, collection.caches, "leafnet", device="cpu")


@pytest.mark.slow
def test_a_backbone_that_changed_meanwhile_is_refused(
    live: LiveCollection, collection: Collection, tinyleaf: Path
) -> None:
    """Its embeddings would not match the file."""
    prepared = prepare_change(live.project, collection.caches, str(tinyleaf), device="cpu")
    with tinyleaf.open("ab") as file:
        file.write(b"\x00")
    before = dump(live.project), live.project.models.versions()
    with pytest.raises(ModelError, match="has changed since the images were embedded"):
        use_backbone(live.project, prepared.source, prepared.backbone_hash)
    assert (dump(live.project), live.project.models.versions()) == before


@pytest.mark.slow
def test_a_refused_step_leaves_no_version(
    live: LiveCollection, collection: Collection, tinyleaf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk fails between adding and choosing the version, both are rolled back."""
    prepared = prepare_change(live.project, collection.caches, str(tinyleaf), device="cpu")
    before = dump(live.project), live.project.models.versions()

    def fail(*_arguments: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr("engine.project.models.put_setting", fail)
    with pytest.raises(StorageError):
        use_backbone(live.project, prepared.source, prepared.backbone_hash)
    assert (dump(live.project), live.project.models.versions()) == before
    assert str(live.project.history.undo_action) != "Changed the backbone to tinyleaf"


@pytest.mark.slow
def test_facts_that_cannot_be_kept_leave_the_backbone(
    live: LiveCollection, collection: Collection, tinyleaf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change reported as failed by a write error of image facts is rolled back."""
    prepared = prepare_change(live.project, collection.caches, str(tinyleaf), device="cpu")
    before = dump(live.project), live.project.models.versions()

    def fail(*_arguments: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr("engine.project.images.store_facts", fail)
    news = [EmbedResult(int(live.state.image_ids[0]), None, "unreadable")]
    with pytest.raises(StorageError):
        use_backbone(live.project, prepared.source, prepared.backbone_hash, news)
    assert (dump(live.project), live.project.models.versions()) == before


@pytest.mark.slow
def test_images_that_fail_stay_listed(
    live: LiveCollection, collection: Collection, tinyleaf: Path
) -> None:
    """An unreadable image is reported and marked; after undo the old embedding is used."""
    old = own_copy(live.state)
    lost = live.state.path_of(int(live.state.image_ids[-1]))
    lost.unlink()
    prepared = change_to(live, collection, tinyleaf)
    assert [failure.path for failure in prepared.failed] == [lost]
    assert live.state.status[-1] == ImageStatus.FAILED
    assert (live.state.status[:-1] == ImageStatus.READY).all()
    change = live.project.history.undo()
    assert change is not None
    assert_same(live.apply(change), old, tolerance=0)


@pytest.mark.slow
def test_facts_of_images_that_were_never_read_reach_the_project(
    collection: Collection, tinyleaf: Path
) -> None:
    """Facts of images of a never embedded project are stored by the change."""
    change_file(collection.project, "DELETE FROM image_fact")
    live = LiveCollection.open(collection.project, collection.caches)
    try:
        live.load()
        prepared = change_to(live, collection, tinyleaf)
        assert len(prepared.news) == IMAGES
        assert (live.state.status == ImageStatus.READY).all()
    finally:
        live.close()


@pytest.mark.slow
def test_new_images_are_embedded_with_the_new_backbone(
    live: LiveCollection, collection: Collection, tinyleaf: Path
) -> None:
    """Images added after the change are embedded with the new backbone."""
    change_to(live, collection, tinyleaf)
    summary = embed_project(live.project, collection.caches, device="cpu")
    assert (summary.embedded, summary.from_cache) == (0, IMAGES)

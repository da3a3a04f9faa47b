"""A project made from an embedded data set: images and embeddings are taken over."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.collection.embed import embed_project, open_cache
from engine.collection.importing import data_set as importing
from engine.collection.importing.data_set import project_of_data_set
from engine.collection.importing.import_images import import_images
from engine.collection.live import LiveCollection
from engine.collection.models import find_model
from engine.collection.new_project import new_project
from engine.collection.state import ImageStatus
from engine.config import CacheFolders
from engine.dataset.embedded_rows import EmbeddedRows
from engine.dataset.manifest import read_manifest, write_manifest
from engine.dataset.opened import DataSet
from engine.embedding.cache import EmbeddingCache
from engine.errors import Cancelled, InputError, ModelError, ProjectExistsError
from engine.events import CancelToken
from engine.project import Project
from tests.support.data_sets import embedded, write_tar
from tests.support.images import write_jpeg

COUNT = 12


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Twelve photos, a torn one, and the first two in an archive."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(COUNT):
        write_jpeg(folder / f"{number:02d}.jpg", seed=number)
    (folder / "torn.jpg").write_bytes(b"\xff\xd8\xff no photo")
    write_tar(
        folder / "more.tar",
        {f"{number:02d}.jpg": (folder / f"{number:02d}.jpg").read_bytes() for number in (0, 1)},
    )
    return folder


@pytest.fixture
def data_set(photos: Path, tmp_path: Path) -> DataSet:
    """They are embedded in shards of five."""
    return embedded([photos], tmp_path / "set")


@pytest.fixture
def caches(tmp_path: Path) -> CacheFolders:
    """Empty caches."""
    return CacheFolders(tmp_path / "cache")


@pytest.mark.slow
def test_images_and_embeddings_are_those_of_the_data_set(
    data_set: DataSet, photos: Path, tmp_path: Path, caches: CacheFolders
) -> None:
    """Bit-identical to the desktop's, in one history step, failures with reasons."""
    path = tmp_path / "of-set.protoleaf"
    done = project_of_data_set(path, data_set.folder, caches)
    assert (done.images, done.embedded, done.doubles) == (COUNT + 3, COUNT + 2, 0)
    desktop, model = CacheFolders(tmp_path / "desktop"), find_model("leafnet")
    with new_project(tmp_path / "own.protoleaf", "leafnet") as own:
        import_images(own, [photos])
        embed_project(own, desktop, device="cpu")
        hashes = [
            bytes.fromhex(each.content_hash) for each in own.images.records() if each.content_hash
        ]
    with open_cache(model, caches) as ours, open_cache(model, desktop) as theirs:
        (found, is_found), (expected, is_expected) = ours.get_many(hashes), theirs.get_many(hashes)
    assert is_found.tolist() == is_expected.tolist()
    assert is_found.sum() == COUNT
    assert np.array_equal(found, expected)
    with Project.open(path) as project:
        by_name = {Path(each.path).name: each for each in project.images.records()}
        assert "torn.jpg" in by_name
        assert by_name["torn.jpg"].failure
        assert project.images.find(photos / "03.jpg") is not None
        assert project.history.undo() is not None
        assert project.images.count == 0
        assert project.history.undo() is None


@pytest.mark.slow
def test_it_is_labelled_and_classified_at_once(
    data_set: DataSet, tmp_path: Path, caches: CacheFolders
) -> None:
    """With two labels all other images get a prediction."""
    path = tmp_path / "of-set.protoleaf"
    project_of_data_set(path, data_set.folder, caches)
    live = LiveCollection.open(path, caches)
    live.apply(
        live.project.classes.edit(lambda graph: [graph.add_class(name) for name in ("a", "b")])
    )
    ready = live.load().image_ids[live.state.status == ImageStatus.READY]
    assert len(ready) == COUNT + 2
    classes = list(live.project.classes.graph.classes())
    for image_id, class_id in zip(ready[:2].tolist(), classes, strict=True):
        state = live.apply(live.project.labels.set([image_id], class_id))
    assert (state.best_class[state.status == ImageStatus.READY] > 0).all()
    live.close()


@pytest.mark.slow
def test_a_path_that_comes_twice_is_one_image(
    data_set: DataSet, tmp_path: Path, caches: CacheFolders
) -> None:
    """The first row counts; duplicates are counted."""
    manifest = read_manifest(data_set.folder)
    first = data_set.folder / "shards" / "0000000.parquet"
    rows = [rows for number in range(manifest.shard_count) for rows in data_set.each_rows(number)]
    twice = replace(rows[0], paths=[rows[0].paths[0]] * len(rows[0].paths))
    assert first.is_file()
    with (
        new_project(tmp_path / "any.protoleaf", "leafnet") as project,
        open_cache(find_model("leafnet"), caches) as cache,
    ):
        assert importing._add(project, cache, twice) == 1  # noqa: SLF001
        assert importing._add(project, cache, rows[0]) == len(rows[0].paths) - 1  # noqa: SLF001
        assert project.images.count == len(rows[0].paths)


@pytest.mark.slow
def test_what_stops_it_leaves_no_project(
    data_set: DataSet, tmp_path: Path, caches: CacheFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelling, a missing shard, and an existing file leave no project."""
    path, cancel, add = tmp_path / "of-set.protoleaf", CancelToken(), importing._add  # noqa: SLF001

    def add_and_cancel(project: Project, cache: EmbeddingCache, rows: EmbeddedRows) -> int:
        cancel.cancel()
        return add(project, cache, rows)

    with monkeypatch.context() as patched:
        patched.setattr(importing, "_add", add_and_cancel)
        with pytest.raises(Cancelled):
            project_of_data_set(path, data_set.folder, caches, cancel=cancel)
    assert not path.exists()
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ProjectExistsError):
        project_of_data_set(path, data_set.folder, caches)
    assert path.read_text(encoding="utf-8") == "mine"
    path.unlink()
    (data_set.folder / "shards" / "0000001.parquet").unlink()
    with pytest.raises(InputError, match="not whole"):
        project_of_data_set(path, data_set.folder, caches)
    assert not path.exists()


def test_a_backbone_that_is_not_here_comes_with_the_data_set(
    data_set: DataSet, tmp_path: Path, caches: CacheFolders
) -> None:
    """The data set's copy is verified and added to the library; a damaged copy is refused."""
    manifest = read_manifest(data_set.folder)
    write_manifest(data_set.folder, replace(manifest, backbone_hash="0" * 64))
    data_set.backbone.write_bytes(b"no network")
    with pytest.raises(ModelError):
        project_of_data_set(tmp_path / "of-set.protoleaf", data_set.folder, caches)
    assert not (tmp_path / "of-set.protoleaf").exists()

"""Shards equal the desktop's cache bit for bit; unreadable images are rows with a reason."""

from pathlib import Path
from threading import current_thread

import fsspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.collection.models import find_model
from engine.dataset.described_folder import DESCRIPTION, SHARDS
from engine.dataset.manifest import BACKBONE_FILE
from engine.dataset.opened import DataSet
from engine.embedding.cache import EmbeddingCache, to_halves
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.errors import InputError, StorageError
from engine.images.find_images import find_images
from engine.images.read_file import content_hash
from engine.runtime.backbone import BackboneSession
from engine.runtime.eight_bit import trial_images
from engine.runtime.providers import CPU_CHOICE
from protoleaf_cluster.embed_shard import SURELY_AWAY, EmbedShards
from protoleaf_cluster.run import one_run
from protoleaf_cluster.shard_work import Resources
from tests.support.collections import Collection
from tests.support.data_sets import begun, embedded, finish, rows_of, write_table, write_tar
from tests.support.images import encoded, picture, write_jpeg

HALF = b"\xff\xd8\xff half of a JPEG"


def desktop_cache(images: Path, folder: Path) -> EmbeddingCache:
    """The desktop's cache of an embedded folder."""
    model = find_model("leafnet")
    cache = EmbeddingCache(folder, model.embedding_identity, model.card.embedding_width)
    requests = [
        EmbedRequest(place, file.path) for place, file in enumerate(find_images([images]).files)
    ]
    embed_files(requests, BackboneSession(model.backbone, model.card, CPU_CHOICE), cache)
    return cache


@pytest.mark.slow
def test_embeddings_equal_the_desktop_s(collection: Collection, tmp_path: Path) -> None:
    """Hashes, sizes and embeddings are identical, in the desktop's order of images."""
    data_set = embedded([collection.folder], tmp_path / "set", shard_images=7)
    found = rows_of(data_set)
    files = find_images([collection.folder]).files
    assert list(found) == [str(file.path) for file in files]
    with desktop_cache(collection.folder, tmp_path / "desktop") as cache:
        for path, (key, size, embedding, status) in found.items():
            assert (key, size) == (content_hash(Path(path).read_bytes()), Path(path).stat().st_size)
            expected, is_there = cache.get_many([key or b""])
            assert (embedding, status) == (expected[0].tobytes(), "embedded")
            assert is_there[0]


@pytest.mark.slow
@pytest.mark.parametrize("is_eight_bit", [False, True])
def test_batches_do_not_change_a_bit(is_eight_bit: bool, tmp_path: Path) -> None:
    """Other batches give identical embeddings."""
    source = find_model("leafnet").backbone
    path = source if is_eight_bit else tmp_path / "alone.onnx"
    if not is_eight_bit:
        path.write_bytes(source.read_bytes())
    session = BackboneSession(path, find_model("leafnet").card, CPU_CHOICE, threads=1)
    pictures = trial_images(session.card.input_side, 12)
    whole = to_halves(session.embed(pictures))
    for size in (1, 2, 3, 5, 8):
        parts = [
            to_halves(session.embed(pictures[start : start + size])) for start in range(0, 12, size)
        ]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


@pytest.mark.slow
def test_beside_a_gpu_one_thread_runs_batches_of_one_size(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any number of decoding threads; rows equal those of the CPU cores."""
    on_cores = rows_of(embedded([collection.folder], tmp_path / "cores", shard_images=100))
    runs, embed = set[tuple[str, int]](), BackboneSession.embed

    def note_and_embed(session: BackboneSession, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        runs.add((current_thread().name, len(images)))
        return embed(session, images)

    monkeypatch.setattr(BackboneSession, "embed", note_and_embed)
    monkeypatch.setattr(BackboneSession, "is_on_gpu", True)
    on_gpu = rows_of(embedded([collection.folder], tmp_path / "gpu", shard_images=100))
    assert on_gpu == on_cores
    assert runs == {("MainThread", 1), ("network_0", 8)}  # opening it embeds one image


@pytest.mark.slow
def test_archives_tables_and_stores_hold_the_same_images(tmp_path: Path) -> None:
    """An image has the same embedding in each source."""
    data = {f"{number}.jpg": encoded(picture(seed=number), "JPEG") for number in range(5)}
    store = fsspec.filesystem("memory")
    (tmp_path / "files").mkdir()
    for name, content in data.items():
        (tmp_path / "files" / name).write_bytes(content)
        store.pipe_file(f"/embedded/{name}", content)
    tar = write_tar(tmp_path / "a.tar", {"0.json": b"{}", **data})
    table = write_table(tmp_path / "b.parquet", data)
    try:
        data_set = embedded(
            [tmp_path / "files", tar, table, "memory://embedded"], tmp_path / "set", shard_images=4
        )
    finally:
        store.rm("/embedded", recursive=True)
    found = rows_of(data_set)
    places = (str(tmp_path / "files"), str(tar), str(table), "memory:///embedded")
    assert set(found) == {f"{place}/{name}" for place in places for name in data}
    for name, content in data.items():
        assert len({found[f"{place}/{name}"] for place in places}) == 1
        assert found[f"{tar}/{name}"][:2] == (content_hash(content), len(content))


@pytest.mark.slow
def test_what_cannot_be_read_is_a_row_with_its_reason(tmp_path: Path) -> None:
    """Damaged, empty, missing, and after a damaged part of an archive; others are embedded."""
    (tmp_path / "photos").mkdir()
    write_jpeg(tmp_path / "photos" / "1.jpg")
    (tmp_path / "photos" / "2.jpg").write_bytes(HALF)
    (tmp_path / "photos" / "3.jpg").touch()
    listed = tmp_path / "list.txt"
    listed.write_text(
        "photos/1.jpg\nphotos/2.jpg\nphotos/3.jpg\nphotos/4.jpg\nmemory://nowhere/5.jpg\n",
        encoding="utf-8",
    )
    tar = write_tar(
        tmp_path / "6.tar",
        {"a.jpg": encoded(picture(), "JPEG"), "b.jpg": encoded(picture(), "JPEG")},
    )
    tar.write_bytes(tar.read_bytes()[:2500])
    data_set = embedded([listed, tar], tmp_path / "set")
    found = {path.rpartition("/")[2]: row for path, row in rows_of(data_set).items()}
    assert {name: row[3] for name, row in found.items()} == {
        "1.jpg": "embedded",
        "2.jpg": "this-is-not-an-image-that-can-be-read",
        "3.jpg": "the-file-is-empty",
        "4.jpg": "the-file-is-not-there",
        "5.jpg": "the-file-is-not-there",
        "a.jpg": "embedded",
        "6.tar": "the-archive-is-damaged-or-incomplete",
    }
    assert found["2.jpg"][:3] == (content_hash(HALF), len(HALF), None)
    assert found["4.jpg"][:3] == (None, None, None)
    reasons = [
        reason
        for number in range(2)
        for rows in data_set.each_rows(number)
        for reason in rows.reasons
    ]
    assert sum(reason is not None for reason in reasons) == data_set.manifest.failed == 5


@pytest.mark.slow
def test_only_missing_and_damaged_shards_are_made(tmp_path: Path) -> None:
    """Valid shards are unchanged, also when sources have changed."""
    (tmp_path / "photos").mkdir()
    for number in range(6):
        write_jpeg(tmp_path / "photos" / f"{number}.jpg", seed=number)
    whole = embedded([tmp_path / "photos"], tmp_path / "set", shard_images=2)
    expected = rows_of(whole)
    paths = [whole.shards.path(number) for number in range(3)]
    paths[0].unlink()
    damaged = bytearray(paths[1].read_bytes())
    damaged[len(damaged) // 3] ^= 1
    paths[1].write_bytes(damaged)
    kept_ns = paths[2].stat().st_mtime_ns
    do = EmbedShards(whole.folder).open(Resources())
    assert [do(number).is_new for number in range(3)] == [True, True, False]
    assert [do(number).is_new for number in range(3)] == [False, False, False]
    assert rows_of(whole) == expected
    assert paths[2].stat().st_mtime_ns == kept_ns


def test_a_changed_archive_is_refused(tmp_path: Path) -> None:
    """Its images would be missing or duplicated."""
    tar = write_tar(tmp_path / "a.tar", {"a.jpg": encoded(picture(), "JPEG")})
    begun([tar], tmp_path / "set")
    write_tar(tar, {f"{number}.jpg": encoded(picture(), "JPEG") for number in range(9)})
    with pytest.raises(
        InputError,
        match="a source has changed since the data set was started: expected 10,240 bytes",
    ):
        finish(tmp_path / "set")
    assert list((tmp_path / "set" / SHARDS).iterdir()) == []


@pytest.mark.slow
def test_a_share_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    """Otherwise thousands of rows would permanently lack embeddings."""
    (tmp_path / "photos").mkdir()
    for number in range(SURELY_AWAY):
        write_jpeg(tmp_path / "photos" / f"{number}.jpg", seed=number)
    begun([tmp_path / "photos"], tmp_path / "set", shard_images=20)
    (tmp_path / "photos").rename(tmp_path / "unplugged")
    with pytest.raises(
        StorageError, match=r"no image of a shard can be reached.*10 unreachable images in shard 0"
    ):
        finish(tmp_path / "set")
    (tmp_path / "unplugged").rename(tmp_path / "photos")
    assert finish(tmp_path / "set").manifest.failed == 0


def test_a_data_set_goes_on_as_it_was_begun(tmp_path: Path, tinyleaf: Path) -> None:
    """Other sources, backbones or shard sizes are refused, and the data set is unchanged."""
    write_jpeg(tmp_path / "1.jpg")
    first = begun([tmp_path / "1.jpg"], tmp_path / "set")
    assert begun([tmp_path / "1.jpg"], tmp_path / "set") == first
    with pytest.raises(
        InputError,
        match=r"its sources cannot change: expected .*/1.jpg, found .*, .*1.jpg\. Name the same",
    ):
        begun([tmp_path / "1.jpg", tmp_path / "1.jpg"], tmp_path / "set")
    with pytest.raises(InputError, match=r"its images a shard cannot change: expected 5, found 6"):
        begun([tmp_path / "1.jpg"], tmp_path / "set", shard_images=6)
    with pytest.raises(
        InputError,
        match=r"its backbone cannot change: expected leafnet \([0-9a-f]{32}\), found tinyleaf",
    ):
        begun([tmp_path / "1.jpg"], tmp_path / "set", model=find_model(str(tinyleaf)))


def test_other_folders_are_refused(tmp_path: Path) -> None:
    """Nothing is overwritten."""
    write_jpeg(tmp_path / "1.jpg")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "letter.txt").touch()
    with pytest.raises(InputError, match="this name is already taken"):
        begun([tmp_path / "1.jpg"], tmp_path / "own")
    with pytest.raises(InputError, match="there is no image: found "):
        begun([tmp_path / "own"], tmp_path / "set")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "cache") == [
        "1.jpg",
        "own",
    ]


def test_one_run_at_a_time(tmp_path: Path) -> None:
    """A second run is refused; drafts of killed runs are removed."""
    write_jpeg(tmp_path / "1.jpg")
    begun([tmp_path / "1.jpg"], tmp_path / "set")
    draft = tmp_path / "set" / SHARDS / ".0123456789abcdef.protoleaf-new"
    draft.touch()
    with one_run(tmp_path / "set"):
        assert not draft.exists()
        with (
            pytest.raises(InputError, match="another run is writing to this folder"),
            one_run(tmp_path / "set"),
        ):
            pass
    with one_run(tmp_path / "set"):
        pass


def test_a_folder_that_a_node_does_not_see(tmp_path: Path) -> None:
    """A worker on another computer raises an error instead of creating the folder."""
    with pytest.raises(
        InputError, match=r"a node of the cluster cannot access the data set.*found .*elsewhere"
    ):
        EmbedShards(tmp_path / "elsewhere").open(Resources())


def test_a_data_set_has_its_backbone(tmp_path: Path) -> None:
    """It has file, card and companion, so that any node can continue it."""
    write_jpeg(tmp_path / "1.jpg")
    manifest = begun([tmp_path / "1.jpg"], tmp_path / "set")
    names = {path.name for path in (tmp_path / "set").iterdir()}
    companion = "backbone.int8.onnx"
    assert names == {
        DESCRIPTION,
        "plan.parquet",
        BACKBONE_FILE,
        "backbone.card.json",
        companion,
        SHARDS,
    }
    found = find_model(str(DataSet(tmp_path / "set", manifest).backbone))
    assert (found.backbone_hash, found.card) == (manifest.backbone_hash, manifest.card)

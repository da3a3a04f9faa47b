"""Data sets of others: which files they may name, and whose embeddings they may replace."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.cli.main import main
from engine.collection.embed import open_cache
from engine.collection.importing.data_set import DataSetProject, project_of_data_set
from engine.collection.models import find_model
from engine.config import CacheFolders
from engine.dataset.embedded_rows import EmbeddedRows
from engine.dataset.manifest import BACKBONE_FILE
from engine.dataset.opened import DataSet
from engine.embedding.cache import imported_file
from engine.errors import FormatError, InputError, ModelError, ProtoleafError
from engine.project import Project
from tests.support.collections import LEAVES, write_shape
from tests.support.data_sets import embedded, write_data_set
from tests.support.images import write_jpeg

COUNT = 6


@pytest.fixture
def caches(tmp_path: Path) -> CacheFolders:
    return CacheFolders(tmp_path / "cache")


@pytest.fixture
def rows(tmp_path: Path) -> EmbeddedRows:
    """Rows of a data set of six photos."""
    for number in range(COUNT):
        write_shape(tmp_path / "photos" / f"{number}.png", LEAVES[number], seed=number)
    made = embedded([tmp_path / "photos"], tmp_path / "made", shard_images=100)
    (found,) = made.each_rows(0)
    return found


def opened(folder: Path, rows: EmbeddedRows, caches: CacheFolders) -> DataSetProject:
    """A project of the data set, in a folder of its own."""
    (folder / "own").mkdir(parents=True)
    return project_of_data_set(
        folder / "own" / "of.protoleaf", write_data_set(folder / "set", [rows]).folder, caches
    )


def seen_by(
    project: Path, rows: EmbeddedRows, caches: CacheFolders
) -> tuple[np.ndarray, list[bool]]:
    with (
        Project.open(project, for_writing=False) as opened,
        open_cache(find_model(), caches, opened) as cache,
    ):
        vectors, found = cache.get_many([key or b"" for key in rows.content_hashes])
    return vectors, found.tolist()


@pytest.mark.slow
def test_a_data_set_of_before_that_names_no_form(
    tmp_path: Path, rows: EmbeddedRows, caches: CacheFolders
) -> None:
    """The local backbone is assumed, and its embeddings are compared."""
    folder = write_data_set(tmp_path / "theirs" / "set", [rows]).folder
    described = next(
        path for path in folder.glob("*.json") if '"embeddings"' in path.read_text(encoding="utf-8")
    )
    fields = json.loads(described.read_text(encoding="utf-8"))
    del fields["embeddings"]
    described.write_text(json.dumps(fields), encoding="utf-8")
    (folder / BACKBONE_FILE).unlink(missing_ok=True)
    done = project_of_data_set(
        tmp_path / "of.protoleaf", folder, caches, image_folders=[tmp_path / "photos"]
    )
    assert (done.embedded, done.compared) == (COUNT, COUNT)


@pytest.mark.slow
def test_files_that_a_data_set_may_name(
    tmp_path: Path, rows: EmbeddedRows, caches: CacheFolders
) -> None:
    """Files in its own, the project's or a permitted folder, with a matching hash, or missing."""
    private = tmp_path / "private"
    private.mkdir()
    write_jpeg(private / "photo.jpg", seed=99)
    (private / "id_rsa").write_text("secret", encoding="utf-8")
    os.mkfifo(private / "pipe.jpg")
    (tmp_path / "link.jpg").symlink_to(private / "photo.jpg")
    named = [
        *("id_rsa", "photo.jpg", "pipe.jpg"),
        "nowhere.jpg",
        "a\0b.jpg",
        "x" * 5000,
        "",
        f"s3://bucket/{'../' * 20}{private}/photo.jpg",
        str(tmp_path / "link.jpg"),
        rows.paths[0],
    ]
    paths = [
        str(private / each) if each.isascii() and "/" not in each and "\0" not in each else each
        for each in named
    ]
    paths[6] = ""
    many = rows.take(np.array([0] * len(paths)))
    done = opened(
        tmp_path / "theirs",
        replace(many, paths=paths, embeddings=rows.embeddings[[0] * len(paths)]),
        caches,
    )
    assert (done.images, done.left_out_count, len(done.left_out)) == (2, 8, 5)
    with Project.open(tmp_path / "theirs" / "own" / "of.protoleaf", for_writing=False) as project:
        taken = {Path(each.path).name for each in project.images.records()}
    assert taken == {"nowhere.jpg", Path(rows.paths[0]).name}


@pytest.mark.slow
def test_a_folder_that_a_person_names(
    tmp_path: Path, rows: EmbeddedRows, caches: CacheFolders
) -> None:
    """In a permitted folder hashes need not match."""
    (tmp_path / "own").mkdir()
    others = replace(rows, content_hashes=[bytes(len(key or b"")) for key in rows.content_hashes])
    data_set = write_data_set(tmp_path / "theirs" / "set", [others])
    path = tmp_path / "own" / "of.protoleaf"
    assert project_of_data_set(path, data_set.folder, caches).left_out_count == COUNT
    path.unlink()
    done = project_of_data_set(path, data_set.folder, caches, image_folders=[tmp_path / "photos"])
    assert (done.images, done.left_out_count, done.compared) == (COUNT, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        lambda vectors: np.roll(vectors, 3, axis=0),
        lambda vectors: -vectors,
        lambda vectors: np.random.default_rng(1).standard_normal(vectors.shape),
    ],
)
def test_embeddings_that_do_not_agree_are_refused(
    tmp_path: Path,
    rows: EmbeddedRows,
    caches: CacheFolders,
    wrong: Callable[[np.ndarray], np.ndarray],
) -> None:
    """Nothing of theirs is stored; locally computed embeddings stay."""
    assert opened(tmp_path / "good", rows, caches).compared == COUNT
    before = seen_by(tmp_path / "good" / "own" / "of.protoleaf", rows, caches)
    with pytest.raises(FormatError, match="not those of its images"):
        opened(
            tmp_path / "bad",
            replace(rows, embeddings=wrong(rows.embeddings).astype(np.float16)),
            caches,
        )
    assert list((tmp_path / "bad" / "own").iterdir()) == []
    assert len(list((caches.embeddings / "imported").iterdir())) == 1
    after = seen_by(tmp_path / "good" / "own" / "of.protoleaf", rows, caches)
    assert np.array_equal(before[0], after[0])


@pytest.mark.slow
def test_embeddings_stay_with_the_project_they_came_to(
    tmp_path: Path, rows: EmbeddedRows, caches: CacheFolders
) -> None:
    """They serve images that cannot be read here; locally computed ones have priority."""
    away = replace(rows, paths=[f"s3://bucket/{number}.jpg" for number in range(COUNT)])
    noise = np.random.default_rng(1).standard_normal(rows.embeddings.shape).astype(np.float16)
    assert opened(tmp_path / "first", away, caches).embedded == COUNT
    assert opened(tmp_path / "other", replace(away, embeddings=noise), caches).compared == 0
    first, other = (tmp_path / name / "own" / "of.protoleaf" for name in ("first", "other"))
    assert np.array_equal(seen_by(first, rows, caches)[0], rows.embeddings)
    assert np.array_equal(seen_by(other, rows, caches)[0], noise)
    with open_cache(find_model(), caches) as shared:
        assert not shared.get_many([key or b"" for key in rows.content_hashes])[1].any()
        shared.put_many([rows.content_hashes[0] or b""], rows.embeddings[:1])
    assert np.array_equal(
        seen_by(other, rows, caches)[0], np.vstack([rows.embeddings[:1], noise[1:]])
    )


@pytest.mark.slow
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0])
def test_what_is_no_embedding_counts_as_failed(
    tmp_path: Path, rows: EmbeddedRows, caches: CacheFolders, value: float
) -> None:
    """One invalid value (NaN, wrong length) is enough; the image gets the reason."""
    vectors = rows.embeddings.copy()
    vectors[0, 3 if value else slice(None)] = value
    assert (
        opened(tmp_path / "theirs", replace(rows, embeddings=vectors), caches).embedded == COUNT - 1
    )
    path = tmp_path / "theirs" / "own" / "of.protoleaf"
    assert seen_by(path, rows, CacheFolders(tmp_path / "empty"))[1] == [False] * COUNT
    with Project.open(path, for_writing=False) as project:
        (failed,) = [each for each in project.images.records() if each.failure]
    assert "not finite" in (failed.failure or "")


def changed(data_set: DataSet, **fields: object) -> Path:
    path = data_set.folder / "manifest.json"
    content = json.loads(path.read_bytes())
    for name, value in fields.items():
        (content["backbone"] if name in content["backbone"] else content)[name] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    return data_set.folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"sha256": "../../victim/my"}, FormatError),
        ({"sha256": "00"}, FormatError),
        ({"sha256": None}, FormatError),
        ({"sha256": "F" * 64}, FormatError),
        ({"shard_count": 10**12, "shards": []}, FormatError),
        ({"shard_count": 9_999_999, "shards": []}, InputError),
        ({"shard_images": 0}, FormatError),
        ({"sha256": "ab" * 32}, ModelError),
        ({"embedding_width": 8}, ProtoleafError),
    ],
)
def test_a_manifest_with_odd_values_is_refused(
    tmp_path: Path,
    rows: EmbeddedRows,
    caches: CacheFolders,
    fields: dict[str, object],
    kind: type[Exception],
) -> None:
    folder = changed(write_data_set(tmp_path / "set", [rows]), **fields)
    with pytest.raises(kind):
        project_of_data_set(tmp_path / "of.protoleaf", folder, caches)
    assert not (tmp_path / "of.protoleaf").exists()


def test_the_backbone_beside_the_manifest_is_compared(
    tmp_path: Path, rows: EmbeddedRows, caches: CacheFolders
) -> None:
    """Also if the backbone that the manifest names is installed."""
    data_set = write_data_set(tmp_path / "set", [rows])
    data_set.backbone.write_bytes(b"another network")
    with pytest.raises(ModelError, match="not the one that made its embeddings"):
        project_of_data_set(tmp_path / "of.protoleaf", data_set.folder, caches)
    narrow = write_data_set(tmp_path / "narrow", [replace(rows, embeddings=rows.embeddings[:, :8])])
    with pytest.raises(ModelError, match="384 values each, found 8"):
        project_of_data_set(tmp_path / "of.protoleaf", narrow.folder, caches)


@pytest.mark.slow
def test_the_command_says_what_it_left_out_and_checked(
    tmp_path: Path,
    rows: EmbeddedRows,
    caches: CacheFolders,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROTOLEAF_CACHE", str(caches.root))
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    paths = [str(tmp_path / "secret.txt"), *rows.paths[1:]]
    write_data_set(tmp_path / "set", [replace(rows, paths=paths)])
    assert main(["new", str(tmp_path / "of.protoleaf"), "--data-set", str(tmp_path / "set")]) == 0
    output = capsys.readouterr().out
    assert "Left out 1 row whose file must not become an image" in output
    assert f"{COUNT - 1} embeddings computed here too: the same." in output
    assert not imported_file(caches.embeddings, "", 1, "00").exists()

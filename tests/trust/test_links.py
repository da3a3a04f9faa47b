"""Links at predictable names do not redirect writing or expose private files."""

import os
import stat
from pathlib import Path

import pytest

from engine.backbones.published.download import PartFile, PartNotes
from engine.cli.main import main
from engine.collection.new_project import new_project
from engine.embedding.cache import EmbeddingCache
from engine.errors import StorageError
from engine.images.thumbnail_cache import ThumbnailCache
from tests.support.collections import Collection

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and permissions of POSIX")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file that must not be written."""
    path = tmp_path / "victim"
    path.write_bytes(b"precious")
    return path


def test_predictions_do_not_follow_a_link_beside_them(
    collection: Collection, victim: Path, tmp_path: Path
) -> None:
    """A link at the name of an earlier release's draft is ignored."""
    folder = tmp_path / "results"
    folder.mkdir()
    trap = folder / f".protoleaf-{os.getpid()}.partial"
    trap.symlink_to(victim)
    assert main(["classify", str(collection.project), "--out", str(folder / "out.csv")]) == 0
    assert victim.read_bytes() == b"precious"
    assert {path.name for path in folder.iterdir()} == {"out.csv", trap.name}


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_caches_do_not_follow_a_link(tmp_path: Path, victim: Path, suffix: str) -> None:
    """The link is moved away and a cache created."""
    with EmbeddingCache(tmp_path / "embeddings", "0" * 64, 4) as cache:
        path = cache.path
    path.unlink()
    path.with_name(path.name + suffix).symlink_to(victim)
    with EmbeddingCache(tmp_path / "embeddings", "0" * 64, 4) as cache:
        assert cache.missing([b"a"]) == [b"a"]
    assert victim.read_bytes() == b"precious"
    assert path.is_file()
    assert not path.is_symlink()


def test_a_download_does_not_follow_a_link(tmp_path: Path, victim: Path) -> None:
    """Neither the file nor its notes; a message says so."""
    part = PartFile(tmp_path / "weights.pth")
    part.path.symlink_to(victim)
    with pytest.raises(StorageError, match="cannot be written"):
        part.start(PartNotes("https://example.org/weights.pth"))
    assert victim.read_bytes() == b"precious"
    assert not part.path.is_symlink(), "taken away, so that the next attempt works"
    notes = tmp_path / "weights.pth.part.json"
    notes.symlink_to(victim)
    part.start(PartNotes("https://example.org/weights.pth"))
    assert victim.read_bytes() == b"precious"


def test_projects_and_caches_are_for_their_owner_alone(tmp_path: Path) -> None:
    """Files 0600, our folders 0700; a user's folder keeps its mode."""
    before = os.umask(0o022)
    try:
        theirs = tmp_path / "theirs"
        theirs.mkdir(mode=0o755)
        with new_project(theirs / "birds.protoleaf") as project:
            project.classes.add("Bird")
            files = [path for path in theirs.iterdir() if not path.name.endswith(".lock")]
            assert {path.name: mode_of(path) for path in files} == {
                path.name: 0o600 for path in files
            }
        with EmbeddingCache(tmp_path / "cache" / "embeddings", "0" * 64, 4) as cache:
            assert {mode_of(path) for path in cache.path.parent.iterdir()} == {0o600}
        thumbnails = ThumbnailCache(theirs)
        thumbnails.put(tmp_path, 1, 1, 1, b"picture")
        assert mode_of(theirs / "thumbnails.sqlite") == 0o600
        thumbnails.close()
    finally:
        os.umask(before)
    assert mode_of(theirs) == 0o755
    assert mode_of(tmp_path / "cache") == mode_of(tmp_path / "cache" / "embeddings") == 0o700

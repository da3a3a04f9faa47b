"""Sources of images: folders as on the desktop, lists, archives, tables and stores."""

import os
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.errors import Cancelled, InputError, NetworkError, StorageError
from engine.events import CancelToken
from engine.images.find_images import FoundImages, find_images
from protoleaf_cluster.plan import IMAGE, TABLE, TAR_FILE, Piece
from protoleaf_cluster.sources import absolute, each_piece
from tests.support.data_sets import write_table, write_tar
from tests.support.images import encoded, picture, write_jpeg

JPEG = encoded(picture(), "JPEG")


def pieces_of(*sources: Path | str, shard_images: int = 5) -> list[Piece]:
    """All pieces of the sources."""
    return list(each_piece(absolute([str(each) for each in sources]), shard_images, FoundImages()))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Nested folders, hidden files, duplicates, other files and names with numbers."""
    folder = tmp_path / "photos"
    for name in (
        "10.jpg",
        "9.jpg",
        "deep/er/1.png",
        "deep/IMG_1.CR2",
        "deep/IMG_1.JPG",
        ".hidden.jpg",
        "notes.doc",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(JPEG)
    return folder


def test_folders_hold_what_the_desktop_finds(photos: Path) -> None:
    """The same files in the same order."""
    expected = [(str(file.path), file.size_bytes) for file in find_images([photos]).files]
    assert [(piece.name, piece.size_bytes) for piece in pieces_of(photos)] == expected
    assert len(expected) == 4


def test_what_is_left_out_is_counted(photos: Path) -> None:
    """As on the desktop."""
    found = FoundImages()
    list(each_piece([str(photos)], 5, found))
    assert (found.left_out.others, found.left_out.raw_doubles, found.folders) == (1, 1, [])


def test_lists_of_paths(tmp_path: Path) -> None:
    """Relative to the list, absolute, URLs, and missing files, which show when they are read."""
    listed = tmp_path / "list.txt"
    listed.write_bytes(b"a.jpg\r\n\n/else/b.png\ns3://bucket/c.jpg\nno suffix\n\xff.jpg\n")
    assert pieces_of(listed) == [
        Piece(IMAGE, str(tmp_path / "a.jpg")),
        Piece(IMAGE, "/else/b.png"),
        Piece(IMAGE, "s3://bucket/c.jpg"),
        Piece(IMAGE, str(tmp_path / "no suffix")),
        Piece(IMAGE, os.fsdecode(bytes(tmp_path) + b"/\xff.jpg")),
    ]


def test_archives_and_tables(tmp_path: Path) -> None:
    """A tar file is one piece; row groups of a table are joined up to the size of a shard."""
    tar = write_tar(tmp_path / "1.tar", {"a.jpg": JPEG})
    table = write_table(
        tmp_path / "2.parquet", {str(number): JPEG for number in range(9)}, group_rows=2
    )
    assert pieces_of(tmp_path) == [
        Piece(TAR_FILE, str(tar), tar.stat().st_size, images=None),
        Piece(TABLE, str(table), table.stat().st_size, 0, 2, 4),
        Piece(TABLE, str(table), table.stat().st_size, 2, 5, 5),
    ]
    assert pieces_of(tar, table) == pieces_of(tmp_path)


def test_stores() -> None:
    """Files below a URL sorted by name, without hidden ones and duplicates."""
    store = fsspec.filesystem("memory")
    for name in ("b/2.jpg", "b/1.jpg", "b/1.cr2", "b/.trash/3.jpg", "b/notes.txt", "b/c/4.png"):
        store.pipe_file(f"/sources/{name}", JPEG)
    try:
        found = [(piece.name, piece.size_bytes) for piece in pieces_of("memory://sources/b")]
        alone = pieces_of("memory://sources/b/2.jpg")
    finally:
        store.rm("/sources", recursive=True)
    assert found == [
        (f"memory:///sources/b/{name}", len(JPEG)) for name in ("1.jpg", "2.jpg", "c/4.png")
    ]
    assert [piece.name for piece in alone] == ["memory:///sources/b/2.jpg"]


def test_refusals(tmp_path: Path) -> None:
    """Missing, unsupported and empty sources, in one line."""
    (tmp_path / "notes.doc").touch()
    pq.write_table(pa.table({"label": [1], "name": ["a"]}), tmp_path / "labels.parquet")
    (tmp_path / "no.parquet").write_bytes(b"PAR1")
    with pytest.raises(StorageError, match=r"not there: found .*nowhere"):
        pieces_of(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="not there: found memory://nowhere"):
        pieces_of("memory://nowhere")
    with pytest.raises(InputError, match="not a source of images: expected a folder"):
        pieces_of(tmp_path / "notes.doc")
    with pytest.raises(InputError, match=r"no column with images.*found label, name in"):
        pieces_of(tmp_path / "labels.parquet")
    with pytest.raises(InputError, match="not a Parquet file, or it is damaged"):
        pieces_of(tmp_path / "no.parquet")
    with pytest.raises(NetworkError, match="nonsense://a"):
        pieces_of("nonsense://a")


def test_a_store_whose_package_is_missing() -> None:
    """The error names the package."""
    with pytest.raises(InputError, match=r"needs another package: found .*adlfs"):
        pieces_of("abfs://container/photos")


def test_a_search_is_stopped(tmp_path: Path) -> None:
    """Between files."""
    write_jpeg(tmp_path / "1.jpg")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        list(each_piece([str(tmp_path)], 5, FoundImages(), cancel=cancel))

"""File types are detected by magic numbers; what is no file is refused."""

import os
import sys
from pathlib import Path

import pytest

from engine.errors import ImageError
from engine.images.media_kinds import is_document, is_video, video_container
from engine.images.parts_of_file import parts_of
from tests.support.images import encoded, picture, write_jpeg
from tests.support.raw_photos import raw_photo
from tests.support.videos import write_video

TRANSPORT = b"\x47" + bytes(187)


@pytest.mark.parametrize(
    ("head", "container"),
    [
        (b"\0\0\0\x18ftypisom\0\0\2\0isomiso2", "mov"),
        (b"\0\0\0\x14ftypqt  \0\0\2\0qt  ", "mov"),
        (b"\0\0\0\x08wide\0\0\1\0mdat", "mov"),
        (b"\0\0\1\0moov\0\0\0\x6cmvhd", "mov"),
        (b"RIFF\0\0\1\0AVI LIST", "avi"),
        (b"\x1a\x45\xdf\xa3\x9fB\x86", "matroska"),
        (TRANSPORT * 5, "mpegts"),
        ((b"\0\0\0\0" + TRANSPORT) * 5, "mpegts"),
        (TRANSPORT * 3, ""),
        (b"\x47" * 30 + bytes(1000), ""),
        (b"RIFF\0\0\1\0WEBPVP8 ", ""),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", ""),
        (b"\0\0\0\x18ftypavif\0\0\0\0avifmif1", ""),
        (b"#EXTM3U\n", ""),
        (b"", ""),
    ],
)
def test_containers_by_their_first_bytes(head: bytes, container: str) -> None:
    assert video_container(head) == container
    assert is_video(head) == bool(container)


def test_raw_photos_in_the_container_of_videos_are_none() -> None:
    data = raw_photo("CR3", encoded(picture(900, 600), "JPEG"), encoded(picture(), "JPEG"))
    assert not is_video(data[:4096])


@pytest.mark.parametrize(
    ("head", "is_one"),
    [(b"%PDF-1.7\n", True), (b"\xef\xbb\xbf\r\n%PDF-1.4", True), (b"x%PDF-1.4", False)],
)
def test_documents_by_their_first_bytes(head: bytes, is_one: bool) -> None:
    assert is_document(head) == is_one


def test_the_suffix_does_not_matter(tmp_path: Path) -> None:
    """For videos and documents, too."""
    video = write_video(tmp_path / "a.avi", "mjpeg", 3).rename(tmp_path / "clip.001")
    assert [part.text for part in parts_of(video)] == ["t=0"]


@pytest.mark.parametrize("suffix", ["mp4", "pdf", "tif"])
def test_what_is_no_file(tmp_path: Path, suffix: str) -> None:
    """A pipe is not opened; a folder is refused."""
    pipe = tmp_path / f"pipe.{suffix}"
    os.mkfifo(pipe)
    with pytest.raises(ImageError, match="this is a device or a pipe: expected an image file"):
        parts_of(pipe)
    folder = tmp_path / f"folder.{suffix}"
    folder.mkdir()
    with pytest.raises(ImageError, match="this is a folder"):
        parts_of(folder)


def test_an_installation_without_the_library_of_videos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the video library images and documents can be read."""
    path = write_video(tmp_path / "a.mp4", pictures=3)
    monkeypatch.setitem(sys.modules, "engine.images.videos", None)
    with pytest.raises(
        ImageError, match="videos are not read by this installation: expected the Python package av"
    ):
        parts_of(path)
    assert len(parts_of(write_jpeg(tmp_path / "a.jpg"))) == 1

"""Pages of documents and frames of videos and animations are separate images."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.file_parts import part_content
from engine.images.fingerprint import fingerprint_of
from engine.images.parts_of_file import parts_of
from engine.images.read_file import file_hash
from engine.images.thumbnail_cache import thumbnail
from engine.runtime.backbone import BackboneSession
from tests.support.images import write_jpeg

COLOURS = [(220, 30, 30), (30, 200, 40), (40, 50, 220)]


def plates(path: Path) -> Path:
    """A document of three coloured pages with a white patch.

    An animation shows each for 2 s.
    """
    pages = []
    for colour in COLOURS:
        page = Image.new("RGB", (300, 400), colour)
        page.paste((255, 255, 255), (30, 40, 120, 160))
        pages.append(page)
    pages[0].save(path, save_all=True, append_images=pages[1:], duration=2000)
    return path


def video(path: Path) -> Path:
    """Six seconds with a new colour every two."""
    av = pytest.importorskip("av")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width, stream.height, stream.pix_fmt = 160, 120, "yuv420p"
        for number in range(30):
            pixels = np.full((120, 160, 3), COLOURS[number // 10], dtype=np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


@pytest.mark.parametrize("name", ["plates.pdf", "plates.tif", "clip.mp4", "clip.gif", "clip.webp"])
def test_each_part_is_an_image(name: str, tmp_path: Path, session: BackboneSession) -> None:
    path = (video if name.endswith("mp4") else plates)(tmp_path / name)
    cache = EmbeddingCache(tmp_path / "cache", "parts", session.card.embedding_width)
    parts = [part.text for part in parts_of(path)]
    requests = [EmbedRequest(number, path, None, part) for number, part in enumerate(parts)]
    requests.append(EmbedRequest(100, write_jpeg(tmp_path / "photo.jpg")))
    summary = embed_files(requests, session, cache)
    assert (summary.embedded, summary.failure_count) == (4, 0)
    vectors, found = cache.get_many([part_content(file_hash(path), part) for part in parts])
    assert found.all()
    assert len({vector.tobytes() for vector in vectors}) == 3
    assert embed_files(requests, session, cache).from_cache == 4
    for part, colour in zip(parts, COLOURS, strict=True):
        shown = np.asarray(Image.open(_file(tmp_path, thumbnail(path, 100, part))).convert("RGB"))
        assert np.abs(shown[-10, -10].astype(int) - colour).max() < 40
        assert fingerprint_of(path, part).sharpness >= 0


@pytest.mark.parametrize("parts", [("", "t=2", "t=4"), ("t=4", "", "t=2")])
def test_an_animation_that_is_an_image_as_well(
    parts: tuple[str, ...], tmp_path: Path, session: BackboneSession
) -> None:
    """Added before its frames were images: it shows the first frame, in any order of reading."""
    path = plates(tmp_path / "clip.gif")
    cache = EmbeddingCache(tmp_path / "cache", "parts", session.card.embedding_width)
    requests = [EmbedRequest(number, path, None, part) for number, part in enumerate(parts)]
    summary = embed_files(requests, session, cache)
    assert (summary.embedded, summary.failure_count) == (3, 0)
    assert embed_files([EmbedRequest(9, path, None, "t=0")], session, cache).embedded == 1
    vectors, found = cache.get_many(
        [part_content(file_hash(path), part) for part in ("", "t=0", "t=2", "t=4")]
    )
    assert found.all()
    assert np.array_equal(vectors[0], vectors[1])
    assert len({vector.tobytes() for vector in vectors}) == 3


def test_a_box_on_a_page_is_cut_from_it(tmp_path: Path, session: BackboneSession) -> None:
    path, box = plates(tmp_path / "plates.pdf"), "page=2&xywh=percent:12,12,24,24"
    shown = np.asarray(Image.open(_file(tmp_path, thumbnail(path, 64, box))).convert("RGB"))
    assert (shown[32, 32] > 240).all()
    cache = EmbeddingCache(tmp_path / "cache", "parts", session.card.embedding_width)
    assert embed_files([EmbedRequest(1, path, None, box)], session, cache).embedded == 1


def test_a_page_that_is_not_there_fails_alone(tmp_path: Path, session: BackboneSession) -> None:
    path = plates(tmp_path / "plates.pdf")
    cache = EmbeddingCache(tmp_path / "cache", "parts", session.card.embedding_width)
    requests = [EmbedRequest(number, path, None, f"page={number}") for number in (3, 4)]
    summary = embed_files(requests, session, cache)
    assert (summary.embedded, [each[0] for each in summary.failed]) == (1, [4])


def _file(folder: Path, data: bytes) -> Path:
    path = folder / "shown.jpg"
    path.write_bytes(data)
    return path

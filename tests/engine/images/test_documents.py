"""Pages of PDF documents: upright, on white, in the requested size.

Errors are one line.
"""

import io
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from engine.errors import ImageError
from engine.file_parts import FilePart
from engine.images.decode import MAX_PIXELS
from engine.images.documents import _pixel_size
from engine.images.parts_of_file import open_file_parts, parts_of
from tests.support.images import four_corners

COLOURS = [(200, 30, 40), (30, 200, 40), (30, 40, 200)]


@pytest.fixture
def plates(tmp_path: Path) -> Path:
    """A document of three pages, each of one colour."""
    path = tmp_path / "plates.pdf"
    first, *others = (Image.new("RGB", (300, 200), colour) for colour in COLOURS)
    first.save(
        path, save_all=True, append_images=others, resolution=100, title="Flora", author="A. Author"
    )
    return path


# fourth: white
QUARTERS = b"1 0 0 rg 0 36 72 36 re f 0 1 0 rg 72 36 72 36 re f 0 0 1 rg 0 0 72 36 re f"


def document(pages: int = 1, *, claimed: int | None = None, rotation: int = 0) -> bytes:
    """A document whose page draws four corners, listed once or several times."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>"
        % (pages if claimed is None else claimed, b"3 0 R " * pages),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 144 72]/Contents 4 0 R/Rotate %d>>" % rotation,
        b"<</Length %d>>stream\n%s\nendstream" % (len(QUARTERS), QUARTERS),
    ]
    file = io.BytesIO(b"%PDF-1.4\n")
    file.seek(0, io.SEEK_END)
    places = []
    for number, each in enumerate(objects, start=1):
        places.append(file.tell())
        file.write(b"%d 0 obj%s endobj\n" % (number, each))
    start = file.tell()
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    file.write(b"xref\n0 5\n0000000000 65535 f \n%strailer<</Size 5/Root 1 0 R>>\n" % table)
    file.write(b"startxref\n%d\n%%%%EOF" % start)
    return file.getvalue()


def protected(path: Path, *, opens_with: str) -> Path:
    """A document with restricted permissions, with or without a password to open it."""
    canvas = Canvas(
        str(path), encrypt=StandardEncryption(opens_with, ownerPassword="owner", canModify=0)
    )
    canvas.showPage()
    canvas.save()
    return path


def test_every_page_is_a_part(plates: Path) -> None:
    """Also of a document of one page."""
    assert [part.text for part in parts_of(plates)] == ["page=1", "page=2", "page=3"]
    plates.write_bytes(document())
    assert [part.text for part in parts_of(plates)] == ["page=1"]


def test_pages_have_their_pictures(plates: Path) -> None:
    """In any order and size; the file itself shows its first page."""
    with open_file_parts(plates) as opened:
        for page in (3, 1, 2):
            pixels = opened.rgb(FilePart(page=page))
            assert pixels.shape == (400, 600, 3)  # 3 x 2 inches
            assert np.abs(pixels[200, 300].astype(int) - COLOURS[page - 1]).max() <= 8
        assert np.array_equal(opened.rgb(FilePart()), opened.rgb(FilePart(page=1)))
        assert opened.rgb(FilePart(page=1), smallest_side=77).shape == (77, 116, 3)
        assert opened.rgb(FilePart(page=1), longest_side=33).shape == (22, 33, 3)


def test_details_of_a_page(plates: Path) -> None:
    with open_file_parts(plates) as opened:
        details = opened.details(FilePart(page=2))
    assert (details.width, details.height, details.media_type) == (600, 400, "application/pdf")
    assert dict(details.fields) == {"title": "Flora", "creator": "A. Author"}


@pytest.mark.parametrize(("rotation", "turns"), [(0, 0), (90, -1), (180, 2), (270, 1)])
def test_a_turned_page_stands_upright(tmp_path: Path, rotation: int, turns: int) -> None:
    """Page rotation is applied; the background is white."""
    path = tmp_path / "a.pdf"
    path.write_bytes(document(rotation=rotation))
    with open_file_parts(path) as opened:
        pixels = opened.rgb(FilePart(page=1), longest_side=64)
    assert np.array_equal(pixels, np.rot90(four_corners(), turns))


def test_an_encrypted_document(tmp_path: Path) -> None:
    path = protected(tmp_path / "a.pdf", opens_with="a word")
    with pytest.raises(
        ImageError, match="the document is encrypted: expected a PDF that opens without a password"
    ):
        parts_of(path)


def test_a_document_whose_owner_forbids_changes(tmp_path: Path) -> None:
    """It opens without a password."""
    assert len(parts_of(protected(tmp_path / "a.pdf", opens_with=""))) == 1


def test_no_pages_and_too_many(tmp_path: Path) -> None:
    """The message states the limit."""
    path = tmp_path / "a.pdf"
    protected(path, opens_with="a word")
    with pytest.raises(ImageError, match="encrypted"):
        parts_of(path)
    path.write_bytes(document(0))
    with pytest.raises(ImageError, match="the document has no pages"):
        parts_of(path)
    path.write_bytes(document(100_000))
    with pytest.raises(
        ImageError, match="the file has too many pages: expected at most 10000, found 100000"
    ):
        parts_of(path)
    path.write_bytes(document(1, claimed=5))
    with (
        open_file_parts(path) as opened,
        pytest.raises(ImageError, match="page 5 of the document is damaged"),
    ):
        opened.rgb(FilePart(page=5))


def test_damage(plates: Path) -> None:
    """An error for other files and for each missing page."""
    data = plates.read_bytes()
    for content in (b"%PDF-1.7\nnothing", b"something else", data[:200]):
        plates.write_bytes(content)
        with pytest.raises(
            ImageError, match=r"the document is damaged or incomplete.*save it again"
        ):
            parts_of(plates)
    plates.write_bytes(data)
    with (
        open_file_parts(plates) as opened,
        pytest.raises(ImageError, match="no such page: expected a page from 1 to 3, found 4"),
    ):
        opened.rgb(FilePart(page=4))
    generator = np.random.default_rng(1)
    for _ in range(40):
        damaged = bytearray(data)
        for place in generator.integers(0, len(data), 30):
            damaged[place] = generator.integers(256)
        plates.write_bytes(damaged[: generator.integers(len(data) // 2, len(data))])
        with suppress(ImageError), open_file_parts(plates) as opened:
            assert opened.rgb(FilePart(page=1), longest_side=32).shape[2] == 3


@pytest.mark.parametrize(
    ("points", "sides", "size"),
    [
        ((595.3, 841.9), (None, None), (1654, 2339)),
        ((595.3, 841.9), (224, None), (224, 317)),
        ((595.3, 841.9), (224, 100), (71, 100)),
        ((1.0, 14_400.0), (None, 100), (1, 100)),
        ((1e9, 1e9), (None, None), (22_360, 22_360)),
        ((0.001, 1e9), (224, None), (1, MAX_PIXELS)),
    ],
)
def test_size_of_a_page(
    points: tuple[float, float], sides: tuple[int | None, int | None], size: tuple[int, int]
) -> None:
    """At most `MAX_PIXELS` for any page (A4 at 200 dpi has 4 million)."""
    found = _pixel_size(points, *sides)
    assert found == size
    assert found[0] * found[1] <= MAX_PIXELS * 1.0001


def test_a_page_without_a_size() -> None:
    for points in ((0.0, 10.0), (float("nan"), 1.0), (float("inf"), 1.0)):
        with pytest.raises(ImageError, match="the page has no size"):
            _pixel_size(points, None, 100)


def test_threads_take_turns(plates: Path) -> None:
    """PDFium is not thread-safe: pages are drawn one at a time."""
    wrong: list[int] = []

    def draw() -> None:
        with open_file_parts(plates) as opened:
            for page in (1, 2, 3) * 3:
                pixels = opened.rgb(FilePart(page=page), longest_side=100)
                wrong.extend(
                    [page] * bool(np.abs(pixels[30, 50].astype(int) - COLOURS[page - 1]).max() > 8)
                )

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

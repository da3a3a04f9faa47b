"""Texts for counts, shares and durations."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from app.status.job_bar import as_text
from app.texts import fill, number_in
from app.wording import (
    file_size,
    images,
    number,
    part_of_size,
    percent,
    percent_sign,
    percent_to_a_tenth,
    probability_text,
    progress_facts,
    sentence,
    short_reason,
    time_left,
    transfer_rate,
)
from engine.errors import ImageError
from engine.events import Progress
from engine.files import FileFailure
from engine.images.decode import read_rgb
from tests.support.images import encoded, picture, write_jpeg
from tests.support.raw_photos import raw_photo


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Use an English locale, whatever the system's is."""
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    yield
    QLocale.setDefault(before)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0%"), (0.001, "<1%"), (0.126, "13%"), (0.994, "99%"), (0.9999, "99%"), (1.0, "100%")],
)
def test_percentages_never_claim_more_than_there_is(share: float, text: str) -> None:
    """Nothing uncertain is 100%, nothing possible is 0%."""
    assert percent(share) == text


@pytest.mark.parametrize(
    ("probability", "text"),
    [(0.0, "<1%"), (0.004, "<1%"), (0.126, "13%"), (0.994, "99%"), (0.996, ">99%"), (1.0, ">99%")],
)
def test_no_prediction_is_certain(probability: float, text: str) -> None:
    """Rounded floating-point probabilities reach 0 and 1."""
    assert probability_text(probability) == text


def test_counts_follow_the_locale() -> None:
    """Counts have singular, plural and digit grouping."""
    assert (images(0), images(1), images(1204)) == ("0 images", "1 image", "1,204 images")
    QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
    assert number(1204) == "1.204"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1\u00a0s left"),
        (7, "7\u00a0s left"),
        (42, "45\u00a0s left"),
        (61, "65\u00a0s left"),
        (95, "2\u00a0min left"),
        (3599, "60\u00a0min left"),
        (4000, "2\u00a0h left"),
    ],
)
def test_time_left_is_rough(seconds: float, text: str) -> None:
    """Time left is rounded up, in one unit."""
    assert time_left(seconds) == text


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (
            Progress(1240, 5000, "images", 85.4, 44.0, "CPU"),
            "1,240 of 5,000  ·  85\u00a0images/s  ·  CPU  ·  45\u00a0s left",
        ),
        (Progress(0, 5000), "0 of 5,000"),
        (Progress(31, 0, "files"), "31"),
        (Progress(3, 8, "images", 2.25), "3 of 8  ·  2.3\u00a0images/s"),
        (Progress(8, 8, "images", 20.0, 0.0), "8 of 8  ·  20\u00a0images/s"),
    ],
)
def test_progress_says_what_is_known(progress: Progress, text: str) -> None:
    """Unknown facts are left out, and a finished job has no time left."""
    assert progress_facts(progress) == text


def test_values_are_filled_in_once() -> None:
    """A class named "{2}" is not substituted again."""
    assert fill("{1} under {2}", "{2}", "Bird") == "{2} under Bird"
    assert fill("{2} then {1}", "a", "b") == "b then a"


def test_failures_can_be_copied() -> None:
    """The copied text has one line per file."""
    failures = [FileFailure(Path("a.jpg"), "cut short"), FileFailure(Path("b.jpg"), "found text")]
    assert as_text(failures) == "a.jpg\tcut short\nb.jpg\tfound text"


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0.0\u00a0kB"),
        (49_000, "49.0\u00a0kB"),
        (999_949, "999.9\u00a0kB"),
        (999_950, "1.0\u00a0MB"),
        (97_800_000, "97.8\u00a0MB"),
        (1_260_000_000, "1.3\u00a0GB"),
    ],
)
def test_less_than_a_megabyte_is_given_in_kilobytes(size_bytes: int, text: str) -> None:
    """No file is empty, and 1,000.0 kB is not written."""
    assert file_size(size_bytes) == text


def test_a_part_is_shown_in_the_unit_of_the_whole() -> None:
    """A small part has the unit of the whole."""
    assert part_of_size(100_000, 4_800_000) == "0.1 of 4.8\u00a0MB"
    assert part_of_size(100_000, 480_000) == "100.0 of 480.0\u00a0kB"


def test_rates_and_locale(qapp: QApplication) -> None:
    """Rates use a decimal comma in German."""
    before = QLocale()
    try:
        QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
        assert transfer_rate(1_600_000.0) == "1,6\u00a0MB/s"
        assert transfer_rate(30_000.0) == "30,0\u00a0kB/s"
    finally:
        QLocale.setDefault(before)


def test_shares_follow_the_locale(qapp: QApplication) -> None:
    """Shares use a decimal comma in German."""
    before = QLocale()
    try:
        QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
        assert percent_to_a_tenth(0.5714) == "57,1\u202f%"
    finally:
        QLocale.setDefault(before)


def test_bytes_are_shown_as_sizes() -> None:
    """Done of total, rate and time left; other units as usual."""
    facts = progress_facts(Progress(1_200_000, 4_800_000, "bytes", 1_600_000.0, 6.0))
    assert facts == "1.2 of 4.8\u00a0MB  ·  1.6\u00a0MB/s  ·  6\u00a0s left"
    assert (
        progress_facts(Progress(0, 4_800_000, "bytes", 30_000.0))
        == "0.0 of 4.8\u00a0MB  ·  30.0\u00a0kB/s"
    )
    assert progress_facts(Progress(2_500_000, 0, "bytes")) == "2.5\u00a0MB"
    assert (
        progress_facts(Progress(3, 4, "images", 2.0, 0.5))
        == "3 of 4  ·  2.0\u00a0images/s  ·  1\u00a0s left"
    )


def test_words_become_sentences() -> None:
    """A sentence begins with a capital and ends with one full stop; "" stays ""."""
    assert (sentence("the GPU failed"), sentence("Done."), sentence("")) == (
        "The GPU failed.",
        "Done.",
        "",
    )
    assert sentence("odd.csv is no table") == "odd.csv is no table."


def truncated_jpeg(path: Path) -> None:
    """The first third of a photo."""
    write_jpeg(path, width=400, height=300)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def damaged_png(path: Path) -> None:
    """A valid PNG header followed by garbage."""
    Image.new("RGB", (60, 40), "red").save(path)
    content = path.read_bytes()
    path.write_bytes(content[:45] + b"\xff" * (len(content) - 45))


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("photo.JPG", truncated_jpeg, "Truncated JPEG"),
        ("a.png", damaged_png, "Damaged PNG"),
        ("page.jpg", lambda path: path.write_text("<html>no</html>"), "Not an image: a web page"),
        (
            "report.jpg",
            lambda path: path.write_bytes(b"%PDF-1.7 ..."),
            "Not an image: a PDF document",
        ),
        ("noise.jpg", lambda path: path.write_bytes(b"\x07\x00\xfe\x11" * 30), "Not an image"),
        (
            "layers.jpg",
            lambda path: path.write_bytes(b"8BPS" + b"\x00" * 40),
            "Not supported: a Photoshop document",
        ),
        ("a.heic", lambda path: path.write_bytes(encoded(picture(), "HEIF")[:300]), "Damaged HEIC"),
        ("a.NEF", lambda path: path.write_bytes(raw_photo("NEF")), "RAW photo without a preview"),
        ("none.jpg", lambda path: path.write_bytes(b""), "Empty file"),
        ("folder.jpg", lambda path: path.mkdir(), "A folder, not an image"),
        ("gone.jpg", lambda _path: None, "File not found"),
    ],
)
def test_the_reason_fits_on_a_card(
    tmp_path: Path, name: str, make: Callable[[Path], object], reason: str
) -> None:
    """The engine's message for a real file is shortened."""
    path = tmp_path / name
    make(path)
    with pytest.raises(ImageError) as raised:
        read_rgb(path)
    assert short_reason(str(raised.value), name) == reason


def test_what_nobody_foresaw_is_shown_as_it_is() -> None:
    """The first clause is shown, without expectation, finding and remedy."""
    assert (
        short_reason("the moon is full: found it so. Wait a little", "a.png") == "The moon is full"
    )


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("de", ["97\u202f%", "<1\u202f%", "1.234", "\u202f%"]),
        ("fr", ["97\u202f%", "<1\u202f%", "1\u202f234", "\u202f%"]),
        ("pt_BR", ["97%", "<1%", "1.234", "%"]),
    ],
)
def test_percent_and_numbers_of_a_language(language: str, shown: list[str]) -> None:
    """Formats are those of CLDR, also in messages of the engine."""
    before = QLocale()
    QLocale.setDefault(QLocale(language))
    try:
        assert [percent(0.97), percent(0.001), number(1234), percent_sign()] == shown
        assert number_in(1234, ",") == shown[2]
    finally:
        QLocale.setDefault(before)

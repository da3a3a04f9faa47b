"""Pages of a report: self-contained, escaped, bounded with 10,000 classes."""

import csv
import io
import json
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.collection.outputs import is_own_output
from engine.errors import Cancelled, StorageError, UsageError
from engine.events import CancelToken
from engine.graph.category_graph import CategoryGraph
from engine.report.charts import paint
from engine.report.document import Document, ReportChart
from engine.report.figures import CountRow
from engine.report.pdf.visual import visual
from engine.report.svg import svg_of
from engine.report.wording import document_of
from engine.report.write import SUFFIXES, kind_of, write_report
from tests.support.reports import AUK, DOG, GULL, confusion_in, report_of, zoo

EVIL = '<script>alert("x")</script>'
ARABIC = "نورس"
LONG = "Very" * 60


def zoo_document() -> Document:
    """A small report."""
    graph = zoo()
    graph.rename(DOG, EVIL)
    graph.rename(AUK, ARABIC)
    graph.rename(GULL, LONG)
    confusion = confusion_in(
        graph, [(GULL, GULL), (GULL, AUK), (AUK, DOG), (DOG, DOG), (DOG, GULL)]
    )
    rows = [CountRow(graph.name(each), 3, 1, each) for each in (GULL, AUK, DOG)]
    return document_of(report_of(graph, confusion, project=EVIL, rows=rows))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of 10,000 classes in all formats, and how long each took, as JSON."""
    folder = tmp_path_factory.mktemp("many")
    graph = CategoryGraph()
    tops = [graph.add_class(f"Family {number}") for number in range(100)]
    leaves = [
        graph.add_class(f"Species number {number} of the list", [tops[number % 100]])
        for number in range(10_000)
    ]
    generator = np.random.default_rng(0)
    true = 2 * leaves
    wrong = generator.choice(leaves, 20_000).tolist()
    pairs = [
        (a, b if number % 3 == 0 else a)
        for number, (a, b) in enumerate(zip(true, wrong, strict=True))
    ]
    confusion = confusion_in(graph, pairs)
    rows = [CountRow(graph.name(each), 2, 1, each) for each in leaves]
    document, took = document_of(report_of(graph, confusion, rows=rows)), {}
    for suffix in SUFFIXES:
        began = time.perf_counter()
        write_report(document, folder / f"many{suffix}")
        took[suffix] = time.perf_counter() - began
    (folder / "took.json").write_text(json.dumps(took))
    return folder


@pytest.mark.slow
def test_ten_thousand_classes_are_bounded(many: Path) -> None:
    """In time and size; CSV tables have every class, the page says what it omits."""
    took = json.loads((many / "took.json").read_text())
    for suffix in SUFFIXES:
        assert took[suffix] < 20
        assert (many / f"many{suffix}").stat().st_size < 12_000_000
    page = (many / "many.html").read_text(encoding="utf-8")
    assert "1,000 of 10,100 rows" in page
    with zipfile.ZipFile(many / "many.zip") as archive:
        assert archive.read("classes.csv").count(b"\n") == 10_101


def test_page_needs_nothing_and_escapes_everything(tmp_path: Path) -> None:
    """No URLs, files or markup in names; right-to-left and long names are isolated."""
    out = tmp_path / "a.html"
    write_report(zoo_document(), out)
    page = out.read_text(encoding="utf-8")
    assert EVIL not in page
    assert page.count("<script") == 2  # the script, and the matrix as JSON
    assert not re.search(r"(?:src|href)=(?!\"#)", page)
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")
    assert f"<bdi>{ARABIC}</bdi>" in page
    assert LONG in page
    assert "Coast" in page  # Gull's other parent: without a row in the matrix, but with figures
    assert "(removed)" not in page
    assert page.count("<table") == page.count("</table>")
    assert 'scope="row"' in page
    assert 'scope="col"' in page
    assert re.search(r'<svg [^>]*role="img" aria-label="[^"]+"', page)
    assert "prefers-color-scheme:dark" in page
    assert "@media print" in page
    data = json.loads(re.search(r'id="matrix-data">(.*?)</script>', page).group(1))  # type: ignore[union-attr]
    assert sum(count for *_, count in data["pairs"]) == 5


def test_tables_as_csv(tmp_path: Path) -> None:
    """One file of values, or a file for each table.

    Names that a spreadsheet would run are escaped.
    """
    document = zoo_document()
    write_report(document, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        values = list(csv.DictReader(file))
    assert {row["table"] for row in values} == {table.name for table in document.tables()}
    truths = [
        row["value"] for row in values if row["table"] == "confusion" and row["column"] == "truth"
    ]
    assert EVIL in truths
    write_report(document, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist()[0] == "about.txt"
        rows = list(csv.DictReader(io.StringIO(archive.read("accuracy.csv").decode("utf-8-sig"))))
    assert [(row["right"], row["images"]) for row in rows] == [("2", "5")] * 4
    assert float(rows[0]["interval_low"]) < 0.4 < float(rows[0]["interval_high"])


@pytest.mark.slow
def test_pdf_is_whole_and_the_same_each_time(tmp_path: Path) -> None:
    """It has pages and an end, an embedded font, and no time but the report's."""
    for name in ("a.pdf", "b.pdf"):
        write_report(zoo_document(), tmp_path / name)
    content = (tmp_path / "a.pdf").read_bytes()
    assert content == (tmp_path / "b.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")
    assert content.count(b"/Type /Page\n") >= 4
    assert b"/FontFile2" in content


def test_outputs_are_known_again(tmp_path: Path) -> None:
    """A later report replaces an earlier one, but no file of another kind."""
    for suffix in SUFFIXES:
        out = tmp_path / f"a{suffix}"
        write_report(zoo_document(), out)
        assert is_own_output(out, kind_of(out))
        out.write_bytes(b"%PDF-1.4 mine" if suffix == ".pdf" else b"mine")
        assert not is_own_output(out, kind_of(out))
    with pytest.raises(UsageError, match=r"\.html, \.pdf, \.csv, \.zip"):
        kind_of(Path("report.docx"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_stays_of_a_report_that_was_stopped(tmp_path: Path, suffix: str) -> None:
    """Neither a partial file nor a draft; an earlier one is unchanged.

    Also if the folder is invalid.
    """
    out = tmp_path / f"a{suffix}"
    out.write_bytes(b"before")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        write_report(zoo_document(), out, cancel)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    assert out.read_bytes() == b"before"
    with pytest.raises(StorageError):
        write_report(zoo_document(), tmp_path / "nowhere" / f"a{suffix}")


class Recorder:
    """A surface that records where things are painted."""

    def __init__(self) -> None:
        self.points: list[tuple[float, float]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        def record(first: Any, second: Any, *_more: object, **_others: object) -> None:
            if name == "rect":
                assert min(second) >= 0
                self.points += [first, (first[0] + second[0], first[1] + second[1])]
            elif name == "line":
                self.points += [first, second]
            else:
                self.points += [first] if name == "text" else first

        return record

    def text_width(self, words: str) -> float:
        """Six pixels per letter."""
        return 6.0 * len(words)


def charts() -> list[ReportChart]:
    """All charts of a report."""
    blocks = [block for section in zoo_document().sections for block in section.blocks]
    return [block for block in blocks if isinstance(block, ReportChart)]


@pytest.mark.parametrize("width", [280, 760])
def test_charts_stay_within_their_frame(width: int) -> None:
    """At any width nothing is painted left of the frame, above it, or to its right."""
    assert len(charts()) >= 7
    for chart in charts():
        recorder = Recorder()
        paint(chart, recorder, width)
        assert min(x for x, _ in recorder.points) >= -1
        assert max(x for x, _ in recorder.points) <= width + 1
        assert min(y for _, y in recorder.points) >= -1


def test_charts_say_what_they_show() -> None:
    """Title and summary are attributes of the picture, escaped."""
    for chart in charts():
        picture = svg_of(chart)
        assert "aria-label=" in picture
        assert EVIL not in picture


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Gull", "Gull"),
        ("שלום", "םולש"),
        ("שלום (2)", "(2) םולש"),
        ("Gull שלום!", "Gull םולש!"),
        ("سلام", "\ufee1\ufefc\ufeb3"),  # displayed: seen, lam with alef, meem, from right to left
        ("", ""),
    ],
)
def test_right_to_left_names_on_paper(text: str, shown: str) -> None:
    """In visual order with contextual forms."""
    assert visual(text) == shown

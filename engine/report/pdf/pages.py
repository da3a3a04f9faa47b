"""A report as PDF: the same sections, tables and charts as the page, on paper of A4."""

import io
import math
from collections.abc import Sequence
from typing import Any, BinaryIO, Final, final

from engine.events import CancelToken
from engine.report.charts import Chart, chart_height, paint
from engine.report.confusion import Folded
from engine.report.document import (
    BarPlot,
    Block,
    ColumnPlot,
    Document,
    Facts,
    FigureTable,
    LinePlot,
    Matrix,
    ReportText,
)
from engine.report.pdf.canvas import PageSurface, colour, mixed
from engine.report.pdf.fonts import BOLD, REGULAR, cut_to, draw, load_fonts, width_of, wrapped
from engine.report.pdf.table import TableLayout, lay_out
from engine.report.shown import note_of, printable
from engine.report.words import DASH, amount, class_of, phrase

PAGE: Final = (595.28, 841.89)  # points: A4
MARGIN: Final = 48.0
WIDTH: Final = PAGE[0] - 2 * MARGIN
BODY: Final = 9.0
SMALL: Final = 8.0
LINE: Final = 13.0
CHART_SCALE: Final = 0.72  # points a pixel
MATRIX_SIZE: Final = 7.5  # points of names of the matrix, at most
MOST_ACROSS: Final = 5  # facts beside each other
AUTHOR: Final = "Written by Protoleaf"


def write_pdf(document: Document, file: BinaryIO, cancel: CancelToken | None = None) -> None:
    """Write a document as PDF."""
    from reportlab.pdfgen.canvas import Canvas

    load_fonts()
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=PAGE, pageCompression=1, invariant=1)
    canvas.setTitle(printable(f"{document.title} {DASH} {document.subtitle}"))
    canvas.setCreator(AUTHOR)
    canvas.setProducer(AUTHOR)
    pages = _Pages(canvas, document, cancel)
    pages.write()
    canvas.save()
    file.write(content.getvalue())


@final
class _Pages:
    """Writes from the top of each page down."""

    def __init__(self, canvas: Any, document: Document, cancel: CancelToken | None) -> None:
        self._canvas, self._document, self._cancel = canvas, document, cancel
        self._y = PAGE[1] - MARGIN
        self._number = 1

    def write(self) -> None:
        self._text(printable(self._document.title), 22, BOLD, "text", 28)
        self._text(self._document.subtitle, 10, REGULAR, "muted", 22)
        for section in self._document.sections:
            self._need(120 + min(max(map(self._height, section.blocks[:1])), PAGE[1] / 2))
            self._canvas.bookmarkPage(section.key)
            self._canvas.addOutlineEntry(section.title, section.key, 0)
            self._y -= 10
            self._text(section.title, 15, BOLD, "text", 22)
            titled = ""
            for block in section.blocks:
                title = getattr(block, "title", "")
                if title and title != titled:
                    self._heading(title, block)
                self._block(block)
                titled = title or titled
        self._end_page()

    # -- where

    def _need(self, height: float) -> None:
        """Begin another page where this one has no room."""
        if self._y - height < MARGIN + LINE:
            self._end_page()
            self._canvas.showPage()
            self._number += 1
            self._y = PAGE[1] - MARGIN

    def _end_page(self) -> None:
        if self._cancel is not None:
            self._cancel.raise_if_cancelled()
        self._canvas.setFillColor(colour("muted"))
        foot = cut_to(printable(self._document.foot), WIDTH - 60, REGULAR, 7.5)
        draw(self._canvas, (MARGIN, MARGIN - 16), foot, REGULAR, 7.5)
        number = phrase("Page {number}", number=self._number)
        draw(
            self._canvas,
            (PAGE[0] - MARGIN - width_of(number, REGULAR, 7.5), MARGIN - 16),
            number,
            REGULAR,
            7.5,
        )

    def _text(self, words: str, size: float, font: str, ink: str, step: float) -> None:
        self._canvas.setFillColor(colour(ink))
        draw(self._canvas, (MARGIN, self._y - size), cut_to(words, WIDTH, font, size), font, size)
        self._y -= step

    def _heading(self, title: str, block: Block) -> None:
        self._need(24 + min(self._height(block), PAGE[1] / 2))
        self._y -= 8
        self._text(printable(title), 10.5, BOLD, "text", 18)

    def _height(self, block: Block) -> float:
        match block:
            case BarPlot() | ColumnPlot() | LinePlot():
                return CHART_SCALE * chart_height(block)
            case Matrix():
                return PAGE[1] / 2
        return 60

    def _lines(self, words: str, size: float, ink: str) -> None:
        self._canvas.setFillColor(colour(ink))
        for line in wrapped(printable(words), WIDTH, REGULAR, size):
            self._need(LINE)
            self._canvas.setFillColor(colour(ink))
            draw(self._canvas, (MARGIN, self._y - size), line, REGULAR, size)
            self._y -= size + 4
        self._y -= 4

    # -- what

    def _block(self, block: Block) -> None:
        match block:
            case ReportText():
                self._lines(block.text, BODY, "warning" if block.is_warning else "secondary")
            case Facts():
                self._facts(block)
            case FigureTable():
                self._table(block)
            case BarPlot() | ColumnPlot() | LinePlot():
                self._chart(block)
            case Matrix():
                self._matrix(block)

    def _facts(self, facts: Facts) -> None:
        across = min(len(facts.facts), MOST_ACROSS)
        room = WIDTH / across
        for start in range(0, len(facts.facts), across):
            self._need(52)
            for place, fact in enumerate(facts.facts[start : start + across]):
                x = MARGIN + place * room
                parts = (
                    (fact.title, SMALL, "muted", 8),
                    (fact.value, 15.0, "text", 25),
                    (fact.note, 6.8, "muted", 37),
                )
                for words, size, ink, down in parts:
                    self._canvas.setFillColor(colour(ink))
                    shown = cut_to(printable(words), room - 10, REGULAR, size)
                    draw(self._canvas, (x, self._y - down), shown, REGULAR, size)
            self._y -= 52

    def _chart(self, chart: Chart) -> None:
        height = CHART_SCALE * chart_height(chart)
        self._need(min(height, PAGE[1] - 2 * MARGIN - 40))
        self._canvas.saveState()
        self._canvas.translate(MARGIN, self._y)
        self._canvas.scale(CHART_SCALE, CHART_SCALE)
        paint(chart, PageSurface(self._canvas), WIDTH / CHART_SCALE)
        self._canvas.restoreState()
        self._y -= height + 8
        if chart.note:
            self._lines(chart.note, SMALL, "muted")

    def _table(self, table: FigureTable) -> None:
        layout = lay_out(table, WIDTH)
        self._need(layout.row_height * 3)
        self._row(layout, layout.head, "muted")
        for row in layout.rows:
            if self._y - layout.row_height < MARGIN + LINE:
                self._need(PAGE[1])
                self._row(layout, layout.head, "muted")
            self._row(layout, row, "text")
        self._y -= 6
        if note := note_of(table):
            self._lines(note, SMALL, "muted")
        self._y -= 4

    def _row(self, layout: TableLayout, row: Sequence[str], ink: str) -> None:
        x, base = MARGIN, self._y - layout.size - 3
        self._canvas.setFillColor(colour(ink))
        for place, words in enumerate(row):
            width = layout.widths[place]
            shift = (
                width - 6 - width_of(words, REGULAR, layout.size)
                if layout.is_number[place]
                else 0.0
            )
            draw(self._canvas, (x + shift, base), words, REGULAR, layout.size)
            x += width
        self._y -= layout.row_height
        self._canvas.setStrokeColor(colour("line"))
        self._canvas.setLineWidth(0.5)
        self._canvas.line(MARGIN, self._y, MARGIN + WIDTH, self._y)

    def _matrix(self, block: Matrix) -> None:
        folded = block.confusion.folded(block.confusion.first_cut())
        count = max(len(folded.lines), 1)
        names = [
            printable(class_of(block.confusion.tree, line.class_id).name) for line in folded.lines
        ]
        widest = max((width_of(name, REGULAR, MATRIX_SIZE) for name in names), default=0.0)
        left, head = (
            min(max(widest + more, 80.0), most) for more, most in ((46.0, 190.0), (24.0, 150.0))
        )
        side = min((WIDTH - left - 36) / count, 22.0)
        self._need(head + side * count + 12)
        top = self._y - head
        self._canvas.setFillColor(colour("muted"))
        draw(
            self._canvas,
            (MARGIN + left, top + head - MATRIX_SIZE),
            phrase("Predicted class"),
            REGULAR,
            MATRIX_SIZE,
        )
        draw(self._canvas, (MARGIN, top + 4), phrase("Correct class"), REGULAR, MATRIX_SIZE)
        self._matrix_names(folded, names, (left, top, side), head - 16)
        for (row, column), images in folded.cells.items():
            corner = MARGIN + left + column * side, top - (row + 1) * side
            self._matrix_cell(
                images, int(folded.row_totals[row]), corner, side, is_right=row == column
            )
        self._y = top - side * count - 10
        self._lines(f"{block.summary} {block.note}", SMALL, "muted")

    def _matrix_names(
        self,
        folded: Folded,
        names: Sequence[str],
        where: tuple[float, float, float],
        longest: float,
    ) -> None:
        left, top, side = where
        size, canvas = min(MATRIX_SIZE, max(side - 2, 3.0)), self._canvas
        for place, line in enumerate(folded.lines):
            x, y = MARGIN + left + place * side, top - (place + 1) * side
            canvas.setFillColor(colour("sunken"))
            canvas.rect(MARGIN + left, y, side * len(names), side - 0.6, stroke=0, fill=1)
            canvas.setFillColor(colour("text"))
            inset = min(6.0 * line.depth, 40.0)
            draw(
                canvas,
                (MARGIN + inset, y + (side - size) / 2 + 1),
                cut_to(names[place], left - inset - 6, REGULAR, size),
                REGULAR,
                size,
            )
            canvas.setFillColor(colour("muted"))
            total = amount(int(folded.branch_totals[place]))
            draw(
                canvas,
                (MARGIN + left + side * len(names) + 5, y + (side - size) / 2 + 1),
                total,
                REGULAR,
                size,
            )
            canvas.saveState()
            canvas.translate(x + side / 2 + size / 3, top + 4)
            canvas.rotate(90)
            draw(canvas, (0, 0), cut_to(names[place], longest, REGULAR, size), REGULAR, size)
            canvas.restoreState()

    def _matrix_cell(
        self, images: int, total: int, corner: tuple[float, float], side: float, *, is_right: bool
    ) -> None:
        ink, canvas = "accent" if is_right else "wrong", self._canvas
        canvas.setFillColor(mixed(ink, 0.12 + 0.68 * math.sqrt(images / total)))
        canvas.rect(corner[0], corner[1], side - 0.6, side - 0.6, stroke=0, fill=1)
        size = min(7.0, 0.42 * side)
        words = amount(images)
        canvas.setFillColor(colour("text"))
        if width_of(words, REGULAR, size) <= side:
            draw(
                canvas,
                (
                    corner[0] + (side - width_of(words, REGULAR, size)) / 2,
                    corner[1] + side / 2 - size / 3,
                ),
                words,
                REGULAR,
                size,
            )

"""A report as PDF: the same sections, tables and charts as the HTML page, on A4."""

import io
import math
from collections.abc import Sequence
from typing import Any, BinaryIO, final

from engine.events import CancelToken
from engine.report.charts import END, MIDDLE, Point, chart_height, paint
from engine.report.confusion import Folded
from engine.report.document import (
    Block,
    Document,
    Facts,
    FigureTable,
    Matrix,
    ReportChart,
    ReportText,
)
from engine.report.pdf.canvas import PageSurface, colour, mixed, write
from engine.report.pdf.fonts import BOLD, REGULAR, load_fonts, width_of, wrapped
from engine.report.pdf.table import TableLayout, lay_out
from engine.report.words import DASH, amount, class_of, note_of, phrase, printable

PAGE = (595.28, 841.89)  # points: A4
MARGIN = 48.0
WIDTH = PAGE[0] - 2 * MARGIN
BODY = 9.0
SMALL = 8.0
FOOTER = 7.5
LINE = 13.0
CHART_SCALE = 0.72  # points per pixel
MATRIX_SIZE = 7.5  # maximum font size of the names of the matrix
FACTS_PER_ROW = 5
AUTHOR = "Written by Protoleaf"


def write_pdf(document: Document, file: BinaryIO, cancel: CancelToken) -> None:
    """Write a document as PDF."""
    from reportlab.pdfgen.canvas import Canvas

    load_fonts()
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=PAGE, pageCompression=1, invariant=1)
    canvas.setTitle(printable(f"{document.title} {DASH} {document.subtitle}"))
    canvas.setCreator(AUTHOR)
    canvas.setProducer(AUTHOR)
    _Pages(canvas, document, cancel).write()
    canvas.save()
    file.write(content.getvalue())


@final
class _Pages:
    """Writes pages from top to bottom."""

    def __init__(self, canvas: Any, document: Document, cancel: CancelToken) -> None:
        self._canvas, self._document, self._cancel = canvas, document, cancel
        self._y = PAGE[1] - MARGIN
        self._number = 1

    def write(self) -> None:
        self._text(self._document.title, 22, "text", 28, BOLD)
        self._text(self._document.subtitle, 10, "muted", 22)
        for section in self._document.sections:
            first = self._height(section.blocks[0])
            self._reserve(120 + min(first, PAGE[1] / 2))
            self._canvas.bookmarkPage(section.key)
            self._canvas.addOutlineEntry(section.title, section.key, 0)
            self._y -= 10
            self._text(section.title, 15, "text", 22, BOLD)
            last_title = ""
            for block in section.blocks:
                title = getattr(block, "title", "")
                if title and title != last_title:
                    self._reserve(24 + min(self._height(block), PAGE[1] / 2))
                    self._y -= 8
                    self._text(title, 10.5, "text", 18, BOLD)
                self._block(block)
                last_title = title or last_title
        self._end_page()

    def _reserve(self, height: float) -> None:
        """Begin another page where the current one has less space left."""
        if self._y - height < MARGIN + LINE:
            self._end_page()
            self._canvas.showPage()
            self._number += 1
            self._y = PAGE[1] - MARGIN

    def _end_page(self) -> None:
        self._cancel.raise_if_cancelled()
        y, number = MARGIN - 16, phrase("Page {number}", number=self._number)
        footer = self._document.footer
        write(self._canvas, (MARGIN, y), footer, FOOTER, "muted", max_width=WIDTH - 60)
        write(self._canvas, (PAGE[0] - MARGIN, y), number, FOOTER, "muted", anchor=END)

    def _text(self, text: str, size: float, ink: str, step: float, font: str = REGULAR) -> None:
        """Write a line across the page."""
        write(self._canvas, (MARGIN, self._y - size), text, size, ink, font=font, max_width=WIDTH)
        self._y -= step

    def _paragraph(self, text: str, size: float, ink: str) -> None:
        for line in wrapped(printable(text), WIDTH, REGULAR, size):
            self._reserve(LINE)
            write(self._canvas, (MARGIN, self._y - size), line, size, ink)
            self._y -= size + 4
        self._y -= 4

    def _height(self, block: Block) -> float:
        """Height that should fit below the title of a block."""
        match block:
            case ReportChart():
                return CHART_SCALE * chart_height(block)
            case Matrix():
                return PAGE[1] / 2
        return 60

    def _block(self, block: Block) -> None:
        match block:
            case ReportText():
                self._paragraph(block.text, BODY, "warning" if block.is_warning else "secondary")
            case Facts():
                self._facts(block)
            case FigureTable():
                self._table(block)
            case ReportChart():
                self._chart(block)
            case Matrix():
                self._matrix(block)

    def _facts(self, facts: Facts) -> None:
        per_row = min(len(facts.facts), FACTS_PER_ROW)
        width = WIDTH / per_row
        for start in range(0, len(facts.facts), per_row):
            self._reserve(52)
            for place, fact in enumerate(facts.facts[start : start + per_row]):
                for text, size, ink, down in (
                    (fact.title, SMALL, "muted", 8),
                    (fact.value, 15.0, "text", 25),
                    (fact.note, 6.8, "muted", 37),
                ):
                    at = MARGIN + place * width, self._y - down
                    write(self._canvas, at, text, size, ink, max_width=width - 10)
            self._y -= 52

    def _chart(self, chart: ReportChart) -> None:
        height = CHART_SCALE * chart_height(chart)
        self._reserve(min(height, PAGE[1] - 2 * MARGIN - 40))
        self._canvas.saveState()
        self._canvas.translate(MARGIN, self._y)
        self._canvas.scale(CHART_SCALE, CHART_SCALE)
        paint(chart, PageSurface(self._canvas), WIDTH / CHART_SCALE)
        self._canvas.restoreState()
        self._y -= height + 8
        if chart.note:
            self._paragraph(chart.note, SMALL, "muted")

    def _table(self, table: FigureTable) -> None:
        layout = lay_out(table, WIDTH)
        height = layout.size + 7
        self._reserve(3 * height)
        self._row(layout, layout.head, "muted", height)
        for row in layout.rows:
            if self._y - height < MARGIN + LINE:
                self._reserve(PAGE[1])
                self._row(layout, layout.head, "muted", height)
            self._row(layout, row, "text", height)
        self._y -= 6
        if note := note_of(table):
            self._paragraph(note, SMALL, "muted")
        self._y -= 4

    def _row(self, layout: TableLayout, row: Sequence[str], ink: str, height: float) -> None:
        x, base, size = MARGIN, self._y - layout.size - 3, layout.size
        for text, width, is_number in zip(row, layout.widths, layout.is_number, strict=True):
            max_width = width - 6
            if is_number:
                at, anchor = (x + max_width, base), END
            else:
                at, anchor = (x, base), 0.0
            write(self._canvas, at, text, size, ink, anchor=anchor, max_width=max_width)
            x += width
        self._y -= height
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
        left = min(max(widest + 46, 80.0), 190.0)
        head = min(max(widest + 24, 80.0), 150.0)
        side = min((WIDTH - left - 36) / count, 22.0)
        self._reserve(head + side * count + 12)
        corner = MARGIN + left, self._y - head
        for at, title in (
            ((corner[0], self._y - MATRIX_SIZE), phrase("Predicted class")),
            ((MARGIN, corner[1] + 4), phrase("Correct class")),
        ):
            write(self._canvas, at, title, MATRIX_SIZE, "muted")
        self._matrix_names(folded, names, corner, side, head - 16)
        for (row, column), images in folded.cells.items():
            shade = images / int(folded.row_totals[row])
            ink = mixed("accent" if row == column else "wrong", 0.12 + 0.68 * math.sqrt(shade))
            at = corner[0] + column * side, corner[1] - (row + 1) * side
            self._matrix_cell(amount(images), at, side, ink)
        self._y = corner[1] - side * count - 10
        self._paragraph(f"{block.summary} {block.note}", SMALL, "muted")

    def _matrix_names(
        self, folded: Folded, names: Sequence[str], corner: Point, side: float, longest: float
    ) -> None:
        left, top = corner
        size, canvas = min(MATRIX_SIZE, max(side - 2, 3.0)), self._canvas
        right = left + side * len(names)
        for place, (line, name) in enumerate(zip(folded.lines, names, strict=True)):
            y = top - (place + 1) * side
            canvas.setFillColor(colour("sunken"))
            canvas.rect(left, y, right - left, side - 0.6, stroke=0, fill=1)
            base = y + (side - size) / 2 + 1
            x = MARGIN + min(6.0 * line.depth, 40.0)
            write(canvas, (x, base), name, size, "text", max_width=left - x - 6)
            total = amount(int(folded.branch_totals[place]))
            write(canvas, (right + 5, base), total, size, "muted")
            canvas.saveState()
            canvas.translate(left + (place + 0.5) * side + size / 3, top + 4)
            canvas.rotate(90)
            write(canvas, (0, 0), name, size, "muted", max_width=longest)
            canvas.restoreState()

    def _matrix_cell(self, text: str, corner: Point, side: float, ink: Any) -> None:
        x, y = corner
        self._canvas.setFillColor(ink)
        self._canvas.rect(x, y, side - 0.6, side - 0.6, stroke=0, fill=1)
        size = min(7.0, 0.42 * side)
        if width_of(text, REGULAR, size) <= side:
            at = x + side / 2, y + side / 2 - size / 3
            write(self._canvas, at, text, size, "text", anchor=MIDDLE)

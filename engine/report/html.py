"""A report as one HTML page that needs nothing else: no network, no fonts, no files; whole without its script."""

import json
import math
from collections.abc import Iterator
from html import escape
from typing import Final

from engine.config import assets_folder
from engine.graph.codes import UNKNOWN
from engine.report.confusion import Confusion, Folded
from engine.report.document import (
    BarPlot,
    Block,
    ClassName,
    ColumnPlot,
    Document,
    Facts,
    FigureTable,
    LinePlot,
    Matrix,
    ReportSection,
    ReportText,
    TableColumn,
    Value,
)
from engine.report.shown import NUMBERS, note_of, printable, shown_rows, shown_value
from engine.report.svg import svg_of
from engine.report.words import DASH, amount, class_of, phrase

MOST_PAIRS: Final = 60_000
"""Pairs of classes with which the matrix can still be folded in the page: about a megabyte."""
MOST_INDENT: Final = 84  # pixels of the names of rows
BEGINNING: Final = "<!DOCTYPE html>\n<!-- Written by Protoleaf -->\n"
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def html_of(document: Document) -> Iterator[str]:
    """The page, in parts."""
    title = escape(document.title)
    yield BEGINNING
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield f"<title>{title} {DASH} {escape(document.subtitle)}</title><style>{_asset('page.css')}</style></head>\n"
    yield f'<body><div class="page"><header><h1><bdi>{title}</bdi></h1><p>{escape(document.subtitle)}</p></header>'
    yield f'<nav aria-label="{escape(phrase("Contents"))}"><ol>'
    for section in document.sections:
        yield f'<li><a href="#{section.key}">{escape(section.title)}</a></li>'
    yield "</ol></nav><main>\n"
    for section in document.sections:
        yield from _section(section)
    yield f"</main><footer>{escape(document.foot)}</footer></div><script>{_asset('page.js')}</script></body></html>\n"


def _asset(name: str) -> str:
    """The style sheet, or the little script that sorts tables and folds the matrix."""
    return (assets_folder() / "report" / name).read_text(encoding="utf-8")


def _section(section: ReportSection) -> Iterator[str]:
    yield f'<section id="{section.key}" aria-labelledby="{section.key}-title">'
    yield f'<h2 id="{section.key}-title">{escape(section.title)}</h2>'
    titled = ""
    for block in section.blocks:
        yield from _block(block, is_titled=getattr(block, "title", "") not in ("", titled))
        titled = getattr(block, "title", titled)
    yield "</section>\n"


def _block(block: Block, *, is_titled: bool) -> Iterator[str]:
    if is_titled and not isinstance(block, Facts | ReportText):
        yield f"<h3>{escape(block.title)}</h3>"
    match block:
        case Facts():
            yield from _facts(block)
        case ReportText():
            yield f"<p{' class=warning' if block.is_warning else ''}>{escape(block.text)}</p>"
        case FigureTable():
            yield from _table_block(block)
        case BarPlot() | ColumnPlot() | LinePlot():
            yield svg_of(block)
            yield _note(block.note)
        case Matrix():
            yield from _matrix(block)


def _note(words: str) -> str:
    return f'<p class="note">{escape(words)}</p>' if words else ""


def _facts(facts: Facts) -> Iterator[str]:
    yield '<dl class="facts">'
    for fact in facts.facts:
        note = f'<dd class="small">{escape(fact.note)}</dd>' if fact.note else ""
        yield f"<div><dt><bdi>{escape(fact.title)}</bdi></dt><dd>{escape(fact.value)}</dd>{note}</div>"
    yield "</dl>"


# -- tables


def _table_block(table: FigureTable) -> Iterator[str]:
    if table.is_in_chart:
        words = phrase("Show as a table")
        yield f"<details><summary>{escape(words)}</summary>"
    yield from _table(table)
    yield _note(note_of(table))
    if table.is_in_chart:
        yield "</details>"


def _table(table: FigureTable) -> Iterator[str]:
    name = escape(table.title)
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table class="sorts"><thead><tr>'
    for column in table.columns:
        kind = ' class="n"' if column.kind in NUMBERS else ""
        yield f'<th scope="col"{kind}><bdi>{escape(column.title)}</bdi></th>'
    yield "</tr></thead><tbody>"
    for row in shown_rows(table):
        cells = zip(table.columns, row, strict=True)
        yield (
            "<tr>"
            + "".join(
                _cell(column, value, is_first=not at) for at, (column, value) in enumerate(cells)
            )
            + "</tr>"
        )
    yield "</tbody></table></div>"


def _cell(column: TableColumn, value: Value, *, is_first: bool) -> str:
    tag = "th" if is_first and column.kind not in NUMBERS else "td"
    scope = ' scope="row"' if tag == "th" else ""
    if column.kind in NUMBERS:
        number = value[0] if isinstance(value, tuple) else value
        order = "" if not isinstance(number, int | float) or math.isnan(number) else f"{number:.6g}"
        return (
            f'<{tag} class="n" data-v="{order}"{scope}>{escape(shown_value(column, value))}</{tag}>'
        )
    if isinstance(value, ClassName):
        above = value.path.rpartition("/")[0] if value.path != value.name else ""
        higher = (
            f'<span class="above"><bdi>{escape(printable(_shortened(above)))}</bdi></span>'
            if above
            else ""
        )
        return (
            f'<{tag} class="name"{scope}><bdi>{escape(printable(value.name))}</bdi>{higher}</{tag}>'
        )
    return f'<{tag} class="name"{scope}><bdi>{escape(printable(shown_value(column, value)))}</bdi></{tag}>'


def _shortened(path: str, longest: int = 120) -> str:
    return path if len(path) <= longest else f"…{path[-longest:]}"


# -- the matrix


def _matrix(block: Matrix) -> Iterator[str]:
    confusion = block.confusion
    opened = confusion.first_cut()
    folded, can_fold = confusion.folded(opened), len(confusion.true) <= MOST_PAIRS
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(block.title)}">'
    yield f'<table class="matrix" id="matrix"><caption class="note">{escape(block.summary)}</caption>'
    yield from _matrix_rows(confusion, folded)
    yield "</table></div>"
    yield _note(block.note)
    if can_fold:
        yield f'<script type="application/json" id="matrix-data">{_matrix_data(confusion, opened)}</script>'


def _matrix_rows(confusion: Confusion, folded: Folded) -> Iterator[str]:
    names = [
        escape(printable(class_of(confusion.tree, line.class_id).name)) for line in folded.lines
    ]
    heads = "".join(
        f'<th scope="col"><span dir="auto" title="{name}">{name}</span></th>' for name in names
    )
    down, across = escape(phrase("Correct class")), escape(phrase("Predicted class"))
    axes = f'<td class="axes"><span>{across} →</span><span>{down} ↓</span></td>'
    yield f'<thead><tr>{axes}{heads}<td class="total"></td></tr></thead><tbody>'
    by_row: dict[int, dict[int, int]] = {}
    for (row, column), count in folded.cells.items():
        by_row.setdefault(row, {})[column] = count
    for row, line in enumerate(folded.lines):
        total, cells = int(folded.row_totals[row]), by_row.get(row, {})
        indent = min(14 * line.depth, MOST_INDENT)
        name = f'<span class="leaf" dir="auto">{names[row]}</span>'
        yield f'<tr><th scope="row" style="padding-inline-start:{indent}px">{name}</th>'
        yield "".join(
            _matrix_cell(cells.get(column, 0), total, is_right=row == column)
            for column in range(len(names))
        )
        yield f'<td class="total">{amount(int(folded.branch_totals[row]))}</td></tr>'
    yield "</tbody>"


def _matrix_cell(count: int, total: int, *, is_right: bool) -> str:
    if not count:
        return "<td></td>"
    hue, depth = "heat" if is_right else "wrong", 0.12 + 0.68 * math.sqrt(count / total)
    return f'<td style="background:rgba(var(--{hue}),{depth:.3f})">{count}</td>'


def _matrix_data(confusion: Confusion, opened: frozenset[int]) -> str:
    """Classes with images below them, and the pairs, by place among the classes."""
    used = set[int]()
    for class_id in {*confusion.true.tolist(), *confusion.predicted.tolist()} - {UNKNOWN}:
        used.update(confusion.tree.branch(class_id))
    ids = [each for each in confusion.tree.names if each in used]
    if UNKNOWN in confusion.true or UNKNOWN in confusion.predicted:
        ids.append(UNKNOWN)
    place = {class_id: at for at, class_id in enumerate(ids)}
    data = {
        "ids": ids,
        "names": [printable(class_of(confusion.tree, each).name) for each in ids],
        "parent": [confusion.tree.parent.get(each) for each in ids],
        "open": sorted(opened),
        "pairs": [
            [place[true], place[predicted], count] for true, predicted, count in confusion.pairs()
        ],
    }
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")

"""A report as one self-contained HTML page; without its script all content is still shown."""

import json
import math
from collections.abc import Iterator
from html import escape

from engine.config import assets_folder
from engine.graph.codes import UNKNOWN
from engine.report.confusion import Confusion, Folded
from engine.report.document import (
    Block,
    ClassName,
    Document,
    Facts,
    FigureTable,
    Matrix,
    ReportChart,
    ReportSection,
    ReportText,
    TableColumn,
    Value,
)
from engine.report.svg import svg_of
from engine.report.words import (
    DASH,
    NUMBERS,
    amount,
    class_of,
    note_of,
    phrase,
    printable,
    shown_rows,
    shown_value,
)

MAX_PAIRS = 60_000
"""Pairs of classes up to which the matrix can be folded in the page: about a megabyte."""
MAX_INDENT = 84  # pixels of the names of rows
MAX_PATH = 120  # characters of the path below the name of a class
BEGINNING = "<!DOCTYPE html>\n<!-- Written by Protoleaf -->\n"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def html_of(document: Document) -> Iterator[str]:
    """The page, in parts."""
    title, subtitle = escape(document.title), escape(document.subtitle)
    yield BEGINNING
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield f"<title>{title} {DASH} {subtitle}</title><style>{_asset('page.css')}</style></head>\n"
    yield f'<body><div class="page"><header><h1><bdi>{title}</bdi></h1><p>{subtitle}</p></header>'
    yield f'<nav aria-label="{escape(phrase("Contents"))}"><ol>'
    for section in document.sections:
        yield f'<li><a href="#{section.key}">{escape(section.title)}</a></li>'
    yield "</ol></nav><main>\n"
    for section in document.sections:
        yield from _section(section)
    yield f"</main><footer>{escape(document.footer)}</footer></div>"
    yield f"<script>{_asset('page.js')}</script></body></html>\n"


def _asset(name: str) -> str:
    """The style sheet, or the script that sorts tables and folds the matrix."""
    return (assets_folder() / "report" / name).read_text(encoding="utf-8")


def _section(section: ReportSection) -> Iterator[str]:
    yield f'<section id="{section.key}" aria-labelledby="{section.key}-title">'
    yield f'<h2 id="{section.key}-title">{escape(section.title)}</h2>'
    last_title = ""
    for block in section.blocks:
        title = getattr(block, "title", "")
        if title not in ("", last_title):
            yield f"<h3>{escape(title)}</h3>"
        yield from _block(block)
        last_title = title or last_title
    yield "</section>\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Facts():
            yield from _facts(block)
        case ReportText():
            yield f"<p{' class=warning' if block.is_warning else ''}>{escape(block.text)}</p>"
        case FigureTable():
            yield from _table(block)
        case ReportChart():
            yield svg_of(block)
            yield _note(block.note)
        case Matrix():
            yield from _matrix(block)


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>' if text else ""


def _facts(facts: Facts) -> Iterator[str]:
    yield '<dl class="facts">'
    for fact in facts.facts:
        title, value = escape(fact.title), escape(fact.value)
        note = f'<dd class="small">{escape(fact.note)}</dd>' if fact.note else ""
        yield f"<div><dt><bdi>{title}</bdi></dt><dd>{value}</dd>{note}</div>"
    yield "</dl>"


def _scroll_area(title: str) -> str:
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}">'


def _table(table: FigureTable) -> Iterator[str]:
    if table.is_in_chart:
        yield f"<details><summary>{escape(phrase('Show as a table'))}</summary>"
    yield f'{_scroll_area(table.title)}<table class="sorts"><thead><tr>'
    for column in table.columns:
        kind = ' class="n"' if column.kind in NUMBERS else ""
        yield f'<th scope="col"{kind}><bdi>{escape(column.title)}</bdi></th>'
    yield "</tr></thead><tbody>"
    for row in shown_rows(table):
        cells = enumerate(zip(table.columns, row, strict=True))
        shown = (_cell(column, value, is_first=not at) for at, (column, value) in cells)
        yield f"<tr>{''.join(shown)}</tr>"
    yield "</tbody></table></div>"
    yield _note(note_of(table))
    if table.is_in_chart:
        yield "</details>"


def _cell(column: TableColumn, value: Value, *, is_first: bool) -> str:
    text = escape(printable(shown_value(column, value)))
    if column.kind in NUMBERS:
        number = value[0] if isinstance(value, tuple) else value
        is_missing = not isinstance(number, int | float) or math.isnan(number)
        return f'<td class="n" data-v="{"" if is_missing else f"{number:.6g}"}">{text}</td>'
    tag, scope = ("th", ' scope="row"') if is_first else ("td", "")
    above = ""
    if isinstance(value, ClassName) and value.path != value.name:
        path = value.path.rpartition("/")[0]
        if len(path) > MAX_PATH:
            path = f"…{path[-MAX_PATH:]}"
        if path:
            above = f'<span class="above"><bdi>{escape(printable(path))}</bdi></span>'
    return f'<{tag} class="name"{scope}><bdi>{text}</bdi>{above}</{tag}>'


def _matrix(block: Matrix) -> Iterator[str]:
    confusion = block.confusion
    opened = confusion.first_cut()
    yield f'{_scroll_area(block.title)}<table class="matrix" id="matrix">'
    yield f'<caption class="note">{escape(block.summary)}</caption>'
    yield from _matrix_rows(confusion, confusion.folded(opened))
    yield "</table></div>"
    yield _note(block.note)
    if len(confusion.true) <= MAX_PAIRS:
        data = _matrix_data(confusion, opened)
        yield f'<script type="application/json" id="matrix-data">{data}</script>'


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
    cells = folded.cells
    for row, line in enumerate(folded.lines):
        total = int(folded.row_totals[row])
        indent = min(14 * line.depth, MAX_INDENT)
        name = f'<span class="leaf" dir="auto">{names[row]}</span>'
        yield f'<tr><th scope="row" style="padding-inline-start:{indent}px">{name}</th>'
        yield "".join(
            _matrix_cell(cells.get((row, column), 0), total, is_right=row == column)
            for column in range(len(names))
        )
        yield f'<td class="total">{amount(int(folded.branch_totals[row]))}</td></tr>'
    yield "</tbody>"


def _matrix_cell(count: int, total: int, *, is_right: bool) -> str:
    if not count:
        return "<td></td>"
    hue, opacity = "heat" if is_right else "wrong", 0.12 + 0.68 * math.sqrt(count / total)
    return f'<td style="background:rgba(var(--{hue}),{opacity:.3f})">{count}</td>'


def _matrix_data(confusion: Confusion, opened: frozenset[int]) -> str:
    """JSON of the classes with images in their branch, and of the pairs, as indices into them."""
    tree = confusion.tree
    used = set[int]()
    for class_id in {*confusion.true.tolist(), *confusion.predicted.tolist()} - {UNKNOWN}:
        used.update(tree.branch(class_id))
    ids = [each for each in tree.names if each in used]
    if UNKNOWN in confusion.true or UNKNOWN in confusion.predicted:
        ids.append(UNKNOWN)
    place = {class_id: at for at, class_id in enumerate(ids)}
    data = {
        "ids": ids,
        "names": [printable(class_of(tree, each).name) for each in ids],
        "parent": [tree.parent.get(each) for each in ids],
        "open": sorted(opened),
        "pairs": [
            [place[true], place[predicted], count] for true, predicted, count in confusion.pairs()
        ],
    }
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")

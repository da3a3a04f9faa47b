"""Tables as text, workbooks and archives."""

import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.errors import FormatError
from engine.interchange.detect import read_graph
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import opened_table
from engine.interchange.tables.recognise import layout_of

RELATIONS = (
    "<Relationships "
    'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="S">{}</table:table></office:spreadsheet></office:body>'
    "</office:document-content>"
)


def cell(text: str, place: str = "") -> str:
    """A cell of Excel, a number where it is one."""
    reference = f' r="{place}"' if place else ""
    if text.replace(".", "").isdigit():
        return f"<c{reference}><v>{text}</v></c>"
    return f'<c t="inlineStr"{reference}><is><t>{text}</t></is></c>'


def excel(folder: Path, sheets: Mapping[str, str]) -> Path:
    """A workbook of these sheets, each with the XML of its rows."""
    path = folder / "classes.xlsx"
    ids = range(1, 1 + len(sheets))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "_rels/.rels",
            RELATIONS.format(
                f'<Relationship Id="r" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
            ),
        )
        links = "".join(
            f'<Relationship Id="r{at}" Type="{OFFICE}/worksheet" Target="worksheets/s{at}.xml"/>'
            for at in ids
        )
        archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS.format(links))
        listed = "".join(
            f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>'
            for at, name in zip(ids, sheets, strict=True)
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        for at, rows in zip(ids, sheets.values(), strict=True):
            archive.writestr(
                f"xl/worksheets/s{at}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>',
            )
    return path


def libre_office(folder: Path, rows: str) -> Path:
    """A workbook of LibreOffice with these rows."""
    path = folder / "classes.ods"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", ODS.format(rows))
    return path


def rows_of(*rows: tuple[str, ...]) -> str:
    return "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)


def test_the_sheet_with_the_table_is_read(tmp_path: Path) -> None:
    """Not a cover before it; numbers are read as people see them, and a title may stand above."""
    table = rows_of(
        ("Birds",), ("child", "parent", "id"), ("Bird", "", "7.0"), ("Gull", "Bird", "8.5")
    )
    graph = read_graph(excel(tmp_path, {"Cover": rows_of(("About this list",)), "List": table}))
    assert [(each.name, each.attributes.source_id) for each in graph.classes] == [
        ("Bird", "7"),
        ("Gull", "8.5"),
    ]


def test_merged_cells_all_have_their_text(tmp_path: Path) -> None:
    """Down a column, wherever the sheet begins; a merged title above stays one cell."""
    rows = (
        ("B2", "Birds of the lake"),
        ("B3", "parent"),
        ("C3", "child"),
        ("B4", "Bird"),
        ("C4", "Gull"),
        ("C5", "Tern"),
    )
    cells = "".join(f'<row r="{place[1]}">{cell(text, place)}</row>' for place, text in rows)
    merged = (
        '</sheetData><mergeCells><mergeCell ref="B4:B5"/><mergeCell ref="B2:C2"/>'
        "</mergeCells><sheetData>"
    )
    graph = read_graph(excel(tmp_path, {"S": cells + merged}))
    assert graph.edges == (("Bird", "Gull"), ("Bird", "Tern"))


def test_a_workbook_of_libre_office(tmp_path: Path) -> None:
    """With the million blank rows that it writes below."""
    cells = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rows = "".join(
        f"<table:table-row>{''.join(map(cells.format, row))}</table:table-row>"
        for row in (("child", "parent"), ("Gull", "Bird"))
    )
    blank = (
        '<table:table-row table:number-rows-repeated="1048574">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    assert read_graph(libre_office(tmp_path, rows + blank)).edges == (("Bird", "Gull"),)


@pytest.mark.slow
def test_hostile_workbooks_take_little_memory(tmp_path: Path) -> None:
    """A cell in the farthest corner, endless repetition, a sheet of unpacked gigabytes."""
    far = excel(
        tmp_path,
        {
            "S": (
                f'<row r="1">{cell("child", "A1")}</row><row r="1048576">'
                f"{cell('x', 'XFD1048576')}</row>"
            )
        },
    )
    filled = (
        '<table:table-cell table:number-columns-repeated="16000" office:value-type="string">'
        "<text:p>x</text:p></table:table-cell>"
    )
    repeated = libre_office(
        tmp_path,
        f'<table:table-row table:number-rows-repeated="1000000">{filled}</table:table-row>',
    )
    disguised = (
        tmp_path / "classes-disguised.xlsx"
    )  # the sheet is called as a document of LibreOffice is
    with zipfile.ZipFile(disguised, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr(
            "content.xml", f"<worksheet><row>{cell('x', 'XFD1048576')}</row></worksheet>"
        )
    tracemalloc.start()
    for path in (far, repeated, disguised):
        with pytest.raises(
            FormatError,
            match=r"sheet of the workbook classes.* has too many cells: expected at most 4,000,000",
        ):
            read_graph(path)
    large = tmp_path / "large.xlsx"
    with zipfile.ZipFile(large, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        with archive.open("xl/worksheets/s1.xml", "w", force_zip64=True) as file:
            for _ in range(300):
                file.write(bytes(2**20))
    with pytest.raises(FormatError, match=r"workbook large.xlsx is too large to be read"):
        read_graph(large)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20


def test_very_many_merged_cells_are_refused(tmp_path: Path) -> None:
    merged = f"</sheetData><mergeCells>{200_001 * '<mergeCell/>'}</mergeCells><sheetData>"
    with pytest.raises(FormatError, match="too many cells"):
        read_graph(excel(tmp_path, {"S": rows_of(("child",)) + merged}))


def test_a_broken_workbook_is_called_so(tmp_path: Path) -> None:
    """Together with what to do."""
    path = tmp_path / "old.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(
        FormatError, match=r"workbook old.xls cannot be read: .*save its sheet as CSV"
    ):
        read_graph(path)


def test_one_table_in_an_archive(tmp_path: Path) -> None:
    """Beside what a Mac adds."""
    with zipfile.ZipFile(tmp_path / "list.zip", "w") as archive:
        archive.writestr("list/classes.csv", "child,parent\nGull,Bird\n")
        archive.writestr("__MACOSX/list/._classes.csv", "\0\5")
    with opened_table(tmp_path / "list.zip") as table:
        assert (table.name, table.columns) == ("list/classes.csv", ("child", "parent"))
        assert list(table.rows) == [(2, ["Gull", "Bird"])]


@pytest.mark.parametrize(
    ("header", "cells", "name", "ranks"),
    [
        (
            "filename,class,order,family,genus,species,wi_taxon_id",
            "a.jpg,Mammalia,Carnivora,Canidae,Vulpes,vulpes,7",
            "",
            5,
        ),
        ("image,class,order", "a.jpg,fox,3", "class", 0),
        ("image,class,path", "a.jpg,fox,A/fox", "class", 0),
        ("File,RelativePath,Species", "a.jpg,x,fox", "Species", 0),
        ("image,label,class", "a.jpg,fox,1", "label", 0),
        ("file,scientificName,class", "a.jpg,Vulpes vulpes,Mammalia", "scientificName", 1),
    ],
)
def test_the_class_in_tables_of_labels(header: str, cells: str, name: str, ranks: int) -> None:
    """Beside other ranks "class" is one, and never the label; a column of numbers is no rank."""
    columns = header.split(",")
    layout = layout_of(columns, [(2, cells.split(","))], TablePurpose.LABELS)
    assert layout is not None
    assert {role.value: columns[at] for role, at in layout.columns.items()}.get("class", "") == name
    assert len(layout.ranks) == ranks

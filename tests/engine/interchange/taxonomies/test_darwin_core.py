"""Checklists in Darwin Core."""

import csv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.errors import FormatError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.detect import detect_format, read_graph
from engine.interchange.imported import ImportedClass, ImportedGraph, LeftOutReason
from engine.interchange.taxonomies import checklist_archive, packages
from tests.support.taxonomies import facts_of, made_terms

GBIF = (
    "taxonID",
    "datasetID",
    "parentNameUsageID",
    "acceptedNameUsageID",
    "originalNameUsageID",
    "scientificName",
    "scientificNameAuthorship",
    "canonicalName",
    "genericName",
    "specificEpithet",
    "infraspecificEpithet",
    "taxonRank",
    "nameAccordingTo",
    "namePublishedIn",
    "taxonomicStatus",
    "nomenclaturalStatus",
    "taxonRemarks",
    "kingdom",
    "phylum",
    "class",
    "order",
    "family",
    "genus",
)
"""Columns of the GBIF backbone's Taxon.tsv."""

BACKBONE = (
    {
        "taxonID": "212",
        "parentNameUsageID": "44",
        "scientificName": "Aves",
        "taxonRank": "CLASS",
        "taxonRemarks": "birds",
    },
    {
        "taxonID": "2481139",
        "parentNameUsageID": "9316",
        "scientificName": "Larus canus Linnaeus, 1758",
        "scientificNameAuthorship": "Linnaeus, 1758",
        "taxonRank": "species",
        "taxonomicStatus": "accepted",
    },
    {
        "taxonID": "9",
        "parentNameUsageID": "9316",
        "acceptedNameUsageID": "2481139",
        "canonicalName": "Larus hybernus",
        "scientificName": "Larus hybernus Gmelin, 1789",
        "taxonomicStatus": "synonym",
    },
    {
        "taxonID": "9316",
        "parentNameUsageID": "212",
        "scientificName": "Larus Linnaeus, 1758",
        "canonicalName": "Larus",
    },
    {
        "taxonID": "10",
        "parentNameUsageID": "9316",
        "scientificName": "Larus dubius",
        "taxonomicStatus": "doubtful synonym",
    },
)

META = """<archive xmlns="http://rs.tdwg.org/dwc/text/">
  <core encoding="ISO-8859-1" fieldsTerminatedBy="\\t" fieldsEnclosedBy="" ignoreHeaderLines="1"
        rowType="http://rs.tdwg.org/dwc/terms/Taxon">
    <files><location>taxa.txt</location></files>
    <id index="0"/>
    <field index="1" term="http://rs.tdwg.org/dwc/terms/parentNameUsageID"/>
    <field index="2" term="http://rs.tdwg.org/dwc/terms/scientificName"/>
  </core>
  <extension fieldsTerminatedBy="," ignoreHeaderLines="0" \
rowType="http://rs.gbif.org/terms/1.0/VernacularName">
    <files><location>names.csv</location></files>
    <coreid index="0"/>
    <field index="1" term="http://rs.tdwg.org/dwc/terms/vernacularName"/>
    <field index="2" term="http://purl.org/dc/terms/language"/>
    <field index="3" term="http://rs.gbif.org/terms/1.0/isPreferredName"/>
  </extension>
</archive>"""


def table(*rows: Mapping[str, str], separator: str = "\t") -> str:
    """A table with a header."""
    lines = [GBIF, *([row.get(column, "") for column in GBIF] for row in rows)]
    return "".join(separator.join(line) + "\n" for line in lines)


def written(folder: Path, text: str, name: str = "Taxon.tsv") -> Path:
    """A file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def zipped(folder: Path, files: Mapping[str, str] | Mapping[str, bytes]) -> Path:
    """An archive of these files."""
    path = folder / "checklist.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def paths_of(graph: ImportedGraph) -> set[str]:
    """Every class by the names of its parent and itself."""
    names = {each.key: each.name for each in graph.classes}
    below = {child for _, child in graph.edges}
    return {f"{names[a]}/{names[b]}" for a, b in graph.edges} | {
        names[key] for key in names if key not in below
    }


def test_an_extract_of_the_backbone(tmp_path: Path) -> None:
    """Names have no author; synonyms are read; missing source rows do no harm."""
    graph = read_graph(written(tmp_path, table(*BACKBONE)))
    assert paths_of(graph) == {"Aves", "Aves/Larus", "Larus/Larus canus"}
    attributes = {each.name: each.attributes for each in graph.classes}
    assert attributes == {
        "Aves": ClassAttributes("212", note="birds", rank="class"),
        "Larus": ClassAttributes("9316", ("Larus Linnaeus, 1758",)),
        "Larus canus": ClassAttributes(
            "2481139", ("Larus canus Linnaeus, 1758", "Larus hybernus"), rank="species"
        ),
    }


def test_an_archive_that_describes_itself(tmp_path: Path) -> None:
    """Columns, encoding and tables are those of meta.xml, also when unpacked."""
    files: dict[str, bytes] = {
        "meta.xml": META.encode(),
        "taxa.txt": "id\tabove\tname\n1\t\tOiseaux\n2\t1\tGoéland\n".encode("latin-1"),
        "names.csv": (
            '2,"gull, mew"\n2,Seemöwe,deu,\n2,Möwe,de,true\n7,nobody\n2,måse,klingon,\n'
        ).encode(),
    }
    path = zipped(tmp_path, files)
    for name, content in files.items():
        (tmp_path / "unpacked").mkdir(exist_ok=True)
        (tmp_path / "unpacked" / name).write_bytes(content)
    for source in (path, tmp_path / "unpacked"):
        assert detect_format(source) == "darwin-core"
        graph = read_graph(source)
        assert paths_of(graph) == {"Oiseaux", "Oiseaux/Goéland"}
        assert graph.classes[1].attributes == ClassAttributes(
            "2", ("Möwe@de", "gull, mew", "Seemöwe@de", "måse")
        )


def test_a_checklist_of_ours(tmp_path: Path) -> None:
    """Terms of the standard, rows of synonyms, GBIF's vernacular names; the rest is JSON."""
    tench = ClassAttributes(
        "https://gbif.example/1", ("Schleie@de", "tinca", "Tench@en"), "slimy", rank="species"
    )
    odd = ClassAttributes(note="two\nlines", colour="#a0b1c2", rank="Form")
    graph = ImportedGraph(
        (
            ImportedClass("1", "Fish"),
            ImportedClass("2", "Pond", ClassAttributes("urn:protoleaf:class:1")),
            ImportedClass("3", "Tinca tinca", tench),
            ImportedClass("4", "Golden", odd),
        ),
        (("1", "3"), ("2", "3"), ("3", "4")),
    )
    path = tmp_path / "checklist.zip"
    path.write_bytes(checklist_archive.to_archive(graph, about="test"))
    with zipfile.ZipFile(path) as archive:
        taxa = list(csv.DictReader(archive.read("taxon.csv").decode().splitlines()))
        names = archive.read("vernacularname.csv").decode().splitlines()
    tinca = next(row for row in taxa if row["scientificName"] == "Tinca tinca")
    assert (
        tinca["taxonID"],
        tinca["parentNameUsageID"],
        tinca["taxonRank"],
        tinca["taxonomicStatus"],
    ) == ("https://gbif.example/1", "urn:protoleaf:class:1", "species", "accepted")
    assert [row["acceptedNameUsageID"] for row in taxa if row["taxonomicStatus"] == "synonym"] == [
        tinca["taxonID"]
    ]
    assert names == [
        "coreid,vernacularName,language,isPreferredName",
        "https://gbif.example/1,Schleie,de,true",
        "https://gbif.example/1,Tench,en,true",
    ]
    assert detect_format(path) == "darwin-core"
    assert facts_of(read_graph(path)) == facts_of(graph)


@pytest.mark.parametrize(
    "text", ["[1]", '{"protoleaf": 3}', '{"protoleaf": {"parents": [7, "x"], "note": 3}}', "{"]
)
def test_what_others_wrote_into_our_properties(tmp_path: Path, text: str) -> None:
    """It is passed over."""
    content = (
        f"taxonID\tscientificName\tparentNameUsageID\tdynamicProperties\n1\tA\t\t\n2\tB\t"
        f"1\t{text}\n"
    )
    assert paths_of(read_graph(written(tmp_path, content))) == {"A", "A/B"}


def test_a_folder_of_images_is_none(tmp_path: Path) -> None:
    """Whatever tables and descriptions lie beside the classes."""
    (tmp_path / "Gull").mkdir()
    (tmp_path / "taxonomy.csv").write_text("scientificName,family\n", encoding="utf-8")
    (tmp_path / "meta.xml").write_text("<camera/>", encoding="utf-8")
    assert detect_format(tmp_path) == "folders"


def test_ranks_in_the_place_of_parents(tmp_path: Path) -> None:
    """A species list of GBIF: ancestors are in columns; a genus with a row is the same class."""
    text = (
        "taxonKey,scientificName,acceptedTaxonKey,taxonRank,class,family,genus,vernacularName\n"
        "1,Larus canus,1,SPECIES,Aves,Laridae,Larus,Gull | Mew\n"
        "2,Larus,2,GENUS,Aves,Laridae,Larus,\n"
        "3,Old canus,1,SPECIES,Aves,Laridae,Larus,\n"
        "4,Alle alle,,,Aves,,,\n"
        "5,Alle alle,,,Aves,,,\n"
    )
    graph = read_graph(zipped(tmp_path, {"0001.csv": text}))
    assert paths_of(graph) == {
        "Aves",
        "Aves/Laridae",
        "Laridae/Larus",
        "Larus/Larus canus",
        "Aves/Alle alle (4)",
        "Aves/Alle alle (5)",
    }
    ids = {each.name: each.attributes for each in graph.classes}
    assert ids["Larus canus"] == ClassAttributes(
        "1", ("Gull@und", "Mew@und", "Old canus"), rank="species"
    )
    assert ids["Larus"] == ClassAttributes("2", rank="genus")
    assert ids["Laridae"] == ClassAttributes(rank="family")


def test_b10_common_names_of_a_list_are_shown(tmp_path: Path) -> None:
    """Vernacular names without a language are a fallback for all languages."""
    path = tmp_path / "species.csv"
    path.write_text(
        "scientific name,common name,family\nLoxodonta africana,African elephant,Elephantidae\n"
        "Panthera leo,,Felidae\n"
    )
    shown = {each.name: each.attributes.name_in("de") for each in read_graph(path).classes}
    assert (shown["Loxodonta africana"], shown["Panthera leo"]) == ("African elephant", "")


@pytest.mark.slow
def test_some_thousand_taxa(tmp_path: Path) -> None:
    """A table of real size, with commas and quotes."""
    terms = made_terms(several_parents=False)
    rows = [
        {
            "taxonID": f"T{each.number}",
            "parentNameUsageID": f"T{each.parents[0]}" if each.parents else "",
            "scientificName": f'"{each.name}, 1758"',
            "scientificNameAuthorship": '", 1758"',
        }
        for each in terms
    ]
    graph = read_graph(written(tmp_path, table(*rows, separator=","), "taxa.csv"))
    below = {f"{terms[each.parents[0]].name}/{each.name}" for each in terms if each.parents}
    assert paths_of(graph) == below | {terms[0].name}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,2,A,\n2,1,B,", "its own ancestor: found . > "),
        ("1,2,,", "contains no classes: found rows without a name: line 2 of taxa.csv"),
        ('1,,"A,', "line 2 of taxa.csv cannot be read as a table"),
        ("", "contains no classes"),
    ],
)
def test_broken_tables(tmp_path: Path, rows: str, message: str) -> None:
    """Each is reported with the line that has to be corrected."""
    path = written(
        tmp_path, f"taxonID,parentNameUsageID,scientificName,genus\n{rows}\n", "taxa.csv"
    )
    with pytest.raises(FormatError, match=message):
        packages.read(path)


@pytest.mark.parametrize(
    ("rows", "paths", "reasons"),
    [
        ("1,,A,\n1,,B,", {"A"}, [LeftOutReason.REPEATED]),
        ("1,8,A,\n2,9,B,", {"A", "B"}, [LeftOutReason.NO_PARENT, LeftOutReason.NO_PARENT]),
        ("1,8,A b,A\n2,9,B c,B", {"A", "A/A b", "B", "B/B c"}, []),
        (",2,A,\n2,,B,", {"B", "B/A"}, []),
        (",,A,B\n,,A,B", {"B", "B/A"}, [LeftOutReason.REPEATED]),
        ("1,,A,\n2,1,,", {"A"}, [LeftOutReason.NO_NAME]),
    ],
)
def test_what_leaves_itself_out(
    tmp_path: Path, rows: str, paths: set[str], reasons: list[LeftOutReason]
) -> None:
    """Extracts of larger lists, repeated and empty rows."""
    path = written(
        tmp_path, f"taxonID,parentNameUsageID,scientificName,genus\n{rows}\n", "taxa.csv"
    )
    graph = packages.read(path)
    assert paths_of(graph) == paths
    assert [each.reason for each in graph.left_out] == reasons


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"meta.xml": META.replace("terms/Taxon", "terms/Occurrence")},
            "is not a checklist: .*importing labels",
        ),
        ({"meta.xml": META}, "not an archive that can be read: found .*taxa.txt"),
        ({"meta.xml": "<archive"}, "not well-formed"),
        (
            {"a.csv": "", "b.csv": ""},
            "does not specify which of its files lists the taxa: .* found a.csv, b.csv",
        ),
        ({"Taxon.tsv": "\0" * (65 * 2**20)}, "Taxon.tsv is too large for a taxonomy"),
        (
            {"Taxon.tsv": "what\nBird\n"},
            'the columns of Taxon.tsv were not recognised: .*found "what"',
        ),
    ],
)
def test_broken_archives(tmp_path: Path, files: dict[str, str], message: str) -> None:
    """Occurrences, missing and unclear tables, and a small archive of a huge one."""
    with pytest.raises(FormatError, match=message):
        packages.read(zipped(tmp_path, files))


def test_half_an_archive(tmp_path: Path) -> None:
    """Cut off while it was downloaded."""
    whole = zipped(tmp_path, {"Taxon.tsv": table(*BACKBONE)}).read_bytes()
    (tmp_path / "half.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"no table of taxa|UTF-8|not an archive"):
        read_graph(tmp_path / "half.zip")

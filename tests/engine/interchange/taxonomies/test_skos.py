"""Vocabularies in SKOS."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import FormatError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange import limits
from engine.interchange.detect import detect_format, read_graph
from engine.interchange.imported import ImportedClass, ImportedGraph, LeftOutReason
from engine.interchange.taxonomies import skos
from tests.support.taxonomies import Term, expected_facts, facts_of, made_terms

HEAD = f"@prefix skos: <{skos.SKOS}> .\n@base <https://birds.example/> .\n"
BIRDS = f"""{HEAD}
<bird> a skos:Concept ; skos:prefLabel "Vogel"@de, "Bird"@en-GB ;
    skos:scopeNote "scope" ; skos:definition "feathers"@en .
<gull> a skos:Concept ; skos:prefLabel "Mouette"@fr, "Möwe"@de ; skos:altLabel "mew" ; \
skos:hiddenLabel "gul"@de .
<bird> skos:narrower <gull> .
<auk> skos:broader <bird> ; skos:prefLabel "auk", "Auk"@en ; skos:related <gull> .
<scheme> a skos:ConceptScheme ; skos:prefLabel "Birds" ; skos:hasTopConcept <bird> .
"""
XML = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="{skos.SKOS}">
  <skos:Concept rdf:about="https://birds.example/bird"><skos:prefLabel>Bird</skos:prefLabel>\
</skos:Concept>
  <skos:Concept rdf:about="https://birds.example/gull">
    <skos:prefLabel xml:lang="en">Gull</skos:prefLabel>
    <skos:broader rdf:resource="https://birds.example/bird"/>
  </skos:Concept>
</rdf:RDF>
"""
LINKED = {
    "@context": {
        "skos": skos.SKOS,
        "broader": {"@id": "skos:broader", "@type": "@id"},
        "name": "skos:prefLabel",
    },
    "@graph": [
        {"@id": "https://birds.example/bird", "@type": "skos:Concept", "name": "Bird"},
        {
            "@id": "https://birds.example/gull",
            "name": "Gull",
            "broader": "https://birds.example/bird",
        },
    ],
}
BOMB = """<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY a "aaaaaaaaaa">\
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&b;</rdf:RDF>"""


def written(folder: Path, text: str, suffix: str = ".ttl") -> Path:
    """A file with this text."""
    path = folder / f"birds{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


def text_of(terms: list[Term]) -> str:
    """Terms as a vocabulary writes them."""
    blocks = [HEAD]
    for each in terms:
        broader = "".join(f" skos:broader <t/{parent}> ;" for parent in each.parents)
        blocks.append(
            f"<t/{each.number}> a skos:Concept ;{broader} skos:prefLabel "
            f"{json.dumps(each.name)}@en ;"
            f" skos:altLabel {json.dumps(each.synonym)}@en ; skos:definition "
            f"{json.dumps(each.note)}@en ."
        )
    return "\n".join(blocks)


def test_labels_languages_and_both_ways_of_saying_broader(tmp_path: Path) -> None:
    """Without language before English before others; other labels are synonyms.

    A hidden label is in no language that it would be shown in; a scheme is no class.
    """
    graph = skos.read(written(tmp_path, BIRDS))
    assert {
        each.name: (
            each.attributes.source_id.rpartition("/")[2],
            each.attributes.synonyms,
            each.attributes.note,
        )
        for each in graph.classes
    } == {
        "Bird": ("bird", ("Bird@en-GB", "Vogel@de"), "feathers"),
        "Möwe": ("gull", ("Möwe@de", "Mouette@fr", "mew", "gul"), ""),
        "auk": ("auk", ("Auk@en",), ""),
    }
    assert set(graph.edges) == {
        (f"https://birds.example/{a}", f"https://birds.example/{b}")
        for a, b in [("bird", "gull"), ("bird", "auk")]
    }


@pytest.mark.parametrize(
    ("text", "suffix"), [(XML, ".rdf"), (json.dumps(LINKED), ".json"), (XML, ".xml")]
)
def test_other_ways_of_writing_it(tmp_path: Path, text: str, suffix: str) -> None:
    """RDF/XML and JSON-LD say the same; which it is, the content tells."""
    path = written(tmp_path, text, suffix)
    assert detect_format(path) == "skos"
    assert [(each.name, each.key) for each in read_graph(path).classes] == [
        ("Bird", "https://birds.example/bird"),
        ("Gull", "https://birds.example/gull"),
    ]


@pytest.mark.slow
def test_some_thousand_concepts(tmp_path: Path) -> None:
    """A vocabulary of real size."""
    terms = made_terms(1_500)
    graph = read_graph(written(tmp_path, text_of(terms)))
    read = {
        name: (
            parents,
            replace(attributes, synonyms=attributes.other_names[1:]),
        )  # the first one is the name itself
        for name, (parents, attributes) in facts_of(graph).items()
    }
    assert read == expected_facts(terms, "https://birds.example/t/{}")


def test_languages_come_back(tmp_path: Path) -> None:
    """The first label of a language is preferred, others alternative; plain names stay."""
    names = ("Tench@en", "doctor fish@en", "Schleie@de", "tinca")
    graph = ImportedGraph((ImportedClass("1", "Tinca tinca", ClassAttributes("", names)),), ())
    text = skos.to_turtle(graph)
    labels = [line.strip(" ;.") for line in text.splitlines() if "Label" in line]
    assert labels == [
        'skos:prefLabel "Tinca tinca"',
        'skos:prefLabel "Tench"@en',
        'skos:prefLabel "Schleie"@de',
        'skos:altLabel "doctor fish"@en',
        'skos:altLabel "tinca"',
    ]
    again = read_graph(written(tmp_path, text)).classes[0]
    assert (again.name, set(again.attributes.synonyms)) == ("Tinca tinca", set(names))
    assert [again.attributes.name_in(language) for language in ("en", "de")] == ["Tench", "Schleie"]


def test_what_comes_in_with_one_language_goes_out_so(tmp_path: Path) -> None:
    """No second label without a language, where a reader chooses the same."""
    text = skos.to_turtle(read_graph(written(tmp_path, text_of(made_terms(1)))))
    assert [line.strip(" ;.") for line in text.splitlines() if "prefLabel" in line] == [
        'skos:prefLabel "Ärt 0"@en'
    ]


def test_relative_addresses_stay_relative(tmp_path: Path) -> None:
    """A file without a base gives the same ids wherever it lies."""
    text = f'@prefix skos: <{skos.SKOS}> . <#gull> skos:prefLabel "Gull" ; a skos:Concept .'
    assert [each.attributes for each in skos.read(written(tmp_path, text)).classes] == [
        ClassAttributes("#gull")
    ]


def test_our_own_comes_back(tmp_path: Path) -> None:
    """Names of any characters, ids that are URIs or not, multi-line notes, colours."""
    graph = ImportedGraph(
        (
            ImportedClass(
                "1",
                'and/or "海鸥" \\',
                ClassAttributes("https://birds.example/1", ("a", "b\U0001f600"), "two\nlines\t."),
            ),
            ImportedClass("2", "Gull", ClassAttributes("n0 1", colour="#a0b1c2")),
            ImportedClass("3", "Gull", ClassAttributes()),
            ImportedClass("4", "twin", ClassAttributes("urn:x:1")),
            ImportedClass("5", "other twin", ClassAttributes("urn:x:1")),
        ),
        (("1", "2"), ("2", "3"), ("1", "4"), ("2", "4")),
    )
    again = skos.read(written(tmp_path, skos.to_turtle(graph)))
    assert [(each.name, each.attributes) for each in again.classes] == [
        (each.name, each.attributes) for each in graph.classes
    ]
    number = {each.key: str(index) for index, each in enumerate(again.classes, start=1)}
    assert {(number[parent], number[child]) for parent, child in again.edges} == set(graph.edges)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BIRDS + "<bird> skos:broader <gull> .", "its own ancestor: found .* > "),
        (BIRDS[:-40], "cannot be read as RDF"),
        ("[" * 100_000, "JSON|too deeply"),
        (f"{HEAD} <a> skos:broader " + "[ skos:broader " * 5_000, "RDF|too deeply"),
        (HEAD, "contains no classes"),
        (
            json.dumps({**LINKED, "@context": "https://birds.example/context"}),
            "refers to a context on another server",
        ),
        (
            json.dumps({**LINKED, "@graph": [{"@context": ["file:///etc/hosts"]}]}),
            "refers to a context .*file:///etc/hosts",
        ),
        (
            json.dumps({"@context": {"@import": "https://birds.example/more"}}),
            "refers to a context",
        ),
        (BOMB, "declares a document type"),
        (XML[:-30], "not well-formed XML"),
    ],
)
def test_broken_and_hostile_files(tmp_path: Path, text: str, message: str) -> None:
    """What leads nowhere, circles, half files, pits, what would fetch, and what would expand."""
    with pytest.raises(FormatError, match=message):
        skos.read(written(tmp_path, text))


def test_too_many_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading stops before memory is full."""
    monkeypatch.setattr(limits.STATEMENTS, "most", 3)
    with pytest.raises(
        FormatError, match="has too many statements for a taxonomy: expected at most 3 statements"
    ):
        skos.read(written(tmp_path, BIRDS))


def test_odd_addresses_are_not_worth_a_log_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The library would warn of each one."""
    with caplog.at_level(logging.INFO):
        skos.read(written(tmp_path, BIRDS.replace("<auk>", "<a|uk>")))
    assert caplog.records == []


def test_withdrawn_concepts_leave_themselves_out(tmp_path: Path) -> None:
    """A concept without a preferred label is skipped, withdrawn or parent of another."""
    text = BIRDS.replace("<auk> skos:broader <bird>", "<auk> skos:broader <roc>")
    text += "<old> a skos:Concept ; <http://www.w3.org/2002/07/owl#deprecated> true ."
    (tmp_path / "birds.ttl").write_text(text, encoding="utf-8")
    graph = skos.read(tmp_path / "birds.ttl")
    assert [each.reason for each in graph.left_out] == [
        LeftOutReason.DEPRECATED,
        LeftOutReason.DEPRECATED,
        LeftOutReason.NO_PARENT,
    ]

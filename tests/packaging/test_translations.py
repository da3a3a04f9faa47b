"""Translations are complete and correct."""

import ast
import importlib.util
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType

import pytest

from engine.errors import Cancelled, CycleError, ProtoleafError

ERRORS = "engine.errors"
COUNTED = re.compile(
    r"%\d (?:more |new |labelled |selected |held-out )?"
    r"(?:images|labels|classes|predictions|folders|files|edits|examples|"
    r"pages|iterations|levels|places)\b(?!/)"
)
ROOT = Path(__file__).parents[2]
LANGUAGES = sorted(
    path.stem.removeprefix("protoleaf_") for path in (ROOT / "translations").glob("*.ts")
)


@pytest.fixture(scope="module")
def translations() -> ModuleType:
    """`packaging/translations.py`, a script."""
    spec = importlib.util.spec_from_file_location(
        "protoleaf_translations", ROOT / "packaging" / "translations.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pseudo_languages_keep_places_for_values(translations: ModuleType) -> None:
    """And mnemonics."""
    for translate in (translations.pseudo, translations.pseudo_hebrew):
        shown = translate("&Open {1} of {n} in {path:>3}, <b>x</b> &amp; https://a.example/b")
        for kept in ("{1}", "{n}", "{path:>3}", "<b>", "</b>", "&amp;", "https://a.example/b"):
            assert kept in shown
        assert shown.startswith("[&")
        assert "Open" not in shown
    assert translations.pseudo_hebrew("&Open {1}") == "[&עפהנ {1}]"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_is_complete(translations: ModuleType, language: str) -> None:
    """`make translations` adds new texts to its file and reports the same."""
    faults = translations.faults_of(ROOT / "translations" / f"protoleaf_{language}.ts")
    assert not faults, "\n".join(faults[:40])


@pytest.mark.slow
def test_what_is_lost_is_found(translations: ModuleType, tmp_path: Path) -> None:
    """Each error once, in a file of six texts."""
    root = ET.Element("TS", version="2.1", language="de_DE")
    context = ET.SubElement(root, "context")
    for text, *forms in (
        ("{1} of {2}", "{1} von"),
        ("Open…", "Öffnen"),
        (" and", "und"),
        ("Save", ""),
        ("Undo", "&Zurück"),
        ("{n} images", "ein Bild", "{n} Bilder"),
    ):
        message = ET.SubElement(context, "message")
        ET.SubElement(message, "source").text = text
        translation = ET.SubElement(message, "translation")
        if len(forms) == 1:
            translation.text = forms[0]
        for form in forms if len(forms) > 1 else ():
            ET.SubElement(translation, "numerusform").text = form
    path = tmp_path / "protoleaf_de.ts"
    ET.ElementTree(root).write(path, encoding="utf-8")
    own = [
        fault
        for fault in translations.faults_of(path)
        if "|" in fault or fault == "not translated: Save"
    ]
    assert [fault.partition(":")[0] for fault in own] == [
        "other places for values",
        "other dots at the end",
        "other spaces at the ends",
        "not translated",
        "a key of its own",
    ]
    assert "not translated: Cancel" in translations.faults_of(path)


@pytest.mark.slow
def test_each_message_of_an_error_class_is_collected(translations: ModuleType) -> None:
    """Also if the class has its texts itself."""
    with_own_texts = {CycleError: CycleError(("a", "b")), Cancelled: Cancelled()}
    kinds: list[type[ProtoleafError]] = [ProtoleafError]
    for kind in kinds:  # grows during the loop
        kinds += kind.__subclasses__()
    assert set(with_own_texts) == {
        kind for kind in kinds[1:] if "__init__" in vars(kind) and kind.__module__ == ERRORS
    }
    parts = {
        part.template for error in with_own_texts.values() for part in (error.what, error.remedy)
    }
    assert parts <= {text for text, _about in translations.all_texts()}


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        (
            'raise partial(ModelError, "{name} is not there", name=name)(found=found)',
            ["{name} is not there"],
        ),
        ('_REMEDIES = {404: "it has been moved"}', ["it has been moved"]),
        ('meter.note = "reading images"', ["reading images"]),
        (
            'names = tr("“{1}”", title) + tr("{1}: {2}", a, b) + tr("{1}", a) + tr(" ")',
            ["“{1}”", "{1}: {2}"],
        ),
        (
            'found = Message("{path}: {reason}", fields) + Message("{count}", fields)',
            ["{path}: {reason}"],
        ),
        ('make_reason("crashed", "it ended", "try again")', ["it ended", "try again"]),
        ('chosen, reason = "clip", marked("its name says so")', ["its name says so"]),
        ('InputError(expected="https://host", found="rdf:RDF", remedy="write it")', ["write it"]),
    ],
)
def test_what_is_a_text(translations: ModuleType, line: str, texts: list[str]) -> None:
    """Sentences anywhere, and punctuation around values; no codes, URLs or values alone."""
    assert [found.text for found in translations.texts_in(ast.parse(line))] == texts


@pytest.mark.slow
def test_no_code_is_collected(translations: ModuleType) -> None:
    """Nor queries and names of our files."""
    texts = translations.all_texts()
    assert not [
        text
        for text, _about in texts
        if re.fullmatch(r"\w+_\w+|SELECT .*|\w+\.json|clip|bgr|caffe|normalisation", text)
    ]


@pytest.mark.slow
def test_counts_of_things_have_plural_forms(translations: ModuleType) -> None:
    """A number before a plural noun needs plural forms, except sizes, rates and fixed plurals."""
    texts = {
        found.text
        for path in (ROOT / "app").rglob("*.py")
        for found in translations.texts_in(ast.parse(path.read_text(encoding="utf-8")))
        if not found.is_plural and COUNTED.search(found.text)
    }
    assert not texts

"""A language is finished: every text translated, and nothing lost in translation."""

import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
LANGUAGES = sorted(path.stem.removeprefix("protoleaf_") for path in (ROOT / "translations").glob("*.ts"))


@pytest.fixture(scope="module")
def translations() -> ModuleType:
    """`packaging/translations.py`, which is a script."""
    spec = importlib.util.spec_from_file_location("protoleaf_translations", ROOT / "packaging" / "translations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pseudo_languages_keep_places_for_values(translations: ModuleType) -> None:
    """And marks of keys."""
    for translate in (translations.pseudo, translations.pseudo_hebrew):
        shown = translate("&Open %1 of %n in {path:>3}, <b>x</b> &amp; https://a.example/b")
        for kept in ("%1", "%n", "{path:>3}", "<b>", "</b>", "&amp;", "https://a.example/b"):
            assert kept in shown
        assert shown.startswith("[&")
        assert "Open" not in shown
    assert translations.pseudo_hebrew("&Open %1") == "[&עפהנ %1]"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_is_complete(translations: ModuleType, language: str) -> None:
    """`make translations` adds new texts to its file, and says the same."""
    faults = translations.faults_of(ROOT / "translations" / f"protoleaf_{language}.ts")
    assert not faults, "\n".join(faults[:40])


def test_what_is_lost_is_found(translations: ModuleType, tmp_path: Path) -> None:
    """Each fault once, in a file of six texts."""
    root = ET.Element("TS", version="2.1", language="de_DE")
    context = ET.SubElement(root, "context")
    for text, *forms in (
        ("%1 of %2", "%1 von"), ("Open…", "Öffnen"), (" and", "und"), ("Save", ""), ("Undo", "&Zurück"),
        ("%n images", "ein Bild", "%n Bilder"),
    ):  # fmt: skip
        message = ET.SubElement(context, "message")
        ET.SubElement(message, "source").text = text
        translation = ET.SubElement(message, "translation")
        if len(forms) == 1:
            translation.text = forms[0]
        for form in forms if len(forms) > 1 else ():
            ET.SubElement(translation, "numerusform").text = form
    path = tmp_path / "protoleaf_de.ts"
    ET.ElementTree(root).write(path, encoding="utf-8")
    own = [fault for fault in translations.faults_of(path) if "|" in fault or fault == "not translated: Save"]
    assert [fault.partition(":")[0] for fault in own] == [
        "other places for values", "other dots at the end", "other spaces at the ends", "not translated",
        "a key of its own",
    ]  # fmt: skip
    assert "not translated: Cancel" in translations.faults_of(path)

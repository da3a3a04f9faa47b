"""The installed program has all languages of the window: texts, Qt's, guide, desktop entries."""

import ast
import configparser
import tomllib
import xml.etree.ElementTree as ET
from fnmatch import fnmatch
from pathlib import Path

import pytest
from installer import contents
from installer.linux import METAINFO
from installer.places import DESKTOP, PACKAGING, ROOT
from installer.program import compile_languages
from PySide6.QtCore import QLibraryInfo

from app.help.guide import read_guide

LANGUAGES = sorted(
    path.stem.removeprefix("protoleaf_") for path in (ROOT / "translations").glob("*.ts")
)
SPEC = (ROOT / "pyinstaller.spec").read_text(encoding="utf-8")
XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def test_there_are_five() -> None:
    """Besides English."""
    assert LANGUAGES == ["de", "es", "fr", "pt_BR", "zh_CN"]


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled as in a build."""
    compile_languages(tmp_path)
    monkeypatch.setattr(contents, "TRANSLATIONS", tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_the_program_carries_them() -> None:
    """With Qt's translations of these languages, on each system."""
    tables = [
        call
        for call in ast.walk(ast.parse(SPEC))
        if isinstance(call, ast.keyword) and call.arg == "datas"
    ]
    assert {'("assets", "assets")', '("docs/guide", "assets/guide")'} <= {
        ast.unparse(row).replace("'", '"')
        for row in tables[0].value.elts  # type: ignore[attr-defined]
    }
    assert contents.spoken_languages() == LANGUAGES
    own = [(f"assets/translations/protoleaf_{each}.qm", "", "DATA") for each in LANGUAGES]
    assert contents.wanted(own) == own
    of_qt = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    for folder in contents.QT_SENTENCES:
        entries = [(f"{folder}/{path.name}", str(path), "DATA") for path in of_qt.glob("*.qm")]
        names = [Path(name).stem for name, _source, _kind in contents.wanted(entries)]
        assert names == [f"qtbase_{language}" for language in LANGUAGES]


def test_wheel_and_source_archive_carry_them() -> None:
    """Compiled files are ignored by git and so by hatchling; wheels are built from the sdist."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"][
        "build"
    ]
    for language in LANGUAGES:
        assert any(
            fnmatch(f"assets/translations/protoleaf_{language}.qm", each)
            for each in build["artifacts"]
        )
    assert not [name for name, target in build["targets"].items() if "artifacts" in target], (
        "replaces that of all"
    )
    wheel = build["targets"]["wheel"]
    assert "assets" in wheel["packages"]
    assert wheel["force-include"]["docs/guide"] == "assets/guide"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_pages_of_the_guide_are_there(language: str) -> None:
    """In the distributed folder."""
    there = {path.stem for path in (ROOT / "docs" / "guide" / language).glob("*.md")}
    assert {"README", "first-collection"} <= there
    pages, english = (read_guide(ROOT / "docs" / "guide", code).pages for code in (language, ""))
    assert all(pages[name] != english[name] for name in there)


def test_the_desktop_finds_the_program_in_each() -> None:
    """Desktop entry, MIME type and software centre."""
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment,method-assign]
    entry.read(DESKTOP / "protoleaf.desktop", encoding="utf-8")
    fields = entry["Desktop Entry"]
    for name in ("GenericName", "Comment", "Keywords"):
        texts = [fields[name], *(fields[f"{name}[{language}]"] for language in LANGUAGES)]
        assert len(set(texts)) == len(texts)
        assert name != "Keywords" or all(text.endswith(";") for text in texts)
    assert {fields[f"Name[{language}]"] for language in LANGUAGES} == {"Protoleaf"}
    kinds = ET.parse(DESKTOP / "protoleaf.xml").getroot().findall(".//{*}comment")  # noqa: S314
    assert [each.get(XML_LANGUAGE) for each in kinds] == [
        None,
        *LANGUAGES,
    ] * 2  # projects, and copies with photos
    metainfo = ET.parse(DESKTOP / METAINFO).getroot()  # noqa: S314 (ours)
    assert [each.text for each in metainfo.iter("lang")] == ["en", *LANGUAGES]
    assert len({each.get(XML_LANGUAGE) for each in metainfo.iter("summary")}) == 1 + len(LANGUAGES)


def test_installers_of_windows_and_macos_know_them() -> None:
    """By the window's language codes; on macOS from the compiled files."""
    script = (PACKAGING / "windows" / "protoleaf.iss").read_text(encoding="utf-8-sig")
    for language in ("en", *LANGUAGES):
        assert f'Name: "{language}"; MessagesFile: "compiler:' in script
        assert f"\n{language}.ProjectKind=" in script
    assert '"CFBundleLocalizations": ["en", *spoken_languages()]' in SPEC

"""Links and references in documents are valid."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from engine.cli import label_commands
from engine.images.kinds import KINDS, RAW_KINDS
from engine.interchange.labelled_images.formats import FORMATS
from research import reference_pages

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
PLACES = ROOT / "docs" / "where-things-are.md"
RECORDS = ROOT / "docs" / "history" / "decisions"
MOST_WORDS = 450
FOLDERS = (
    "app",
    "engine",
    "packaging",
    "protoleaf",
    "protoleaf_cluster",
    "research",
    "tests",
    "docs",
)
MENTION = re.compile(r"\bdecisions? ((?:\d+(?:, | and )?)+)", re.IGNORECASE)
PLACE = re.compile(
    r"`((?:app|engine|packaging|protoleaf|protoleaf_cluster|research|tests)/[\w/.-]+)`"
)
STEP = re.compile(r"^\d\. .*?`(?P<text>[^`]+)` in `(?P<path>[^`]+\.(?:py|qss|md))`", re.MULTILINE)


def decisions() -> dict[int, Path]:
    """Valid decisions by number."""
    return {int(path.name[:4]): path for path in sorted(DECISIONS.glob("[0-9]*.md"))}


def records(page: str) -> list[int]:
    """Numbers of the archived records that a decision replaces."""
    (line,) = re.findall(r"^Archived records: (.*)\.$", page, re.MULTILINE)
    links: list[tuple[str, str]] = re.findall(r"\[(\d+)\]\((.*?)\)", line)
    assert all(Path(link).name.startswith(f"{int(number):04}-") for number, link in links)
    return [int(number) for number, _link in links]


def test_the_index_has_every_decision_once() -> None:
    """By file name; title and records are the page's."""
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| (\d+) \| \[(.*?)\]\((.*?)\) \| (.*?) \|", index)
    pages = [(path.name, path.read_text(encoding="utf-8")) for path in decisions().values()]
    assert sorted((f"# {number}. {title}", *rest) for number, title, *rest in rows) == sorted(
        (text.splitlines()[0], name, ", ".join(map(str, records(text)))) for name, text in pages
    )


def test_every_record_is_archived_once() -> None:
    """Each is replaced by one decision, whose number is one of its records'."""
    found = {
        number: records(path.read_text(encoding="utf-8")) for number, path in decisions().items()
    }
    archived = [int(path.name[:4]) for path in RECORDS.glob("[0-9]*.md")]
    assert sorted(number for numbers in found.values() for number in numbers) == sorted(archived)
    assert all(number in numbers for number, numbers in found.items())


def test_decisions_are_a_page() -> None:
    """A longer one belongs to the archive, or is two decisions."""
    lengths = {path.name: len(path.read_text().split()) for path in decisions().values()}
    assert {name: words for name, words in lengths.items() if words > MOST_WORDS} == {}


def test_decisions_name_files_that_exist() -> None:
    """Modules, folders and tests of the repository, in backticks."""
    named = {
        (path.name, place)
        for path in decisions().values()
        for place in PLACE.findall(path.read_text(encoding="utf-8"))
    }
    found = {(name, place) for name, place in named if list(ROOT.glob(f"{place}*"))}
    assert named - found == set()


def test_decisions_that_are_named_hold() -> None:
    """In code and documents outside the archive, which has its own numbers."""
    living, gone = decisions(), []
    written = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.*")))
    for path in (*written, *ROOT.glob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in {".py", ".md"}:
            continue
        if name.startswith(("docs/history/", "docs/decisions/")):
            continue
        for numbers in MENTION.findall(path.read_text(encoding="utf-8")):
            gone += [
                (name, each) for each in re.findall(r"\d+", numbers) if int(each) not in living
            ]
    assert gone == []


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda path: path.stem,
)
def test_links_lead_to_files(page: Path) -> None:
    """Those inside the repository."""
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_where_things_are() -> None:
    """On the newcomer's page the named files have the quoted words, and define the functions."""
    steps = [
        (found["text"], ROOT / found["path"])
        for found in STEP.finditer(PLACES.read_text(encoding="utf-8"))
    ]
    assert len(steps) >= 9
    assert [(text, path.name) for text, path in steps if not _is_there(text, path)] == []


@pytest.mark.parametrize("page", reference_pages.PAGES)
def test_reference_pages_are_current(page: str) -> None:
    """`make reference` writes them from the code's tables."""
    written = (ROOT / reference_pages.FOLDER / page).read_text(encoding="utf-8")
    assert reference_pages.PAGES[page]() == written


def test_lists_of_formats_are_whole() -> None:
    """The help of `export` and the test of installed packages name every format."""
    script = (ROOT / "packaging" / "linux" / "clean-root-test.sh").read_text(encoding="utf-8")
    (tried,) = re.findall(r"for format in (.*); do", script)
    wanted = {*FORMATS, label_commands.COPY, label_commands.MODEL}
    assert set(re.split(r",? (?:or )?", label_commands.FORMAT_NAMES)) == wanted
    assert set(tried.split()) == wanted


def test_the_readme_names_every_kind_of_image() -> None:
    """They equal the table of formats."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = [*(kind.name for kind in KINDS), *RAW_KINDS]
    assert [name for name in names if not re.search(rf"\b{name}\b", readme)] == []


@pytest.mark.parametrize("package", ["engine", "app"])
def test_the_pictures_are_the_contracts(package: str) -> None:
    """Diagrams on the architecture page have import-linter's layers in the same order."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = [each["layers"] for each in contracts if each.get("containers") == [package]]
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = page.split(f"## {package}\n")[1].split("```")[1]
    rows = [""]
    for line in picture.splitlines():
        if line and not line.startswith(" "):
            names = re.split(" {2,}", line)[0]
            rows = [*rows[:-1], rows[-1] + names] if rows[-1].endswith("|") else [*rows, names]
    assert [_rooms(row) for row in rows[1:]] == [_rooms(layer) for layer in layers]


def _rooms(layer: str) -> set[str]:
    return {room.strip() for room in layer.split("|")}


def _is_there(text: str, path: Path) -> bool:
    content = path.read_text(encoding="utf-8")
    if not text.endswith("()"):
        return text in content
    names = {
        node.name for node in ast.walk(ast.parse(content)) if isinstance(node, ast.FunctionDef)
    }
    return text.removesuffix("()").split(".")[-1] in names

"""Documents that lead somewhere lead there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from engine.cli import label_commands
from engine.images.kinds import KINDS, RAW_KINDS
from engine.interchange.labelled_images.formats import FORMATS

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
PLACES = ROOT / "docs" / "where-things-are.md"
STEP = re.compile(r"^\d\. .*?`(?P<text>[^`]+)` in `(?P<path>[^`]+\.(?:py|qss|md))`", re.MULTILINE)


def decisions() -> list[Path]:
    """All decisions."""
    return sorted(DECISIONS.glob("[0-9]*.md"))


def test_the_index_has_every_decision_once() -> None:
    """By its file; its title is the page's."""
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| (\d+) \| \[~*(.*?)~*\]\((.*?)\)", index)
    titles = [path.read_text(encoding="utf-8").splitlines()[0] for path in decisions()]
    assert sorted((f"# {number}. {title}", name) for number, title, name in rows) == sorted(
        (title, path.name) for title, path in zip(titles, decisions(), strict=True)
    )


def test_retired_decisions_say_so_on_both_pages() -> None:
    """What is struck out in the index says on its page what took its place, and the other way round."""
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    struck = set(re.findall(r"\[~~.*?~~\]\((.*?)\)", index))
    retired = {
        path.name for path in decisions() if "**Retired**" in path.read_text(encoding="utf-8")
    }
    assert struck == retired != set()


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
    """Every step of the newcomer's page: the quoted words stand in the named file, functions are defined there."""
    steps = [
        (found["text"], ROOT / found["path"])
        for found in STEP.finditer(PLACES.read_text(encoding="utf-8"))
    ]
    assert len(steps) >= 9
    assert [(text, path.name) for text, path in steps if not _is_there(text, path)] == []


def test_lists_of_formats_are_whole() -> None:
    """The help of `export`, and what is tried of an installed package, name every format."""
    script = (ROOT / "packaging" / "linux" / "clean-root-test.sh").read_text(encoding="utf-8")
    (tried,) = re.findall(r"for format in (.*); do", script)
    wanted = {*FORMATS, label_commands.COPY, label_commands.MODEL}
    assert set(re.split(r",? (?:or )?", label_commands.FORMAT_NAMES)) == wanted
    assert set(tried.split()) == wanted


def test_the_readme_names_every_kind_of_image() -> None:
    """As the table of kinds has them."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = [*(kind.name for kind in KINDS), *RAW_KINDS]
    assert [name for name in names if not re.search(rf"\b{name}\b", readme)] == []


@pytest.mark.parametrize("package", ["engine", "app"])
def test_the_pictures_show_every_layer(package: str) -> None:
    """Those of the architecture page, in which a newcomer looks for a place."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = [each["layers"] for each in contracts if each.get("containers") == [package]]
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = page.split(f"## {package}\n")[1].split("\n## ")[0]
    rooms = [room.strip() for layer in layers for room in layer.split("|")]
    assert [room for room in rooms if not re.search(rf"\b{room}\b", picture)] == []


def _is_there(text: str, path: Path) -> bool:
    content = path.read_text(encoding="utf-8")
    if not text.endswith("()"):
        return text in content
    names = {
        node.name for node in ast.walk(ast.parse(content)) if isinstance(node, ast.FunctionDef)
    }
    return text.removesuffix("()").split(".")[-1] in names

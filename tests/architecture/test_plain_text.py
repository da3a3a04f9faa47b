"""Names of classes, people and files are shown as they are; taken for rich text, they could load files."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCES: Final = sorted((ROOT / "app").rglob("*.py"))
OWN_WORDS: Final = {"tr", "translate", "plain_tip"}
"""Functions whose text is ours, or made plain."""
RICH: Final = {
    "app/help/text.py": "the pages of the user guide, which are ours; pictures come from the guide alone",
    "app/help/typesetting.py": "sets the type of the guide's pages",
    "app/texts.py": "finds out what would be taken for rich text, and escapes it",
}
"""Modules that may use Qt's rich text, and why."""
RICH_NAMES: Final = {
    "QTextBrowser", "QTextDocument", "setHtml", "insertHtml", "setMarkdown", "RichText", "AutoText", "MarkdownText",
    "mightBeRichText", "convertFromPlainText", "QMessageBox", "QStaticText", "QWhatsThis", "QErrorMessage",
}  # fmt: skip
LABEL_ROOMS: Final = {"app/controls.py"}
"""Where labels are made plain."""


def called(node: ast.Call) -> str:
    """Name of the function of a call."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def tips(tree: ast.AST) -> Iterator[ast.expr]:
    """What is shown as a tool tip, wherever a module gives one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name, words = called(node), ast.unparse(node)
            if name == "setToolTip":
                yield node.args[-1]
            elif words.startswith("QToolTip.showText(") or (
                name == "setItemData" and words.endswith("ToolTipRole)")
            ):
                yield node.args[1]


def is_plain(node: ast.expr) -> bool:
    """Whether a text is our own, or was made plain."""
    match node:
        case ast.Constant():
            return True
        case ast.IfExp():
            return is_plain(node.body) and is_plain(node.orelse)
        case ast.BoolOp():
            return all(is_plain(value) for value in node.values)
        case ast.Call():
            return called(node) in OWN_WORDS
        case ast.Name():
            return node.id == "tip"
        case _:
            return False


def test_tool_tips_are_plain() -> None:
    """A tip is a text of ours or goes through `plain_tip`; one in a variable is called `tip` and was made so above."""
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        for tip in tips(ast.parse(source)):
            name = path.relative_to(ROOT).as_posix()
            assert is_plain(tip), f"{name}:{tip.lineno}: {ast.unparse(tip)}"
            if isinstance(tip, ast.Name):
                assert "tip = plain_tip(" in source, f"{name}:{tip.lineno}"


def test_rich_text_is_used_by_the_guide_alone() -> None:
    """What renders rich text is listed with its reason; a reason that is no longer needed goes away."""
    users = set()
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        if names & RICH_NAMES:
            users.add(path.relative_to(ROOT).as_posix())
    assert users == set(RICH)


def test_labels_are_made_plain() -> None:
    """A label with words comes from `make_label`, or is one of ours that sets its format; others hold pictures."""
    for path in SOURCES:
        name = path.relative_to(ROOT).as_posix()
        if name in LABEL_ROOMS:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) == "QLabel":
                assert all(isinstance(each, ast.Name | ast.Attribute) for each in node.args), (
                    f"{name}:{node.lineno}"
                )
            if isinstance(node, ast.ClassDef) and any(
                ast.unparse(base) == "QLabel" for base in node.bases
            ):
                assert "PlainText" in ast.unparse(node), f"{name}:{node.lineno}: {node.name}"

"""Names of classes, people and files are shown as plain text: rich text could load files."""

import ast
from collections.abc import Iterator

from tests.architecture.source_code import Module, findings, rule

OWN_WORDS = {"tr", "translate", "plain_tip"}
"""Functions that return our own or escaped texts."""
RICH = {
    "app/help/text.py": "the pages of the user guide, which are ours; pictures come from the "
    "guide alone",
    "app/help/typesetting.py": "sets the type of the guide's pages",
    "app/texts.py": "finds out what would be taken for rich text, and escapes it",
}
"""Modules that may use Qt's rich text, with reasons."""
RICH_NAMES = {
    "QTextBrowser",
    "QTextDocument",
    "setHtml",
    "insertHtml",
    "setMarkdown",
    "RichText",
    "AutoText",
    "MarkdownText",
    "mightBeRichText",
    "convertFromPlainText",
    "QMessageBox",
    "QStaticText",
    "QWhatsThis",
    "QErrorMessage",
}
LABEL_ROOMS = {"app/controls.py"}
"""Where labels are made plain."""


def called(node: ast.Call) -> str:
    """Name of the called function."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def tips(module: Module) -> Iterator[ast.expr]:
    """Arguments used as tool tips."""
    for node in module.calls():
        name = called(node)
        if name == "setToolTip":
            yield node.args[-1]
            continue
        is_shown_at = name == "showText" and ast.unparse(node).startswith("QToolTip.")
        is_role = name == "setItemData" and ast.unparse(node.args[-1]).endswith("ToolTipRole")
        if is_shown_at or is_role:
            yield node.args[1]


def is_plain(node: ast.expr) -> bool:
    """Whether a text is our own or escaped."""
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


@rule("app")
def rich_tips(module: Module) -> Iterator[str]:
    """Tool tips that are neither our own texts nor escaped."""
    for tip in tips(module):
        is_checked = isinstance(tip, ast.Name) and "tip = plain_tip(" not in module.text
        if not is_plain(tip) or is_checked:
            yield f"{tip.lineno}: {ast.unparse(tip)}"


@rule("app")
def rich_names(module: Module) -> set[str]:
    """Classes and methods of Qt that render rich text."""
    names = {node.id for node in module.of_type(ast.Name)}
    return RICH_NAMES & (names | {node.attr for node in module.of_type(ast.Attribute)})


@rule("app")
def rich_labels(module: Module) -> Iterator[str]:
    """Labels with text and without a text format."""
    if module.name in LABEL_ROOMS:
        return
    for node in module.calls():
        if called(node) == "QLabel" and not all(
            isinstance(each, ast.Name | ast.Attribute) for each in node.args
        ):
            yield f"{node.lineno}"
    for each in module.of_type(ast.ClassDef):
        is_label = any(ast.unparse(base) == "QLabel" for base in each.bases)
        if is_label and "PlainText" not in ast.unparse(each):
            yield f"{each.lineno}: {each.name}"


def test_tool_tips_are_plain() -> None:
    """A tool tip is our own text or from `plain_tip`; a variable with one is named `tip`."""
    assert findings(rich_tips) == {}


def test_rich_text_is_used_by_the_guide_alone() -> None:
    """Uses of rich text are listed with reasons; unneeded reasons are removed."""
    assert findings(rich_names).keys() == RICH.keys()


def test_labels_are_made_plain() -> None:
    """A label with text is from `make_label` or sets its format; others show pictures."""
    assert findings(rich_labels) == {}

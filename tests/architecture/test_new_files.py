"""Files are created by `engine.new_file` and `engine.new_folder` only."""

import ast
from collections.abc import Iterator

from tests.architecture.source_code import PROGRAM, Module, findings, rule

WRITING_METHODS = {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to"}
TEMPORARY = {
    "mkdtemp",
    "mkstemp",
    "mktemp",
    "NamedTemporaryFile",
    "TemporaryDirectory",
    "TemporaryFile",
}
COPYING = {"copyfile", "copy", "copy2", "move"}
NO_FILES = {"os", "archive"}
"""Opening by descriptor, and entries of archives, which create no file."""
ALLOWED = {
    "engine/new_file.py": "the one place",
    "engine/new_folder.py": "the one place for folders",
    "engine/collection/training/labelled.py": "a temporary file without a name: nothing of it can "
    "stay",
    "engine/backbones/library.py": "appends to a file that it created in a private folder",
    "engine/project/file/logs.py": "a private copy of a project, in a scratch folder",
}


@rule(*PROGRAM)
def makes_files(module: Module) -> Iterator[str]:
    """Calls that create a file or folder directly."""
    for node in module.calls():
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        owner = (
            called.value.id
            if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)
            else ""
        )
        if (
            name in WRITING_METHODS
            or (owner == "tempfile" and name in TEMPORARY)
            or (owner == "shutil" and name in COPYING)
            or (name == "open" and owner not in NO_FILES and writes(node))
        ):
            yield f"{node.lineno} {name}"


def writes(call: ast.Call) -> bool:
    """Whether `open` is called with a writing mode, and is not `engine.new_file`'s."""
    words = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    modes = [
        word.value
        for word in words
        if isinstance(word, ast.Constant) and isinstance(word.value, str)
    ]
    return any(set(mode) & set("wax+") and set(mode) <= set("rwaxbt+") for mode in modes)


def test_files_are_made_in_one_place() -> None:
    """A predictable name may be another user's link, and drafts of killed processes would stay."""
    found = findings(makes_files)
    assert {path: found[path] for path in found if path not in ALLOWED} == {}

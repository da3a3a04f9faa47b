"""Files are made in one place only: everything else asks `engine.new_file` and `engine.new_folder`."""

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
"""What opens by descriptors, and an archive's entry, which is no file of its own."""
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
    """Calls in a module that make a file or folder by a name of their own."""
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
    """Whether `open` is called with a mode that writes, and not one of ours in `engine.new_file`."""
    words = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    modes = [
        word.value
        for word in words
        if isinstance(word, ast.Constant) and isinstance(word.value, str)
    ]
    return any(set(mode) & set("wax+") and set(mode) <= set("rwaxbt+") for mode in modes)


def test_files_are_made_in_one_place() -> None:
    """A name that others can foresee may hold a link of theirs, and what a killed process made by itself stays."""
    found = findings(makes_files)
    assert {path: found[path] for path in found if path not in ALLOWED} == {}

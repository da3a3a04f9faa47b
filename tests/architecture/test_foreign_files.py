"""External files are opened by `engine.files` only, since pipes and devices can block."""

import ast
from collections.abc import Mapping

from tests.architecture.source_code import PROGRAM, Module, findings, rule

DOOR = "engine.files"
DOORS = {"open_regular", "read_regular", "require_regular"}
OPENERS: Mapping[str, set[str]] = {
    "Image": {"open"},
    "zipfile": {"ZipFile"},
    "pq": {"ParquetFile", "read_table", "read_schema"},
    "np": {"load"},
    "onnx": {"load"},
    "torch": {"load"},
    "shutil": {"copyfile", "copy", "copy2"},
}
"""Functions of libraries that take a path or file; modules with them need `engine.files`, too."""
READING_METHODS = {"read_text", "read_bytes"}
INSTALLED = "comes with the program"
OWN = "a file that the program made for itself"
IN_MEMORY = "from bytes in memory"
LOOKED_AT = "whoever calls it has looked at the file"
PERMITTED: Mapping[str, str] = {
    "app/": "the window shows what the engine read; its own files come with the program",
    "engine/backbones/convert.py": "weights of installed packages, and what was made of them",
    "engine/backbones/published/": "what was downloaded, into the cache",
    "engine/backbones/trial.py": INSTALLED,
    "protoleaf_cluster/containers.py": "what `protoleaf_cluster/storage.py` opened",
    "protoleaf_cluster/storage.py": "files of object stores; those of this computer go through the "
    "door",
    "engine/bundle/card.py": INSTALLED,
    "engine/exporting/preview.py": OWN,
    "engine/collection/image_list_cache.py": OWN,
    "engine/report/html.py": INSTALLED,
    "engine/report/tables_csv.py": "writes an archive",
    "engine/collection/training/": OWN,
    "engine/collection/new_project.py": INSTALLED,
    "engine/images/animations.py": IN_MEMORY,
    "engine/images/decode.py": IN_MEMORY,
    "engine/images/strips.py": IN_MEMORY,
    "engine/images/video_stream.py": "what `videos.py` opened",
    "engine/interchange/labelled_images/darwin_core.py": "writes an archive",
    "engine/interchange/tables/workbooks.py": "what `read_table.py` opened",
    "engine/interchange/taxonomies/checklist_archive.py": "writes an archive",
    "engine/mapped_cache.py": OWN,
    "engine/log.py": OWN,
    "engine/menu_entry.py": INSTALLED,
    "engine/new_file.py": "makes files",
    "engine/project/backups/place.py": OWN,
    "research/": "data sets and results of experiments, which no stranger names",
    "engine/runtime/devices/": "files of the system that tell of its devices",
    "engine/runtime/quantization.py": LOOKED_AT,
    "engine/training/onnx_conversion.py": LOOKED_AT,
    "engine/worker/limits.py": "a file of the system that tells of this process",
}
"""Modules and packages that open files directly, with reasons."""


@rule(*PROGRAM)
def opened_directly(module: Module) -> list[str]:
    """Files opened for reading without `engine.files`: lines and names."""
    imports = [node for node in module.of_type(ast.ImportFrom) if node.module == DOOR]
    has_door = any(alias.name in DOORS for node in imports for alias in node.names)
    names = ((call.lineno, opener(call, has_door=has_door)) for call in module.calls())
    return [f"{line} {name}" for line, name in names if name]


def opener(call: ast.Call, *, has_door: bool) -> str:
    """Name of the function that a call opens a file with; "" for none."""
    called = call.func
    if isinstance(called, ast.Name):
        return "open" if called.id == "open" and not writes(call) else ""
    if not isinstance(called, ast.Attribute):
        return ""
    owner = called.value.id if isinstance(called.value, ast.Name) else ""
    if owner in OPENERS:
        return called.attr if called.attr in OPENERS[owner] and not has_door else ""
    is_path = called.attr in READING_METHODS or (called.attr == "open" and "r" in mode_of(call))
    return called.attr if is_path and not writes(call) else ""


def mode_of(call: ast.Call) -> str:
    """Mode of a call of `open` on a path; "" for other calls."""
    words = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    texts = [
        word.value
        for word in words
        if isinstance(word, ast.Constant) and isinstance(word.value, str)
    ]
    if not texts and any(keyword.arg == "encoding" for keyword in call.keywords):
        return "r"
    return texts[0] if texts and set(texts[0]) <= set("rwaxbt+") else ""


def writes(call: ast.Call) -> bool:
    """Whether a file is opened to be written."""
    return bool(set(mode_of(call)) & set("wax+"))


def test_files_from_outside_are_opened_in_one_place() -> None:
    found = findings(opened_directly)
    others = {path: found[path] for path in found if not path.startswith(tuple(PERMITTED))}
    assert others == {}


def test_no_reason_outlives_its_module() -> None:
    """A module that opens no files is removed from the list."""
    opening = findings(opened_directly)
    idle = {place for place in PERMITTED if not any(path.startswith(place) for path in opening)}
    assert idle == set()


def opened_in(code: str) -> list[str]:
    """What a module with this text opens."""
    return list(opened_directly(Module("m.py", code)))


def test_what_is_found() -> None:
    """Paths, names and libraries; not writing, other meanings, and calls of `engine.files`."""
    opening = (
        'path.open("rb")\nopen(path)\npath.read_text(encoding="utf-8")\nzipfile.ZipFile(path)\n'
    )
    assert [line.split()[1] for line in opened_in(opening)] == [
        "open",
        "open",
        "read_text",
        "ZipFile",
    ]
    assert (
        opened_in('path.open("wb")\nProject.open(path)\nread_text(path)\nos.open(path, flags)\n')
        == []
    )
    assert (
        opened_in(
            f"from {DOOR} import open_regular\nwith open_regular(path) as file:\n    "
            f"zipfile.ZipFile(file)"
        )
        == []
    )

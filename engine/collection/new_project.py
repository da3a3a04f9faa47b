"""Make an empty project."""

import os
from contextlib import suppress
from pathlib import Path

from engine.collection.models import BUNDLED_NAME, ModelFiles, find_model
from engine.errors import ProjectExistsError, StorageError
from engine.project import Project
from engine.project.file.on_disk import SIDE_SUFFIXES

MODEL_SUFFIX = ".onnx"


def new_project(path: Path, backbone: str = BUNDLED_NAME) -> Project:
    """Create an empty project file and open it.

    Args:
        path: where; an existing file is refused.
        backbone: name of a bundled or added backbone, or path of an ONNX file, which is tried out and copied into the
            library: the project does not need the file afterwards.

    Raises:
        ProjectExistsError: something is there already.
        StorageError: the folder is missing or refuses.
        ModelError: the backbone cannot be used.
        InputError: an ONNX file's name cannot be used, or the library has another backbone of that name.
    """
    check_place(path)
    model = _added(Path(backbone)) if is_file_source(backbone) else find_model(backbone)
    try:
        return Project.create(
            path,
            backbone_name=model.name,
            backbone_hash=model.backbone_hash,
            backbone_path="",
            propagation_hash=model.propagation_hash,
        )
    except StorageError:
        _take_away(path)  # made, and then there was no room left to open it
        raise


def _take_away(path: Path) -> None:
    for suffix in ("", *SIDE_SUFFIXES):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def _added(file: Path) -> ModelFiles:
    # Trial images and child processes come with it: 8 MB that an open window does not need.
    from engine.backbones.trial import add_file

    return add_file(file).files


def is_file_source(backbone: str) -> bool:
    """Whether a person named a file rather than a backbone: it ends like one, or has a folder before it."""
    return backbone.lower().endswith(MODEL_SUFFIX) or Path(backbone).name != backbone


def check_place(path: Path) -> None:
    """Refuse a place where no project can be made, before anything else is done for it.

    Raises:
        ProjectExistsError: something is there already.
        StorageError: the folder is missing.
    """
    if os.path.lexists(path):
        raise ProjectExistsError("a file of this name is already there", found=str(path), remedy="choose another name")
    if not path.absolute().parent.is_dir():
        raise StorageError(
            "the project's folder is not there", found=str(path.absolute().parent), remedy="make it or choose another"
        )

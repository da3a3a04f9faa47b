"""Make an empty project."""

from pathlib import Path

from engine.errors import StorageError
from engine.project import Project
from engine.workflows.models import BUNDLED_NAME, find_model


def new_project(path: Path, backbone: str = BUNDLED_NAME) -> Project:
    """Create an empty project file and open it.

    Args:
        path: where; an existing file is refused.
        backbone: name of a bundled backbone or path of an ONNX file.

    Raises:
        ProjectExistsError: something is there already.
        StorageError: the folder is missing or refuses.
        ModelError: the backbone cannot be used.
    """
    if not path.absolute().parent.is_dir():
        raise StorageError(
            "the project's folder is not there", found=str(path.absolute().parent), remedy="make it or choose another"
        )
    model = find_model(backbone)
    return Project.create(
        path,
        backbone_name=model.name if model.is_bundled else model.backbone.stem,
        backbone_hash=model.backbone_hash,
        backbone_path="" if model.is_bundled else str(model.backbone),
        propagation_hash=model.propagation_hash,
    )

"""Photos of the sample collection, to try networks on."""

from pathlib import Path

from engine.config import assets_folder
from engine.errors import StorageError


def sample_photos(count: int) -> tuple[Path, ...]:
    """The first photos of the shipped sample collection by name; neighbours show different classes.

    Raises:
        StorageError: the program was installed without them.
    """
    folder = assets_folder() / "sample" / "photos"
    found = sorted(folder.glob("*.jpg"))[:count]
    if len(found) < count:
        raise StorageError(
            "photos of the sample collection are missing",
            expected=f"{count} files in {folder}",
            found=str(len(found)),
            remedy="install Protoleaf again",
        )
    return tuple(found)

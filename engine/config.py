"""Where things live on this computer: shipped assets, caches, settings. Folders come from platformdirs."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

APPLICATION_NAME: Final = "protoleaf"
CACHE_VARIABLE: Final = "PROTOLEAF_CACHE"
SAMPLE_VARIABLE: Final = "PROTOLEAF_SAMPLE"
BACKBONE_VARIABLE: Final = "PROTOLEAF_BACKBONE"
BACKBONES_VARIABLE: Final = "PROTOLEAF_BACKBONES"
BACKUPS_VARIABLE: Final = "PROTOLEAF_BACKUPS"
LOGS_VARIABLE: Final = "PROTOLEAF_LOGS"
PERSON_VARIABLE: Final = "PROTOLEAF_PERSON"
PROJECT_SUFFIX: Final = ".protoleaf"


def is_packaged() -> bool:
    """Whether this is the program that people install without Python, which holds just what it was built with."""
    return bool(getattr(sys, "frozen", False))


def assets_folder() -> Path:
    """Folder of the shipped files, in a checkout, an installed wheel or a frozen program."""
    frozen = getattr(sys, "_MEIPASS", None)
    root = Path(frozen) if frozen else Path(__file__).resolve().parent.parent
    return root / "assets"


def notice_path() -> Path:
    """The file that names origin and licence of what others made: among the assets of a wheel, or beside them."""
    return _shipped("NOTICE", "NOTICE")


def guide_folder() -> Path:
    """The pages of the user guide: among the assets of a wheel or a frozen program, or in `docs` of a checkout."""
    return _shipped("guide", "docs/guide")


def licence_path() -> Path:
    """The program's licence: among the assets of a wheel, or beside them."""
    return _shipped("LICENSE", "LICENSE")


def _shipped(name: str, in_checkout: str) -> Path:
    shipped = assets_folder() / name
    return shipped if shipped.exists() else assets_folder().parent / in_checkout


def sample_folder() -> Path:
    """Where the sample project and its drawn images live."""
    return _data_folder(SAMPLE_VARIABLE, "sample")


def backbones_folder() -> Path:
    """Where the backbones that the person added live; the user's data folder, or what `PROTOLEAF_BACKBONES` names."""
    return _data_folder(BACKBONES_VARIABLE, "backbones")


def backups_folder() -> Path:
    """Where backups of projects are kept unless the person chose a folder; `PROTOLEAF_BACKUPS` names another one."""
    return _data_folder(BACKUPS_VARIABLE, "backups")


def _data_folder(variable: str, name: str) -> Path:
    chosen = os.environ.get(variable)
    return Path(chosen) if chosen else platformdirs.user_data_path(APPLICATION_NAME, appauthor=False) / name


def log_folder() -> Path:
    """Where the log is written: the system's folder for the user's logs, or what `PROTOLEAF_LOGS` names."""
    chosen = os.environ.get(LOGS_VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_log_path(APPLICATION_NAME, appauthor=False)


@dataclass(frozen=True)
class CacheFolders:
    """Deletable caches. Everything in them can be made again from the project and the images."""

    root: Path

    @classmethod
    def default(cls) -> "CacheFolders":
        """The user's cache folder, or the one that `PROTOLEAF_CACHE` names."""
        chosen = os.environ.get(CACHE_VARIABLE)
        return cls(Path(chosen) if chosen else platformdirs.user_cache_path(APPLICATION_NAME, appauthor=False))

    @property
    def embeddings(self) -> Path:
        """Folder of embedding caches, one file for each backbone."""
        return self.root / "embeddings"

    @property
    def models(self) -> Path:
        """Folder of the model files that were taken out of projects, each named by its content."""
        return self.root / "models"

    @property
    def thumbnails(self) -> Path:
        """Folder of the thumbnail cache."""
        return self.root / "thumbnails"

    @property
    def collections(self) -> Path:
        """Folder of what large collections say about their own images, one file for each project and backbone."""
        return self.root / "collections"

    @property
    def engines(self) -> Path:
        """Folder of the engines that TensorRT built, each for one GPU, one model and one version."""
        return self.root / "engines"

    @property
    def libraries(self) -> Path:
        """Folder of what libraries of others keep: compiled kernels, lists of fonts."""
        return self.root / "libraries"

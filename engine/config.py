"""Locations of assets, caches and settings, and environment variables of libraries.

ONNX Runtime 1.31 has telemetry that is on by default: it writes a device id and a queue of events
to the user's cache folder as soon as it is loaded, and contacts a host of its vendor some seconds
later. It reads its variable once, at that moment, so `engine` settles it before anything can load
it; children inherit it.
"""

import os
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

SWITCHES: Mapping[str, str] = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",  # would stay in the temporary folder
}
"""Fixed for every process: a setting found in the environment does not switch reporting on."""

FOLDERS: Mapping[str, str] = {
    "CUDA_CACHE_PATH": "cuda",
    "PYTORCH_KERNEL_CACHE_PATH": "torch-kernels",
    "TORCHINDUCTOR_CACHE_DIR": "torch-compiled",
    "TRITON_CACHE_DIR": "triton",
}
"""Folders of libraries for compiled kernels, in our cache instead of their own places."""


def settle(environment: MutableMapping[str, str] = os.environ) -> None:
    """Set the variables, which child processes inherit; a folder set by the user is not changed."""
    root = CacheFolders.default().libraries
    environment.update(SWITCHES)
    for variable, name in FOLDERS.items():
        environment.setdefault(variable, str(root / name))


def make_folders(environment: Mapping[str, str] = os.environ) -> None:
    """Create the folders of libraries before a GPU is used: torch does not create parents."""
    for variable in FOLDERS:
        with suppress(OSError):
            Path(environment[variable]).mkdir(parents=True, exist_ok=True)


APPLICATION_NAME = "protoleaf"
CACHE_VARIABLE = "PROTOLEAF_CACHE"
SAMPLE_VARIABLE = "PROTOLEAF_SAMPLE"
BACKBONE_VARIABLE = "PROTOLEAF_BACKBONE"
BACKBONES_VARIABLE = "PROTOLEAF_BACKBONES"
BACKUPS_VARIABLE = "PROTOLEAF_BACKUPS"
LOGS_VARIABLE = "PROTOLEAF_LOGS"
PERSON_VARIABLE = "PROTOLEAF_PERSON"
PROJECT_SUFFIX = ".protoleaf"
ARCHIVE_SUFFIX = ".protoleafz"  # a zip archive of a project with its photos


def is_packaged() -> bool:
    """Whether the program was installed as a package that contains its own Python."""
    return bool(getattr(sys, "frozen", False))


def assets_folder() -> Path:
    """Folder of the shipped files, in a checkout, an installed wheel or a frozen program."""
    frozen = getattr(sys, "_MEIPASS", None)
    root = Path(frozen) if frozen else Path(__file__).resolve().parent.parent
    return root / "assets"


def notice_path() -> Path:
    """Third-party notices: in the assets of a wheel, else next to them."""
    return _shipped("NOTICE", "NOTICE")


def guide_folder() -> Path:
    """Pages of the user guide: in the assets of a wheel or a frozen program, else in `docs`."""
    return _shipped("guide", "docs/guide")


def licence_path() -> Path:
    """The program's licence: in the assets of a wheel, else next to them."""
    return _shipped("LICENSE", "LICENSE")


def _shipped(name: str, in_checkout: str) -> Path:
    shipped = assets_folder() / name
    return shipped if shipped.exists() else assets_folder().parent / in_checkout


def sample_folder() -> Path:
    """Where the sample project and its drawn images live."""
    return _data_folder(SAMPLE_VARIABLE, "sample")


def backbones_folder() -> Path:
    """Folder of added backbones: the user's data folder, or the value of `PROTOLEAF_BACKBONES`."""
    return _data_folder(BACKBONES_VARIABLE, "backbones")


def backups_folder() -> Path:
    """Default folder of project backups; `PROTOLEAF_BACKUPS` overrides it."""
    return _data_folder(BACKUPS_VARIABLE, "backups")


def _data_folder(variable: str, name: str) -> Path:
    chosen = os.environ.get(variable)
    return (
        Path(chosen)
        if chosen
        else platformdirs.user_data_path(APPLICATION_NAME, appauthor=False) / name
    )


def log_folder() -> Path:
    """Folder of the log: the system's folder for user logs, or the value of `PROTOLEAF_LOGS`."""
    chosen = os.environ.get(LOGS_VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_log_path(APPLICATION_NAME, appauthor=False)


THUMBNAIL_SIDES = (
    320,
    512,
)  # longer sides, in pixels, that are cached; smaller pictures are scaled from these


@dataclass(frozen=True)
class CacheFolders:
    """Deletable caches. Everything in them can be made again from the project and the images."""

    root: Path

    @classmethod
    def default(cls) -> "CacheFolders":
        """The user's cache folder, or the one that `PROTOLEAF_CACHE` names."""
        chosen = os.environ.get(CACHE_VARIABLE)
        return cls(
            Path(chosen)
            if chosen
            else platformdirs.user_cache_path(APPLICATION_NAME, appauthor=False)
        )

    @property
    def embeddings(self) -> Path:
        return self.root / "embeddings"

    @property
    def models(self) -> Path:
        """Model files that were taken out of projects, each named by its content."""
        return self.root / "models"

    @property
    def thumbnails(self) -> Path:
        return self.root / "thumbnails"

    @property
    def fingerprints(self) -> Path:
        """What tells copies of a picture, and how sharp it is."""
        return self.root / "fingerprints"

    @property
    def detections(self) -> Path:
        """What detectors found in pictures, one file for each detector."""
        return self.root / "detections"

    @property
    def collections(self) -> Path:
        """Lists, embeddings and predictions of large collections, by project and backbone."""
        return self.root / "collections"

    @property
    def maps(self) -> Path:
        """Places of images on their map, one file for each project and backbone."""
        return self.root / "maps"

    @property
    def libraries(self) -> Path:
        """Files of libraries: compiled kernels, lists of fonts."""
        return self.root / "libraries"

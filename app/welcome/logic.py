"""What a new project is made from, and how long its images take with each backbone; without Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.config import PROJECT_SUFFIX

if TYPE_CHECKING:  # the window shows first
    from engine.backbones.bundled import OfferedBackbone
    from engine.embedding.messages import PhotoRate
    from engine.images.find_images import FoundImages

MOST_TRIED: Final = 24  # photos that a measurement reads


@dataclass(frozen=True)
class NewProject:
    """A project to be made."""

    offered: tuple[OfferedBackbone, ...]
    place: Path | None = None  # its file; None until the user chooses one
    dropped: tuple[Path, ...] = ()  # files to import

    @property
    def has_choice(self) -> bool:
        return len(self.offered) > 1


@dataclass(frozen=True)
class Photos:
    """Images of a new project."""

    count: int = 0  # found so far
    is_counting: bool = False
    some: tuple[Path, ...] = ()  # a few of them, spread evenly

    @staticmethod
    def of_found(found: FoundImages) -> Photos:
        files = found.files
        step = max(1, len(files) // MOST_TRIED)
        return Photos(len(files), some=tuple(file.path for file in files[::step][:MOST_TRIED]))


@dataclass(frozen=True)
class ExpectedSpeed:
    """Expected speed of a backbone on this computer."""

    images_per_s: float  # from the file to the embedding, or of the backbone alone
    is_scaled: bool = False  # from another backbone's speed, as this one is not prepared
    has_photos: bool = False  # measured with the user's photos

    def seconds_for(self, photos: Photos) -> float | None:
        """Time for all photos; None while unknown."""
        return photos.count / self.images_per_s if photos.count and self.has_photos and not photos.is_counting else None


def speeds(offered: Sequence[OfferedBackbone], rates: Mapping[str, PhotoRate]) -> dict[str, ExpectedSpeed]:
    """Speeds by backbone; one that is not prepared is scaled from one that is."""
    found: dict[str, ExpectedSpeed] = {}
    known = next(((one, rates[one.name]) for one in offered if one.name in rates), None)
    for one in offered:
        if (rate := rates.get(one.name)) is not None:
            found[one.name] = ExpectedSpeed(rate.images_per_s, has_photos=bool(rate.decoding))
        elif known is not None and one.times_the_work and known[0].times_the_work:
            rate = known[1].times_the_work(one.times_the_work / known[0].times_the_work)
            found[one.name] = ExpectedSpeed(rate.images_per_s, is_scaled=True, has_photos=bool(rate.decoding))
    return found


def free_name(dropped: Path) -> Path:
    """A new project file beside a dropped folder or file; in the home folder for a root."""
    folder = dropped.parent if dropped.parent != dropped else Path.home()
    stem = dropped.stem or "project"
    path = folder / f"{stem}{PROJECT_SUFFIX}"
    count = 2
    while path.exists():
        path = folder / f"{stem} {count}{PROJECT_SUFFIX}"
        count += 1
    return path

"""Colours by a picture's ICC profile, turned into sRGB, which networks and screens take pixels for.

LittleCMS converts, as bundled with Pillow. Pixels are converted after downscaling. A profile that
equals sRGB is known after its first picture, and costs nothing from then on; a broken one counts as
none.
"""

import functools
import io
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from engine.arrays import Pixels

if TYPE_CHECKING:
    from PIL import ImageCms

_MOST_BYTES = 16 * 1024**2  # of a profile; those of printing presses take two. Chosen.
_HELD_PROFILES = 16  # Chosen: a collection has few cameras and programs.
# colours along each side of the cube that a profile is compared with sRGB by
_PROBED_SIDE = 9
_SAME = 2  # of 255: what rounding makes of equal colours
_MODES = {
    "RGB": "RGB",
    "GRAY": "L",
    "CMYK": "CMYK",
}  # by the profile's own name of its colours


def in_srgb(pixels: Pixels, profile: bytes) -> Pixels:
    """Pixels (H, W, 3) uint8 by an RGB or grey profile in sRGB; as they are where there is none."""
    mode = _mode_of(profile) if profile else ""
    transform = _to_srgb(profile) if mode in {"RGB", "L"} else None
    if transform is None:
        return pixels
    values = np.ascontiguousarray(pixels[..., 0] if mode == "L" else pixels)
    return np.asarray(transform.apply(Image.fromarray(values)))


def cmyk_in_srgb(image: Image.Image) -> Image.Image:
    """A picture of printing inks as RGB, by its profile where it has a sound one."""
    profile = profile_of(image)
    transform = _to_srgb(profile) if profile and _mode_of(profile) == image.mode else None
    return image.convert("RGB") if transform is None else transform.apply(image)


def profile_of(image: Image.Image) -> bytes:
    """The profile of an opened picture; b"" without one."""
    found = image.info.get("icc_profile")
    return found if isinstance(found, bytes) and len(found) <= _MOST_BYTES else b""


@functools.lru_cache(_HELD_PROFILES)
def _mode_of(profile: bytes) -> str:
    """The mode of pictures that a profile is for; "" for others, and for a broken one."""
    return _MODES.get(profile[16:20].decode("latin-1").strip(), "")


@functools.lru_cache(_HELD_PROFILES)
def _to_srgb(profile: bytes) -> "ImageCms.ImageCmsTransform | None":
    """What converts; None where there is nothing to convert, or the profile is broken."""
    from PIL import ImageCms

    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        target = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
        transform = ImageCms.buildTransform(source, target, _mode_of(profile), "RGB")
        return None if _mode_of(profile) == "RGB" and _changes_nothing(transform) else transform
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError, ImportError):
        return None


def _changes_nothing(transform: "ImageCms.ImageCmsTransform") -> bool:
    levels = np.linspace(0, 255, _PROBED_SIDE).round().astype(np.uint8)
    cube = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(_PROBED_SIDE, -1, 3)
    converted = np.asarray(transform.apply(Image.fromarray(cube)))
    return bool((np.abs(converted.astype(np.int16) - cube) <= _SAME).all())

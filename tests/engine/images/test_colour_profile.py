"""Colour profiles are converted to sRGB by every decoder."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from engine.images.colour_profile import in_srgb
from engine.images.decode import decode_rgb, decode_square

COLOUR = (60, 160, 90)


def wide_profile() -> bytes:
    """A profile of sRGB with red and green exchanged, so a missing conversion shows."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, green = profile.index(b"rXYZ"), profile.index(b"gXYZ")
    profile[red + 4 : red + 12], profile[green + 4 : green + 12] = (
        profile[green + 4 : green + 12],
        profile[red + 4 : red + 12],
    )
    return bytes(profile)


def saved(kind: str, profile: bytes, mode: str = "RGB", side: int = 64) -> bytes:
    file = io.BytesIO()
    swapped = Image.new("RGB", (side, side), (COLOUR[1], COLOUR[0], COLOUR[2]))
    swapped.convert(mode).save(
        file, kind, icc_profile=profile, **({"quality": 95} if kind == "JPEG" else {})
    )
    return file.getvalue()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_the_profile_is_applied(kind: str) -> None:
    data = saved(kind, wide_profile())
    for pixels in (decode_rgb(data), decode_square(data, 32), decode_rgb(data, longest_side=32)):
        assert np.abs(pixels[5, 5].astype(int) - COLOUR).max() <= 8


@pytest.mark.parametrize(
    "profile",
    [b"", b"no profile at all" * 20, wide_profile()[:200]],
    ids=["none", "nonsense", "cut"],
)
def test_without_a_sound_profile_pixels_stay(profile: bytes) -> None:
    pixels = np.full((4, 4, 3), 100, dtype=np.uint8)
    assert in_srgb(pixels, profile) is pixels


def test_srgb_costs_nothing() -> None:
    pixels = np.full((4, 4, 3), 100, dtype=np.uint8)
    assert (
        in_srgb(pixels, ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
        is pixels
    )


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_grey_and_printed_pictures_with_a_profile_for_other_pixels_are_read(mode: str) -> None:
    """A profile that does not fit the pixel format is ignored."""
    assert decode_rgb(saved("JPEG", wide_profile(), mode)).shape == (64, 64, 3)


def test_a_profile_in_several_segments(tmp_path: Path) -> None:
    """Profiles above 64 KiB are split in JPEG files."""
    profile = wide_profile()
    long = len(profile) + 70_000
    padded = long.to_bytes(4, "big") + profile[4:] + bytes(70_000)
    assert np.abs(decode_rgb(saved("JPEG", padded))[5, 5].astype(int) - COLOUR).max() <= 8

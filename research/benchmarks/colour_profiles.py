"""Cost of colour profiles: 1,000 photos decoded for a network, in sRGB and in Adobe RGB.

`python -m research.benchmarks.colour_profiles` writes no file.
"""

import io
import struct
import sys
import time

import numpy as np
from PIL import Image, ImageCms

from engine.images.decode import decode_rgb, decode_square

PHOTOS = 1_000
SIDE = 224  # pixels of a network's input
SIZE = (1_600, 1_200)
_ADOBE_RGB = {  # primaries by CIE XYZ, adapted to D50, of Adobe RGB (1998)
    b"rXYZ": (0.60974, 0.31111, 0.01947),
    b"gXYZ": (0.20528, 0.62567, 0.06087),
    b"bXYZ": (0.14919, 0.06322, 0.74457),
}


def srgb_profile() -> bytes:
    """The profile of sRGB as LittleCMS makes it."""
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def wide_profile() -> bytes:
    """The sRGB profile with the primaries of Adobe RGB."""
    profile = bytearray(srgb_profile())
    for name, primary in _ADOBE_RGB.items():
        (start,) = struct.unpack_from(">I", profile, profile.index(name) + 4)
        struct.pack_into(">3i", profile, start + 8, *(round(value * 65_536) for value in primary))
    return bytes(profile)


def photo(profile: bytes) -> bytes:
    """A JPEG with some structure and a colour profile."""
    small = np.random.default_rng(1).integers(0, 256, (30, 40, 3)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(small).resize(SIZE, Image.Resampling.BICUBIC).save(
        file, "JPEG", quality=90, icc_profile=profile
    )
    return file.getvalue()


def main() -> None:
    """Print milliseconds of processor time per photo, for the network's input and a thumbnail."""
    for name, profile in (("none", b""), ("sRGB", srgb_profile()), ("wide", wide_profile())):
        data = photo(profile)
        for purpose in ("embedding", "thumbnail"):
            started_s = time.process_time()
            for _ in range(PHOTOS):
                if purpose == "embedding":
                    decode_square(data, SIDE)
                else:
                    decode_rgb(data, longest_side=256)
            each_ms = (time.process_time() - started_s) * 1_000 / PHOTOS
            sys.stdout.write(f"{name:5} {purpose:10} {each_ms:.2f} ms of processor time a photo\n")


if __name__ == "__main__":
    main()

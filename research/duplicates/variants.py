"""Copies of photos as found in practice: resized, recompressed, cropped, brightened, bordered."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PIL import Image, ImageEnhance, ImageOps

Change = Callable[[Image.Image], Image.Image]
QUALITY = 90  # of a JPEG, out of 100, unless the variant has its own
POOR_QUALITY = 30


def _resized(picture: Image.Image) -> Image.Image:
    return picture.resize(
        (max(1, picture.width // 2), max(1, picture.height // 2)), Image.Resampling.LANCZOS
    )


def _cropped(share: float) -> Change:
    """Crop a share from every side."""

    def cut(picture: Image.Image) -> Image.Image:
        width, height = round(picture.width * share), round(picture.height * share)
        return picture.crop((width, height, picture.width - width, picture.height - height))

    return cut


def _brightness(factor: float) -> Change:
    return lambda picture: ImageEnhance.Brightness(picture).enhance(factor)


def _bordered(picture: Image.Image) -> Image.Image:
    return ImageOps.expand(picture, round(0.02 * min(picture.size)), "white")


VARIANTS: Mapping[str, Change] = {
    "resized to half": _resized,
    "recompressed": lambda picture: picture,
    "cropped by 2 %": _cropped(0.02),
    "cropped by 5 %": _cropped(0.05),
    "25 % brighter": _brightness(1.25),
    "25 % darker": _brightness(0.75),
    "with a border": _bordered,
}
"""Changes of a photo, by name; each copy is compressed again."""


def write_variants(photos: Sequence[Path], folder: Path) -> dict[str, list[Path]]:
    """Write every variant of every photo as JPEG; the files by variant, in the order of photos."""
    written: dict[str, list[Path]] = {name: [] for name in VARIANTS}
    for place, photo in enumerate(photos):
        with Image.open(photo) as opened:
            picture = ImageOps.exif_transpose(opened).convert("RGB")
        for number, (name, change) in enumerate(VARIANTS.items()):
            path = folder / f"{place:05d}-{number}.jpg"
            quality = POOR_QUALITY if name == "recompressed" else QUALITY
            change(picture).save(path, quality=quality)
            written[name].append(path)
    return written

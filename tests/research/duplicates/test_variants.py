from pathlib import Path

import numpy as np
from PIL import Image

from engine.images.decode import read_rgb
from engine.images.fingerprint import fingerprint_of
from research.duplicates.variants import VARIANTS, write_variants


def test_every_variant_of_every_photo(tmp_path: Path) -> None:
    """Sizes match the names, and all but cropped variants keep most of the perceptual hash."""
    rng = np.random.default_rng(0)
    photos = []
    for place in range(2):
        coarse = Image.fromarray(rng.integers(0, 255, (6, 8, 3), dtype=np.uint8))
        path = tmp_path / f"{place}.jpg"
        coarse.resize((400, 300), Image.Resampling.BICUBIC).save(path, quality=95)
        photos.append(path)
    (tmp_path / "out").mkdir()
    written = write_variants(photos, tmp_path / "out")
    assert written.keys() == VARIANTS.keys()
    sizes = {name: read_rgb(paths[0]).shape[1::-1] for name, paths in written.items()}
    assert sizes["resized to half"] == (200, 150)
    assert sizes["cropped by 5 %"] == (360, 270)
    assert sizes["with a border"] == (412, 312)
    for name in ("resized to half", "recompressed", "25 % darker"):
        bits = [fingerprint_of(path).bits for path in (photos[1], written[name][1])]
        assert (bits[0] ^ bits[1]).bit_count() <= 8

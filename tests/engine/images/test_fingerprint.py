from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.images.fingerprint import NO_HASH, Fingerprint, fingerprint, fingerprint_of, sharpness
from engine.images.fingerprint_cache import FingerprintCache


def _picture(seed: int) -> Image.Image:
    coarse = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((320, 240), Image.Resampling.BICUBIC)


def test_it_is_the_hash_of_imagehash() -> None:
    """Bit-identical to the library imagehash, so figures of the literature hold."""
    imagehash = pytest.importorskip("imagehash")
    for seed in range(5):
        picture = _picture(seed)
        picture.thumbnail((256, 256))
        assert f"{fingerprint(np.asarray(picture)).bits:016x}" == str(imagehash.phash(picture))


def test_other_pictures_have_other_hashes() -> None:
    bits = [fingerprint(np.asarray(_picture(seed))).bits for seed in range(4)]
    assert min((a ^ b).bit_count() for a in bits for b in bits if a != b) > 12


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_plain_picture_has_no_hash(level: int) -> None:
    found = fingerprint(np.full((64, 64, 3), level, dtype=np.uint8))
    assert found == Fingerprint(NO_HASH, 0.0)


def test_sharpness_by_hand() -> None:
    """One white pixel in 5 x 5: the Laplacian is -4 there, 1 at its four neighbours, else 0."""
    grey = np.zeros((5, 5), dtype=np.float32)
    grey[2, 2] = 1
    assert sharpness(grey) == pytest.approx(20 / 9)
    assert sharpness(grey[:2]) == 0


def test_a_blurred_picture_is_less_sharp(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (200, 300, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "sharp.png")
    Image.fromarray(noise).resize((60, 40)).resize((300, 200)).save(tmp_path / "blurred.png")
    assert (
        fingerprint_of(tmp_path / "sharp.png").sharpness
        > 10 * fingerprint_of(tmp_path / "blurred.png").sharpness
    )


def test_the_cache_keeps_what_it_was_given(tmp_path: Path) -> None:
    """By content hash, for several images; unknown ones have none.

    A damaged file is replaced.
    """
    cache = FingerprintCache(tmp_path / "prints")
    assert not cache.get_many(np.array([b"a"])).is_known.any()
    cache.put_many([(b"a", Fingerprint(2**63 + 5, 1.5)), (b"b", Fingerprint(NO_HASH, 0.0))])
    cache.close()
    again = FingerprintCache(tmp_path / "prints")
    found = again.get_many(np.array([b"b", b"a", b"", b"c", b"a"]))
    assert found.bits.tolist() == [0, 2**63 + 5, 0, 0, 2**63 + 5]
    assert found.is_known.tolist() == [True, True, False, False, True]
    assert np.isnan(found.sharpness).tolist() == [False, False, True, True, False]
    again.close()
    path = tmp_path / "prints" / "fingerprints.sqlite"
    path.write_bytes(path.read_bytes()[:100] + b"no database at all" * 100)
    broken = FingerprintCache(tmp_path / "prints")
    broken.put_many([(b"a", Fingerprint(1, 1.0))])
    assert broken.get_many(np.array([b"a"])).is_known.all()
    broken.close()

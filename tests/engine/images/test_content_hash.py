from engine.images.read_file import HASH_BYTES, content_hash


def test_known_hash() -> None:
    """The hash is stable, since a change would embed every file again."""
    assert content_hash(b"leaf").hex() == "9f44ea12f7e20af934f90ffaaa2aa6ca"
    assert len(content_hash(b"")) == HASH_BYTES
    assert content_hash(b"leaf") != content_hash(b"leaf ")

from engine.data.content_hash import HASH_BYTES, content_hash


def test_known_hash() -> None:
    """The hash never changes between versions: projects and caches hold it."""
    assert content_hash(b"leaf").hex() == "1f6069b96b03f6d05dfc3ef47178893f"
    assert len(content_hash(b"")) == HASH_BYTES
    assert content_hash(b"leaf") != content_hash(b"leaf ")

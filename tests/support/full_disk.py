"""A simulated full disk for the calling process."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_disk_after(limit_bytes: int) -> Iterator[None]:
    """Let the operating system refuse files larger than `limit_bytes`; POSIX only."""
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))

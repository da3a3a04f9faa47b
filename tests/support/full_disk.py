"""A disk that takes no more, for the process that asks for it."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_disk_after(limit_bytes: int) -> Iterator[None]:
    """Let the operating system refuse files that grow beyond `limit_bytes`; POSIX only."""
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))

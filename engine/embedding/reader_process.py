"""The reading process: handles `ReadPhotos`, and writes pixels into shared memory."""

from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from typing import final

import numpy as np

from engine.embedding.cache import EmbeddingCache
from engine.embedding.embed_chunk import read_chunk
from engine.embedding.photo_caches import missing_in
from engine.embedding.photo_messages import OpenedWith, PhotosRead, ReadPhotos
from engine.embedding.readers import HEADER_BYTES
from engine.events import CancelToken
from engine.worker.limits import ParentWatch


@final
class PhotoReader:
    """Answers one request after the other; shared memory and cache stay open between them."""

    def __init__(self) -> None:
        self._memory: SharedMemory | None = None
        self._caches: dict[OpenedWith, EmbeddingCache] = {}
        self._watch = ParentWatch()

    def read(self, request: ReadPhotos, cancel: CancelToken) -> PhotosRead:
        """Read the files of a request, and end with the parent; raises `Cancelled`."""
        with self._watch.over(cancel):  # a file may hang
            memory = self._attached(request.memory)
            caches = [self._cache(each) for each in request.caches]
            place = np.ndarray((1,), dtype=np.int64, buffer=memory.buf, offset=request.start)
            pixels = np.ndarray(
                (len(request.images), *request.wanted.shape),
                dtype=np.uint8,
                buffer=memory.buf,
                offset=request.start + HEADER_BYTES,
            )

            def begin(number: int) -> None:
                place[0] = number

            chunk = read_chunk(
                request.images,
                request.wanted,
                partial(missing_in, caches),
                cancel,
                patience_s=request.patience_s,
                pixels=pixels,
                on_begun=begin,
            )
            place[0] = -1  # if it ends from here on, no file is the cause
            return PhotosRead(tuple(chunk.photos))

    def _attached(self, name: str) -> SharedMemory:
        if self._memory is None or self._memory.name != name:
            self._memory = _attach(name)
        return self._memory

    def _cache(self, opened_with: OpenedWith) -> EmbeddingCache:
        if opened_with not in self._caches:
            folder, identity, width, project_id = opened_with
            self._caches[opened_with] = EmbeddingCache(
                folder, identity, width, project_id=project_id
            )
        return self._caches[opened_with]


def _attach(name: str) -> SharedMemory:
    """Open shared memory that belongs to another process.

    WORKAROUND: until Python 3.13 opening shared memory starts a process that removes it at the end
    (python/cpython#82300).
    """
    register = resource_tracker.register
    setattr(resource_tracker, "register", lambda _name, _kind: None)  # noqa: B010 (a function)
    try:
        return SharedMemory(name)
    finally:
        setattr(resource_tracker, "register", register)  # noqa: B010

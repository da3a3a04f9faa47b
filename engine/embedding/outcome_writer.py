"""Writes what became of files to the cache, and reports it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from engine.embedding.embed_chunk import ChunkOutcome, Claims, HashedRequest, ReadChunk
from engine.embedding.messages import MOST_LISTED, EmbedBatch, EmbedRequest, EmbedResult, OnBatch
from engine.embedding.photo_caches import PhotoCaches
from engine.images.details_messages import FileDetails

_REASONS_KEPT = 10_000  # twins come in shortly after the content they wait for
_OTHER_REASON = "another file with the same content could not be embedded"


class OutcomeWriter:
    """Writes outcomes to the caches, counts them and reports them. Not thread-safe."""

    def __init__(self, caches: PhotoCaches, claims: Claims, on_batch: OnBatch) -> None:
        self.embedded = 0
        self.from_cache = 0
        self.failed: list[tuple[int, Path, str]] = []
        self.failure_count = 0
        self.missing = 0
        self.on_done: Callable[[int], None] = lambda _count: None
        self.on_cached: Callable[[int], None] = lambda _count: None
        self._caches = caches
        self._claims = claims
        self._on_batch = on_batch
        self._reasons: dict[bytes, str] = {}
        self._waiting: dict[bytes, list[HashedRequest]] = {}

    def report_cached(self, results: Sequence[EmbedResult]) -> None:
        self.from_cache += len(results)
        self._report(list(results), self.on_cached)

    def write(self, outcomes: Sequence[ChunkOutcome]) -> None:
        """Write the embeddings to the caches, each in one transaction, and report all requests."""
        embedded = [hashed for outcome in outcomes for hashed in outcome.embedded]
        if embedded:
            self._put([hashed.content for hashed in embedded], outcomes)
        self._remember(
            [hashed for outcome in outcomes for hashed in (*outcome.embedded, *outcome.cached)]
        )
        self.embedded += len(embedded)
        details = [each for outcome in outcomes for each in outcome.details()]
        results = [_success(hashed) for hashed in embedded]
        for outcome in outcomes:
            results += [
                self._failure(request, reason, known)
                for request, reason, known in outcome.unreadable
            ]
            results += [
                EmbedResult(request.image_id, request.known_hash, None)
                for request in outcome.missing
            ]
            self.missing += len(outcome.missing)
            results += [self._undecodable(hashed, reason) for hashed, reason in outcome.undecodable]
            results += self._from_cache(outcome.cached)
            for twin in outcome.twins:
                self._waiting.setdefault(twin.content, []).append(twin)
        for hashed in embedded:
            self._claims.release(hashed.content)
        self._report(results + self._settled_twins(), self.on_done, details)

    def _put(self, contents: Sequence[bytes], outcomes: Sequence[ChunkOutcome]) -> None:
        """Write the results of these contents; embeddings last, as they mark a content as known."""
        means = [outcome.means for outcome in outcomes if outcome.means is not None]
        if self._caches.views is not None:
            self._caches.views.put_many(contents, np.concatenate(means))
        hashes = {
            hashed.picture: picture_hash
            for outcome in outcomes
            for hashed, picture_hash in zip(outcome.embedded, outcome.picture_hashes, strict=True)
        }
        self._caches.images.put_many(
            contents, np.concatenate([outcome.vectors for outcome in outcomes]), hashes
        )

    def write_previews(self, chunks: Sequence[ReadChunk]) -> None:
        """Write thumbnails and fingerprints of photos before these are embedded."""
        thumbnails, fingerprints, seen = [], [], []
        for chunk in chunks:
            for request, photo in zip(chunk.requests, chunk.photos, strict=False):
                if photo.fingerprint is not None and photo.content_hash is not None:
                    thumbnails.append((photo.file, request.part, photo.thumbnail))
                    fingerprints.append((request.content(photo.content_hash), photo.fingerprint))
                    seen.append(request.image_id)
        if seen and self._caches.previews is not None:
            self._caches.previews.put(thumbnails, fingerprints)
            self._on_batch(EmbedBatch((), seen=tuple(seen)))

    def _settled_twins(self) -> list[EmbedResult]:
        """Results of the twins whose content is no longer claimed."""
        results: list[EmbedResult] = []
        for key in [key for key in self._waiting if key not in self._claims]:
            twins = self._waiting.pop(key)
            reason = self._reasons.get(key, _OTHER_REASON if self._caches.missing([key]) else "")
            if reason:
                results += [
                    self._failure(twin.request, reason, twin.content_hash) for twin in twins
                ]
            else:
                self._remember(twins)
                results += self._from_cache(twins)
        return results

    def _from_cache(self, requests: Sequence[HashedRequest]) -> list[EmbedResult]:
        self.from_cache += len(requests)
        return [_success(hashed) for hashed in requests]

    def _undecodable(self, hashed: HashedRequest, reason: str) -> EmbedResult:
        self._reasons[hashed.content] = reason
        while len(self._reasons) > _REASONS_KEPT:
            self._reasons.pop(next(iter(self._reasons)))
        self._claims.release(hashed.content)
        return self._failure(hashed.request, reason, hashed.content_hash)

    def _failure(self, request: EmbedRequest, reason: str, key: bytes | None = None) -> EmbedResult:
        self.failure_count += 1
        if len(self.failed) < MOST_LISTED:
            self.failed.append((request.image_id, request.path, reason))
        return EmbedResult(request.image_id, key, reason)

    def _remember(self, requests: Sequence[HashedRequest]) -> None:
        self._caches.images.remember_files(
            [hashed.file for hashed in requests], [hashed.content_hash for hashed in requests]
        )

    def _report(
        self,
        results: list[EmbedResult],
        count: Callable[[int], None],
        details: Sequence[FileDetails] = (),
    ) -> None:
        if results or details:
            self._on_batch(EmbedBatch(tuple(results), tuple(details)))
            count(len(results))


def _success(hashed: HashedRequest) -> EmbedResult:
    return EmbedResult(hashed.request.image_id, hashed.content_hash, None)

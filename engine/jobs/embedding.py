"""Embeds images for the window; backbone and cache stay open between its requests."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, final

from engine.config import CacheFolders
from engine.embedding.messages import EmbedImages, EmbedSummary, MeasuredRates, MeasureRates, PhotoRate
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, Progress

if TYPE_CHECKING:
    from engine.embedding.cache import EmbeddingCache
    from engine.runtime.backbone import BackboneSession
    from engine.worker.serve import Send


@final
class Embedder:
    """Answers `EmbedImages`, one after the other."""

    def __init__(self) -> None:
        self._opened_for: tuple[object, ...] = ()
        self._session: BackboneSession | None = None
        self._caches: dict[bool, EmbeddingCache] = {}  # of images, and of their views

    def embed(self, request: EmbedImages, send: "Send", cancel: CancelToken) -> EmbedSummary:
        """Embed images."""
        from engine.embedding.pipeline import embed_files

        session, cache = self._open(request)
        try:
            summary = embed_files(
                request.images, session, cache,
                on_progress=_whole_run(request, send), cancel=cancel, on_batch=send, with_views=request.with_views,
            )  # fmt: skip
        finally:
            if session.notice:  # the GPU failed: it may be well again the next time
                self.close()
        return replace(summary, failed=())

    def close(self) -> None:
        """Give up backbone and cache."""
        for cache in self._caches.values():
            cache.close()
        self._caches.clear()
        self._session, self._opened_for = None, ()

    def _open(self, request: EmbedImages) -> "tuple[BackboneSession, EmbeddingCache]":
        from engine.embedding.cache import EmbeddingCache
        from engine.embedding.views import views_hash
        from engine.runtime.backbone import BackboneSession
        from engine.runtime.providers import choose_providers

        modified_ns = 0
        with suppress(OSError):  # opening it says what is wrong
            modified_ns = request.backbone.stat().st_mtime_ns
        wanted = request.backbone, request.backbone_hash, modified_ns, request.card, request.cache, request.device
        if wanted != self._opened_for or self._session is None:
            self.close()
            self._session = BackboneSession(request.backbone, request.card, choose_providers(request.device))
            self._opened_for = wanted
        if request.with_views not in self._caches:
            folder, width = CacheFolders(request.cache).embeddings, request.card.embedding_width
            name = views_hash(request.backbone_hash) if request.with_views else request.backbone_hash
            self._caches[request.with_views] = EmbeddingCache(folder, name, width)
        return self._session, self._caches[request.with_views]


def _whole_run(request: EmbedImages, send: Callable[[object], None]) -> OnProgress:
    """Progress of all requests of a run."""
    total = request.total or len(request.images)

    def tell(progress: Progress) -> None:
        done = request.done_before + progress.done
        left_s = (total - done) / progress.rate_per_s if progress.rate_per_s > 0 else None
        send(replace(progress, done=done, total=total, seconds_left=left_s))

    return tell


def measure_rates(request: MeasureRates, _send: "Send", cancel: CancelToken) -> MeasuredRates:
    """Measure for about a second how fast backbones are on this computer."""
    from engine.embedding.rates import measure_photo_rate
    from engine.runtime.providers import choose_providers

    device = choose_providers(request.device)
    rates: dict[str, PhotoRate] = {}
    for file, card in request.backbones:
        cancel.raise_if_cancelled()
        with suppress(ModelError):  # using it says what is wrong
            rates[card.name] = measure_photo_rate(file, card, device, request.photos)
    return MeasuredRates(rates)

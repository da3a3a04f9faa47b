"""A published network's weights, from a mirror's folder or over the network, compared with what is told of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from engine.backbones.published.facts import PublishedNetwork
from engine.backbones.published.route import Route
from engine.config import CacheFolders
from engine.errors import ModelError, NetworkError
from engine.events import CancelToken, OnProgress
from engine.model_card import file_hash

_SHA256_DIGITS: Final = 64  # in hex
_SHOWN_DIGITS: Final = 16  # more than anybody compares by eye


@dataclass(frozen=True)
class Fetched:
    """Weights on this computer."""

    path: Path  # of the file
    is_ours: bool  # whether it lies in the cache, and goes when it is no longer needed
    origin: str  # where it is from and what it was compared with, as a sentence


def weights_path(caches: CacheFolders, facts: PublishedNetwork) -> Path:
    """Where the weights of a network lie while they are needed."""
    path = urlsplit(facts.url).path  # on the hub many files have one name
    name = f"{facts.library_name}.weights" if "/resolve/" in path else Path(path).name
    return caches.root / "downloads" / name


def fetch_weights(
    facts: PublishedNetwork, caches: CacheFolders, route: Route, *, on_progress: OnProgress, cancel: CancelToken
) -> Fetched:
    """Let a network's weights be on this computer.

    Raises:
        UsageError: the route's proxy is not the address of a proxy.
        NetworkError: the weights do not arrive.
        ModelError: the checksum is wrong; or the mirror's folder does not have them.
        StorageError: the disk refuses, or another program downloads them now.
        Cancelled: stopped by the person; what was downloaded is kept.
    """
    if route.folder is not None:
        return _in_folder(facts, route)
    from engine.backbones.published.download import download
    from engine.backbones.published.hub import RemoteFile, ask_about

    remote = RemoteFile(route.address(facts.url), facts.size_bytes, facts.sha256_prefix)
    if not facts.sha256_prefix:
        answers = (ask_about(route.address(url), route) for url in (facts.url, *facts.other_urls))
        found = next((answer for answer in answers if answer is not None), None)
        if found is None:
            raise NetworkError(
                "the weights are not where they were published",
                expected=" or ".join(map(route.address, (facts.url, *facts.other_urls))),
                remedy="a newer version of timm may know where to",
            )
        remote = found
    path = download(
        remote.url,
        weights_path(caches, facts),
        size_bytes=remote.size_bytes,
        sha256_prefix=remote.sha256,
        proxy=route.proxy,
        on_progress=on_progress,
        cancel=cancel,
    )
    return Fetched(path, is_ours=True, origin=_origin(remote.url, remote.sha256, remote.commit))


def _origin(url: str, sha256: str, commit: str) -> str:
    place = urlsplit(url)
    version = f" at {commit[:_SHOWN_DIGITS]}" if commit else ""
    weights = f"Weights: {Path(place.path).name} from {place.hostname}{version}"
    if not sha256:
        return f"{weights}, which told no checksum."
    whole = "SHA-256" if len(sha256) == _SHA256_DIGITS else "first digits of the SHA-256"
    return f"{weights}, {whole} {sha256[:_SHOWN_DIGITS]}{'…' if len(sha256) > _SHOWN_DIGITS else ''}."


def _in_folder(facts: PublishedNetwork, route: Route) -> Fetched:
    """From the mirror's folder; the hub's own cache names its files by their SHA-256."""
    urls = (facts.url, *facts.other_urls)
    path = next(filter(None, map(route.on_disk, urls)), None)
    if path is None:
        raise ModelError(
            "the mirror's folder does not have these weights",
            expected=" or ".join(urlsplit(url).path.lstrip("/").replace("/resolve/main", "") for url in urls),
            found=str(route.folder),
        )
    named = path.resolve().name
    wanted = facts.sha256_prefix or (named if len(named) == _SHA256_DIGITS and named.isalnum() else "")
    found = file_hash(path)
    if not found.startswith(wanted):
        raise ModelError(
            "the mirror's file is not the published one",
            expected=f"SHA-256 {wanted[:_SHOWN_DIGITS]}…",
            found="{hash}… for {path}",
            hash=found[:_SHOWN_DIGITS],
            path=path,
        )
    compared = "as its name says" if wanted else "compared with nothing: no checksum is known"
    origin = f"Weights: {path.name} from a folder, SHA-256 {found[:_SHOWN_DIGITS]}…, {compared}."
    return Fetched(path, is_ours=False, origin=origin)

"""Routes of downloads, through a proxy or from a mirror, and their temporary paths."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from engine.backbones.published.facts import PublishedNetwork
from engine.config import CacheFolders
from engine.errors import UsageError

PART_SUFFIX = ".part"  # of a file that has arrived in part
_ON_HUB = re.compile(r"/(?P<owner>[^/]+)/(?P<name>[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
_HUB_HOST = "huggingface.co"
_ENDPOINT = "HF_ENDPOINT"
_THIS_COMPUTER = frozenset({"127.0.0.1", "localhost", "::1"})
_ADDRESS = re.compile(r"(?:(?P<scheme>https?)://)?(?:(?P<person>[^/\s]*)@)?(?P<place>[^/\s@]+)/?")
_PORTS = {"http": 80, "https": 443}
_ANYTHING = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*://)?(?P<person>.*)@(?P<rest>[^@]*)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True)
class Route:
    """How files come."""

    proxy: str = ""  # address of a proxy; empty: that of the environment or the system
    # Address of a server with the publisher's files under the same paths, or a folder with them;
    # empty: the publisher, or for the hub HF_ENDPOINT
    mirror: str = ""

    @property
    def folder(self) -> Path | None:
        """The folder that files are taken from; None where they come over the network."""
        return Path(self.mirror).expanduser() if self.mirror and "://" not in self.mirror else None

    def check(self) -> None:
        """Refuse a mirror that is neither a safe address nor a folder.

        Raises:
            UsageError: with what was found.
        """
        if self.folder is not None and not self.folder.is_dir():
            raise UsageError(
                "the mirror is not a folder",
                expected="a folder, or https://host",
                found=self.mirror,
            )
        parts = urlsplit(self.mirror)
        if (
            "://" in self.mirror
            and parts.scheme != "https"
            and parts.hostname not in _THIS_COMPUTER
        ):
            raise UsageError(
                "a mirror needs an encrypted address", expected="https://host", found=self.mirror
            )

    def address(self, url: str) -> str:
        """The address that a published file is requested from."""
        parts = urlsplit(url)
        base = self.mirror or (os.environ.get(_ENDPOINT, "") if parts.hostname == _HUB_HOST else "")
        return base.rstrip("/") + parts.path if base and self.folder is None else url

    def on_disk(self, url: str) -> Path | None:
        """The file in the mirror's folder; None where it is not there.

        Files of the hub are in owner/name/, as its own program downloads them, or in its cache,
        models--owner--name/; others are there by their name.
        """
        if self.folder is None:
            return None
        path = unquote(urlsplit(url).path)
        on_hub = _ON_HUB.fullmatch(path)
        places = [self.folder / Path(path).name]
        if on_hub is not None:
            owner, name, file = on_hub["owner"], on_hub["name"], on_hub["file"]
            cache = self.folder / f"models--{owner}--{name}" / "snapshots"
            places = [
                self.folder / owner / name / file,
                self.folder / name / file,
                *sorted(cache.glob(f"*/{file}")),
            ]
        return next((place for place in places if place.is_file()), None)


@dataclass(frozen=True)
class ProxyAddress:
    """A proxy."""

    url: str  # with scheme, host and port, and without credentials: "here" is "http://here:80"
    person: tuple[str, str] | None = None  # name and password where the proxy needs them

    @property
    def shown(self) -> str:
        return (
            self.url if self.person is None else self.url.replace("://", f"://{self.person[0]}@", 1)
        )


def proxy_address(address: str) -> ProxyAddress:
    """Parse "http://name:password@proxy.example:3128"; scheme and port are optional.

    Raises:
        UsageError: it is not the address of a web proxy.
    """
    found = _ADDRESS.fullmatch(address)
    scheme, place = (found["scheme"] or "http", found["place"]) if found else ("", "")
    port = _port_of(place)
    if not found or port == 0:
        raise UsageError(
            "this is not a proxy's address",
            expected="http://host:port",
            found=f"“{without_password(address)}”",
        )
    rest = place if port else f"{place.removesuffix(':')}:{_PORTS[scheme]}"
    name, _, password = (found["person"] or "").partition(":")
    return ProxyAddress(f"{scheme}://{rest}", (name, password) if found["person"] else None)


def _port_of(place: str) -> int | None:
    """The port after a host, None without one, and 0 for an invalid host or port."""
    try:
        parts = urlsplit(f"//{place}")
        (parts.hostname or "").encode("idna")
        port = parts.port
    except ValueError:
        return 0
    return port if parts.hostname else 0


def without_password(address: str) -> str:
    """Redact a possible password in a text, to be stored, shown and logged."""
    parts = _ANYTHING.fullmatch(address)
    if parts is None:
        return address
    return f"{parts['scheme'] or ''}{parts['person'].partition(':')[0]}@{parts['rest']}"


def weights_path(caches: CacheFolders, facts: PublishedNetwork) -> Path:
    """Path of a network's weights while they are needed."""
    path = urlsplit(facts.url).path  # on the hub many files have one name
    name = f"{facts.library_name}.weights" if "/resolve/" in path else Path(path).name
    return caches.root / "downloads" / name

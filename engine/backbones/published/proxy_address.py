"""The address of a web proxy as a person types it: its parts, and what of it may be shown."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from engine.errors import UsageError

_ADDRESS: Final = re.compile(r"(?:(?P<scheme>https?)://)?(?:(?P<person>[^/\s]*)@)?(?P<place>[^/\s@]+)/?")
_PORTS: Final = {"http": 80, "https": 443}
_ANYTHING: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*://)?(?P<person>.*)@(?P<rest>[^@]*)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True)
class ProxyAddress:
    """A proxy."""

    url: str  # with scheme, host and port, and without a person's name: "here" is "http://here:80"
    person: tuple[str, str] | None = None  # name and password where the proxy asks for them

    @property
    def shown(self) -> str:
        """The address without the password."""
        return self.url if self.person is None else self.url.replace("://", f"://{self.person[0]}@", 1)


def proxy_address(address: str) -> ProxyAddress:
    """Read an address such as "http://name:password@proxy.example:3128"; scheme and port may be left out.

    Raises:
        UsageError: it is not the address of a web proxy.
    """
    found = _ADDRESS.fullmatch(address)
    scheme, place = (found["scheme"] or "http", found["place"]) if found else ("", "")
    port = _port_of(place)
    if not found or port == 0:
        shown = without_password(address)
        raise UsageError("this is no proxy's address", expected="http://host:port", found=f"“{shown}”")
    rest = place if port else f"{place.removesuffix(':')}:{_PORTS[scheme]}"
    name, _, password = (found["person"] or "").partition(":")
    return ProxyAddress(f"{scheme}://{rest}", (name, password) if found["person"] else None)


def _port_of(place: str) -> int | None:
    """The port that is named after a host, None where none is, and 0 where this leads nowhere."""
    try:
        parts = urlsplit(f"//{place}")
        (parts.hostname or "").encode("idna")
        port = parts.port
    except ValueError:
        return 0
    return port if parts.hostname else 0


def without_password(address: str) -> str:
    """Any text without what may be a password: what may be kept, shown and logged."""
    parts = _ANYTHING.fullmatch(address)
    if parts is None:
        return address
    return f"{parts['scheme'] or ''}{parts['person'].partition(':')[0]}@{parts['rest']}"

"""The address of a web proxy, as a person types it: whether it is one, in full, and without its password."""

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from engine.errors import UsageError

_PROXY: Final = re.compile(r"(https?://)?[^/\s]+/?")
_PORTS: Final = {"http": 80, "https": 443}
_PARTS: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*://)?(?P<person>.*)@(?P<rest>[^@]*)", re.IGNORECASE | re.DOTALL
)


def check_proxy(address: str) -> None:
    """Refuse what is no address of a web proxy; an empty one stands for what the environment or the system says.

    Args:
        address: such as "http://proxy.example:3128", with name and password before the host where it asks for them.

    Raises:
        UsageError: it is none.
    """
    if address and not (_PROXY.fullmatch(address) and _leads_somewhere(address)):
        found = without_password(address)
        raise UsageError("this is no proxy's address", expected="http://host:port", found=f"“{found}”")


def _leads_somewhere(address: str) -> bool:
    """Whether host and port can be some at all; the web client says it in words for programmers, and late."""
    try:
        parts = _host_and_port(address)
        (parts.hostname or "").encode("idna")
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _host_and_port(address: str) -> SplitResult:
    return urlsplit("//" + address.rpartition("@")[2].rpartition("://")[2])


def in_full(address: str) -> str:
    """A proxy's address with the scheme and the port that a short one stands for: "here" is "http://here:80".

    Args:
        address: one that `check_proxy` takes, and not empty.
    """
    scheme, separator, rest = address.rstrip("/").partition("://")
    if not separator:
        scheme, rest = "http", scheme
    if _host_and_port(address).port is None:
        rest = f"{rest.removesuffix(':')}:{_PORTS[scheme]}"
    return f"{scheme}://{rest}"


def without_password(address: str) -> str:
    """The address with its name, and without the password: what may be kept, shown and logged."""
    parts = _PARTS.fullmatch(address)
    if parts is None:
        return address
    name = parts["person"].partition(":")[0]
    return f"{parts['scheme'] or ''}{name}@{parts['rest']}"

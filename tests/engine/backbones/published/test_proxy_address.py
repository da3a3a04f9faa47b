"""Addresses of proxies: which are some, and what is left of one without its password."""

import pytest

from engine.backbones.published.route import proxy_address, without_password
from engine.errors import UsageError


@pytest.mark.parametrize(
    "address",
    [
        "proxy.example",
        "http://[::1]:3128",
        "proxy.example:3128",
        "http://here:1/",
        "https://anna:s@c#r?e[t@here:1",
    ],
)
def test_what_can_be_a_proxy(address: str) -> None:
    """With and without scheme, port, and somebody's name; nothing is the system's."""
    assert without_password(address) == address.replace(":s@c#r?e[t", "")
    assert proxy_address(address).shown.count("s@c") == 0


@pytest.mark.parametrize(
    ("address", "url", "person"),
    [
        ("here", "http://here:80", None),
        ("here:", "http://here:80", None),
        ("here:3128", "http://here:3128", None),
        ("http://here/", "http://here:80", None),
        ("https://here", "https://here:443", None),
        ("http://[::1]", "http://[::1]:80", None),
        ("anna:a@b:c@here", "http://here:80", ("anna", "a@b:c")),
    ],
)
def test_what_a_short_address_stands_for(
    address: str, url: str, person: tuple[str, str] | None
) -> None:
    """Scheme and port are those of the web where they are left out."""
    found = proxy_address(address)
    assert (found.url, found.person) == (url, person)


NOWHERE = (
    "here:port",
    "http://here:99999",
    "here:0",
    "http://[::1",
    "http://@:80",
    f"http://anna:secret@{'a' * 70}:80",
)


@pytest.mark.parametrize(
    "address", ["socks5://anna:secret@here:1", "anna:secret@here or there", "http://", *NOWHERE]
)
def test_what_is_none_is_refused_without_its_password(address: str) -> None:
    """The message may end up in a log."""
    with pytest.raises(UsageError, match="proxy's address") as refusal:
        proxy_address(address)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("http://anna:secret@here:3128", "http://anna@here:3128"),
        ("anna:secret@here:3128", "anna@here:3128"),
        ("http://anna@here:3128", "http://anna@here:3128"),
        ("http://here:3128", "http://here:3128"),
        ("http://anna:a/b:c@d@here", "http://anna@here"),
    ],
)
def test_a_password_is_left_out(address: str, kept: str) -> None:
    """Whatever is in it."""
    assert without_password(address) == kept

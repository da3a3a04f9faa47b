"""A class's identity: a random text, assigned once, that copies of a project preserve."""

import re
from collections import Counter
from collections.abc import Iterable
from secrets import token_hex

IDENTITY_BYTES = 16
IDENTITY_LENGTH = 2 * IDENTITY_BYTES  # hexadecimal digits
NO_IDENTITY = ""  # of a class whose making an older version of the program did not record

_IDENTITY = re.compile(rf"[0-9a-f]{{{IDENTITY_LENGTH}}}")


def new_identity() -> str:
    """An identity that no other class has."""
    return token_hex(IDENTITY_BYTES)


def identity_in(text: str) -> str:
    """The identity that a file gives; `NO_IDENTITY` for other values."""
    identity = text.strip().lower()
    return identity if _IDENTITY.fullmatch(identity) else NO_IDENTITY


def distinct(identities: Iterable[str]) -> set[str]:
    """Identities of exactly one class: duplicates were made by hand, and identify nothing."""
    return {identity for identity, count in Counter(identities).items() if identity and count == 1}

"""Credentials in addresses, which are removed from files and messages."""

import re

# As a path an address has one slash. A drive has one letter. The example is from a message.
_PERSONS = (
    # a name and a password, which may hold a slash
    re.compile(r"([a-z][a-z0-9+.-]+:/{1,2})(?!name:password@)[^/?#\s]*:[^/?#\s]*@", re.IGNORECASE),
    re.compile(
        r"([a-z][a-z0-9+.-]+:/{1,2})(?!name:password@)[^/?#\s:@]+:(?!\d+(?:[/?#]|$))\S*@",
        re.IGNORECASE,
    ),
    # a token or key alone; behind other schemes a name is a user or a container
    re.compile(r"((?:https?|s3[an]?):/{1,2})(?!name:password@)[^/?#\s]+@", re.IGNORECASE),
)
_PARAMETER = re.compile(
    r"(?<=[?&;#])([\w.-]*(?:token|secret|passw|pwd|signature|credential|api[-_]?key|access[-_]?key"
    r"|auth)[\w.-]*"
    r"|sig|key|pass|jwt|code)=[^&;#\s]*",
    re.IGNORECASE,
)
_HIDDEN = "***"


def has_credentials(address: str) -> bool:
    """Whether an address holds a password, a token or a key."""
    return without_credentials(address) != address


def without_credentials(text: str) -> str:
    """An address, or a text with addresses in it, with secrets replaced by `***`."""
    if ":/" not in text:
        return text
    for person in _PERSONS:
        text = person.sub(rf"\1{_HIDDEN}@", text)
    return _PARAMETER.sub(rf"\1={_HIDDEN}", text)

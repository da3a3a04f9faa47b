"""Translatable texts: sentences of the engine keep their English template and values."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import reduce
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Self

Translator = Callable[[str, int | None], str]
"""Translates a template; "" where there is no translation. The number chooses the plural."""
Numbers = Callable[[float, str], str]
"""Formats a number with a format spec, such as `,` or `.1%`, in the window's language."""
Days = Callable[[date], str]
"""Formats a day in the language of the window."""
Apart = Callable[[str], str]
"""Keeps a value apart from words that are read in another direction."""

_FIELD = re.compile(r"\{(\w+)(?::([^{}]*))?\}")
WIDE_ENDS = ("。", "\N{FULLWIDTH EXCLAMATION MARK}", "\N{FULLWIDTH QUESTION MARK}")
"""Of sentences; they need no space behind them."""
# characters of Chinese and Japanese
_WIDE_RANGES = "\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_HAS_WIDE = f"[{_WIDE_RANGES}]"  # compiled when used, as the one below: that takes 5 ms each
_WIDE = f"[{_WIDE_RANGES}“”]"  # quotation marks are wide among them alone
_EDGE = "\x01"  # of a value, until the text is closed up
_WIDE_GAP = f"(?<={_WIDE})(?:{_EDGE} {_EDGE}?| {_EDGE})(?={_WIDE})"
_CAPITAL = "capital"  # form of a field at the beginning of a sentence: `{remedy:capital}`
_translators: list[Translator] = []
_numbers: list[Numbers] = []
_apart: list[Apart] = []
_days: list[Days] = []


def translate_with(
    translator: Translator | None,
    numbers: Numbers | None = None,
    apart: Apart | None = None,
    days: Days | None = None,
) -> None:
    """Set how texts, numbers and days are translated in this process.

    None is English, with days as in ISO 8601.
    """
    _translators[:] = [translator] if translator else []
    _days[:] = [days] if days else []
    _numbers[:] = [numbers] if numbers else []
    _apart[:] = [apart] if apart else []


class Message(str):  # noqa: SLOT000 (a `str` with facts)
    """English text that keeps its template and values.

    Args:
        template: with values as `{name}` or, with a format, `{name:,}`; other braces are literal.
        fields: the values. They may be texts themselves.
        numerus: count that the plural is chosen by.
    """

    template: str
    fields: Mapping[str, Any]
    numerus: int | None

    def __new__(
        cls,
        template: str,
        fields: Mapping[str, Any] = MappingProxyType({}),
        numerus: int | None = None,
    ) -> Self:
        plain = {name: _plain(value) for name, value in fields.items()}
        text = super().__new__(cls, filled(template, plain))
        text.template, text.fields, text.numerus = template, plain, numerus
        return text

    def translated(self) -> str:
        values = {name: _in_words(value) for name, value in self.fields.items()}
        template = _translation(self.template, self.numerus)
        # the English of one, whose template is that of many
        if not template and self.numerus is not None:
            return str(self)
        return filled(template or self.template, values, _numbers[0] if _numbers else format)

    def as_data(self) -> dict[str, Any]:
        """Template, fields and count for JSON."""
        fields = {
            name: value.as_data() if isinstance(value, Message) else value
            for name, value in self.fields.items()
        }
        return {
            "text": str(self),
            "template": self.template,
            "fields": fields,
            "numerus": self.numerus,
        }


def with_messages(data: dict[str, Any]) -> Any:
    """An object of JSON, or the message that it is: the `object_hook` of what holds `as_data`."""
    if data.keys() != {"text", "template", "fields", "numerus"}:
        return data
    message = Message(data["text"])
    message.template, message.fields, message.numerus = (
        data["template"],
        data["fields"],
        data["numerus"],
    )
    return message


def in_english(text: str, message: Message) -> Message:
    """The same message with another English text, such as a line that was shortened."""
    made = Message(text)
    made.template, made.fields, made.numerus = message.template, message.fields, message.numerus
    return made


def marked(text: str) -> str:
    """Mark a text for translation where it is defined; `translated` translates it for display."""
    return text


def translated(text: str) -> str:
    """Translate a text; one that is not a message is looked up."""
    return text.translated() if isinstance(text, Message) else _translation(text, None) or text


def counted(count: int, noun: str, plural: str = "") -> Message:
    """A number with its noun: `1 image`, `1,234 images`, `7 classes`."""
    several = f"{{count:,}} {plural or noun + 's'}"
    text = Message(f"{{count:,}} {noun}" if count == 1 else several, {"count": count}, count)
    text.template = several
    return text


def number_text(value: float, form: str) -> str:
    """Format a number in the window's language; `form` is a format spec such as `,` or `.1%`."""
    return (_numbers[0] if _numbers else format)(value, form)


def day_text(day: date) -> str:
    """A day in the language of the window."""
    return _days[0](day) if _days else day.isoformat()


def line_of(number: int, name: str) -> Message:
    """A position in a file: `line 3 of birds.csv`."""
    return Message("line {number} of {name}", {"number": number, "name": name})


def joined(parts: Iterable[str]) -> str:
    """Parts of one sentence, each with its own space before it."""
    return closed_up(_EDGE.join(parts))


def listed(texts: Iterable[str]) -> Message | str:
    """`a and b`; of more than two, `a and b and c`."""
    first, *others = texts
    return reduce(
        lambda before, text: Message("{before} and {text}", {"before": before, "text": text}),
        others,
        first,
    )


def enumerated(texts: Iterable[str]) -> Message | str:
    """`a, b, c`: a list of things; of one the thing itself, of none ""."""
    parts = [*texts]
    while len(parts) > 1:  # two by two, since a long list within a list would nest too deep
        pairs = zip(parts[::2], parts[1::2], strict=False)
        last = parts[-1:] if len(parts) % 2 else []
        parts = [
            Message("{before}, {after}", {"before": before, "after": after})
            for before, after in pairs
        ]
        parts += last
    return parts[0] if parts else ""


def either(texts: Iterable[str]) -> Message | str:
    """`a or b`; of more than two, `a or b or c`; of none ""."""
    first, *others = [*texts] or [""]
    return reduce(
        lambda before, text: Message("{before} or {text}", {"before": before, "text": text}),
        others,
        first,
    )


def paragraph(*sentences: str) -> str:
    """Whole sentences one behind the other; empty ones are left out."""
    filled = [each for each in sentences if each]
    return "".join(each if each.endswith(WIDE_ENDS) else f"{each} " for each in filled).rstrip(" ")


def _in_words(value: object) -> object:
    """A field for a translated text."""
    if isinstance(value, Message):
        return translated(value)
    return _apart[0](value) if _apart and isinstance(value, str) else value


def _translation(template: str, count: int | None) -> str:
    return _translators[0](template, count) if _translators and template else ""


def value_edge(template: str) -> str:
    """Marker around each value of a template until `closed_up`; "" in most languages."""
    return _EDGE if not template.isascii() and re.search(_HAS_WIDE, template) else ""


def closed_up(text: str) -> str:
    """Remove spaces between a value and its neighbour that are both Chinese or Japanese.

    Templates have a space where a value may be a number or a Latin name: `删除 Tinca` and `删除鱼`.
    Spaces within values are not removed.
    """
    return re.sub(_WIDE_GAP, "", text).replace(_EDGE, "")


def filled(template: str, fields: Mapping[str, Any], numbers: Numbers = format) -> str:
    """Replace each field once: braces in a value, or around other text, stay."""
    if not fields:
        return template
    edge = value_edge(template)

    def value(place: re.Match[str]) -> str:
        name, form = place.groups()
        if name not in fields:
            return place[0]
        if form == _CAPITAL:
            return f"{edge}{str(fields[name])[:1].upper()}{str(fields[name])[1:]}{edge}"
        is_number = isinstance(fields[name], int | float) and not isinstance(fields[name], bool)
        return (
            f"{edge}{(numbers if form and is_number else format)(fields[name], form or '')}{edge}"
        )

    text = _FIELD.sub(value, template)
    return closed_up(text) if edge else text


def _plain(value: object) -> object:
    match value:
        case str() | bool() | int() | float():
            return value
        case Integral():
            return int(value)
        case Real():
            return float(value)
    return str(value)

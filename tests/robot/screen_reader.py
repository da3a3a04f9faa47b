"""Accessibility tree of a program, as for screen readers: role, name, position (AT-SPI)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.robot.display import Display
from tests.robot.eyes import Area

_BUS = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
_ROOT = "/org/a11y/atspi/accessible/root"
_REGISTRY = "org.a11y.atspi.Registry"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_COMPONENT = "org.a11y.atspi.Component"
_VALUES = "org.a11y.atspi.Value"
_TEXT = "org.a11y.atspi.Text"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_ON_SCREEN = 0
_SHOWING = 25
_FOCUSED = 12
_ENABLED = 8
_SELECTED = 23
_MANY = 500
"""Number of children above which a list's rows are fetched one by one."""


@dataclass(frozen=True)
class Part:
    """A part of a program's window.

    Attributes:
        bus_name: of the program.
        path: of the part.
        role: "push button", "tree item", ...
        name: accessible name.
        states: bits, numbered as in AT-SPI.
        area: on the screen.
    """

    bus_name: str
    path: str
    role: str
    name: str
    states: int
    area: Area

    @property
    def is_focused(self) -> bool:
        """Whether it has the focus."""
        return bool(self.states >> _FOCUSED & 1)

    @property
    def is_enabled(self) -> bool:
        """Whether it is enabled."""
        return bool(self.states >> _ENABLED & 1)

    @property
    def is_selected(self) -> bool:
        """Whether it is selected."""
        return bool(self.states >> _SELECTED & 1)


@final
class ScreenReader:
    """Read all programs on a display.

    Args:
        display: of the programs.
        scale: of the programs, which report positions in logical pixels.
    """

    def __init__(self, display: Display, scale: int = 1) -> None:
        self._scale = scale
        session = open_dbus_connection(display.bus_address)
        try:
            (address,) = _answer(session, _BUS, "GetAddress")
        finally:
            session.close()
        self._bus: DBusConnection = open_dbus_connection(address)

    def close(self) -> None:
        """Close the connection."""
        self._bus.close()

    def find(self, name: str, role: str = "") -> Part | None:
        """The first visible part with this name."""
        return next(
            (part for part in self.parts() if part.name == name and role in {"", part.role}), None
        )

    def containing(self, words: str, role: str = "") -> Part | None:
        """The first visible part whose name contains this text."""
        return next(
            (part for part in self.parts() if words in part.name and role in {"", part.role}), None
        )

    def focused(self, role: str) -> Part | None:
        """The focused part of a role."""
        return next((part for part in self.of_role(role) if part.is_focused), None)

    def of_role(self, role: str) -> list[Part]:
        """All visible parts of a role."""
        return [part for part in self.parts() if part.role == role]

    def parts(self) -> Iterator[Part]:
        """Every visible part, windows first."""
        for bus_name, path in self._children(_REGISTRY, _ROOT):
            for window in self._children(bus_name, path):
                yield from self._below(*window)

    def wait_for_answer(self) -> None:
        """Query every program: once all have answered, earlier events are handled."""
        for bus_name, path in self._children(_REGISTRY, _ROOT):
            self._children(bus_name, path)

    def text_of(self, part: Part) -> str:
        """The text of a field."""
        (text,) = self._ask(DBusAddress(part.path, part.bus_name, _TEXT), "GetText", "ii", (0, -1))
        return str(text)

    def _below(self, bus_name: str, path: str) -> Iterator[Part]:
        part = self._part(bus_name, path)
        if part is None:
            return
        yield part
        for child in self._children(bus_name, path):
            yield from self._below(*child)

    def _part(self, bus_name: str, path: str) -> Part | None:
        try:
            (words,) = self._ask(DBusAddress(path, bus_name, _ACCESSIBLE), "GetState")
            states = words[0] | words[1] << 32
            if not states >> _SHOWING & 1:
                return None
            (role,) = self._ask(DBusAddress(path, bus_name, _ACCESSIBLE), "GetRoleName")
            ((_kind, name),) = self._ask(
                DBusAddress(path, bus_name, _PROPERTIES), "Get", "ss", (_ACCESSIBLE, "Name")
            )
            ((left, top, width, height),) = self._ask(
                DBusAddress(path, bus_name, _COMPONENT), "GetExtents", "u", (_ON_SCREEN,)
            )
        except LookupError:
            return None  # removed meanwhile
        return Part(bus_name, path, role, name, states, self._on_screen(left, top, width, height))

    def _on_screen(self, *lengths: int) -> Area:
        left, top, width, height = (self._scale * length for length in lengths)
        return Area(left, top, width, height)

    def _children(self, bus_name: str, path: str) -> list[tuple[str, str]]:
        try:
            ((_kind, count),) = self._ask(
                DBusAddress(path, bus_name, _PROPERTIES), "Get", "ss", (_ACCESSIBLE, "ChildCount")
            )
            if count > _MANY:
                return []
            (children,) = self._ask(DBusAddress(path, bus_name, _ACCESSIBLE), "GetChildren")
        except LookupError:
            return []
        return [(child[0], child[1]) for child in children]

    def _ask(
        self, place: DBusAddress, method: str, signature: str = "", words: tuple[Any, ...] = ()
    ) -> Any:
        return _answer(self._bus, place, method, signature, words)


def _answer(
    bus: DBusConnection,
    place: DBusAddress,
    method: str,
    signature: str = "",
    words: tuple[Any, ...] = (),
) -> Any:
    """Call a method over D-Bus.

    Raises:
        LookupError: the object is gone.
    """
    question = new_method_call(place, method, signature or None, words)
    reply = bus.send_and_get_reply(question, timeout=10)
    if reply.header.message_type is MessageType.error:
        raise LookupError(f"{reply.header.fields.get(HeaderFields.error_name)}: {reply.body}")
    return reply.body

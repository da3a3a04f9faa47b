"""The proxy that a download goes through, for networks that need one."""

from typing import TYPE_CHECKING, final

from app.backbones.quiet_field import QuietField, Shorten
from app.texts import tr

if TYPE_CHECKING:
    from app.settings import Settings


@final
class ProxyField(QuietField):
    """An address, or nothing for the proxy of the system."""

    def __init__(self, settings: "Settings") -> None:
        self._settings = settings
        self.address = settings.proxy  # the address in force, with its password
        super().__init__(
            self.address,
            name=tr("Address of the proxy"),
            example=tr("http://host:port"),
            tip=tr("If this computer reaches the internet only through a proxy"),
            field_tip=tr("Leave it empty to use the system's proxy"),
            fate=tr("The address is remembered, the password only until the program ends."),
        )

    def take(self, typed: str) -> str:
        """An address is checked as the command line checks it."""
        from engine.backbones.published.route import proxy_address
        from engine.errors import UsageError

        try:
            if typed:
                proxy_address(typed)
        except UsageError as error:
            return error.translated()
        if typed != self.address:
            self.address = self._settings.proxy = typed
        return ""

    def line(self, shorten: Shorten) -> str:
        shown = self._shown
        if not shown:
            return tr("Use a proxy…")
        return tr("Proxy: %1", shorten(shown))

    @property
    def has_fate(self) -> bool:
        """Whether there is a password."""
        return self._shown != self.address

    @property
    def _shown(self) -> str:
        from engine.backbones.published.route import without_password

        return without_password(self.address)

"""The mirror that published networks are taken from instead of their publishers' servers."""

from typing import TYPE_CHECKING, final

from app.backbones.quiet_field import QuietField, Shorten
from app.texts import tr

if TYPE_CHECKING:
    from app.settings import Settings


@final
class MirrorField(QuietField):
    """A folder or an address, or nothing for the publishers' own servers."""

    def __init__(self, settings: "Settings") -> None:
        self._settings = settings
        self.place = settings.mirror  # what is in force
        super().__init__(
            self.place,
            name=tr("Folder or address of the mirror"),
            example=tr("/folder or https://host"),
            tip=tr("If this computer has no internet, or weights are kept in one place for everybody"),
            field_tip=tr("Leave it empty to download from the publisher"),
            fate=tr("Files lie there as on the publisher's server: owner/name/file."),
        )

    def take(self, typed: str) -> str:
        """A folder must be there, an address must be encrypted."""
        from engine.backbones.published.route import Route
        from engine.errors import UsageError

        try:
            Route(mirror=typed).check()
        except UsageError as error:
            return error.translated()
        if typed != self.place:
            self.place = self._settings.mirror = typed
        return ""

    def line(self, shorten: Shorten) -> str:
        if not self.place:
            return tr("Use a mirror…")
        return tr("Mirror: %1", shorten(self.place))

    @property
    def has_fate(self) -> bool:
        """How files lie in it is worth knowing while there is none."""
        return True

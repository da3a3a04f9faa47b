"""The command that puts the program into the desktop's menu."""

from typing import Annotated

import typer

from engine.cli.output import AsJson, say


def menu_entry(
    remove: Annotated[bool, typer.Option("--remove", help="Take it out of the menu again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put this program into the menu of a Linux desktop, and let a double click open projects with it."""
    from engine.menu_entry import add_menu_entry, remove_menu_entry

    files = [str(path) for path in (remove_menu_entry() if remove else add_menu_entry())]
    if remove:
        text = "Protoleaf is no longer in the menu." if files else "Protoleaf was not in the menu."
    else:
        text = "Protoleaf is in the menu now; a double click opens projects."
    say("\n".join([text, *files]), {"removed" if remove else "written": files}, as_json=as_json)


def register(application: typer.Typer) -> None:
    """Add this command to the program."""
    application.command("menu-entry")(menu_entry)

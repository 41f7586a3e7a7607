"""Which operator commands there are, and where; a command is loaded when it is called, and no other is."""

import pkgutil

import click
from flask.cli import AppGroup

from commands import demo, gateways, money, organization, platforms, programs, rehearsal, service

#: Where each command's function or group is. A subject with a folder says so itself.
COMMANDS = {
    "affiliate": "commands.affiliates:group",
    "deal": "commands.deals:group",
    "embed": "commands.embed:group",
    "mail": "commands.mail:group",
    "payout": "commands.payouts:group",
    "webhook": "commands.webhooks:group",
    **organization.COMMANDS,
    **programs.COMMANDS,
    **gateways.COMMANDS,
    **platforms.COMMANDS,
    **money.COMMANDS,
    **service.COMMANDS,
    **demo.COMMANDS,
    **rehearsal.COMMANDS,
}


class Commands(AppGroup):
    """The group that `flask` asks for a command it does not know itself."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all."""
        return sorted({*COMMANDS, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, its module loaded now if it was not; None for a name that is not there."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        found: click.Command = pkgutil.resolve_name(COMMANDS[cmd_name])
        return found

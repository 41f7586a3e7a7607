"""Registry of the operator commands: a command's module is imported when the command is called."""

import pkgutil

import click
from flask.cli import AppGroup

from commands import demo, developer, gateways, money, organization, platforms, programs, service

#: Command name to the function or group. Folders list their own.
COMMANDS = {
    "affiliate": "commands.affiliates:group",
    "deal": "commands.deals:group",
    "embed": "commands.embed:group",
    "mail": "commands.mail:group",
    "payout": "commands.payouts:group",
    "switch": "commands.switches:group",
    "webhook": "commands.webhooks:group",
    **organization.COMMANDS,
    **programs.COMMANDS,
    **gateways.COMMANDS,
    **platforms.COMMANDS,
    **money.COMMANDS,
    **service.COMMANDS,
    **demo.COMMANDS,
    **developer.COMMANDS,
}


class Commands(AppGroup):
    """The group of all operator commands, added to Flask's own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*COMMANDS, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, importing its module if necessary; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        command: click.Command = pkgutil.resolve_name(COMMANDS[cmd_name])
        return command

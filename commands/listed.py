"""Which operator commands there are, and where; a command is loaded when it is called, and no other is."""

import importlib

import click
from flask.cli import AppGroup

#: The module and the name of each command's function or group.
COMMANDS = {
    "db": "database:group",
    "org": "organizations:org",
    "key": "organizations:key",
    "program": "programs:group",
    "affiliate": "affiliates:group",
    "token": "token:group",
    "jobs": "jobs:group",
    "ledger": "ledger:group",
    "retention": "retention:group",
    "secrets": "secrets:group",
    "payout": "payout_desk:group",
    "webhook": "webhooks:group",
    "mail": "mail:group",
    "fx": "fx:group",
    "demo": "demo:demo",
    "demo-receiver": "receiver:run",
    "listen": "listen:listen",
    "trigger": "trigger:trigger",
    "up": "run:up",
    "relay": "run:relay",
    "scheduler": "run:schedule",
    "clicks": "run:clicks",
}


class Commands(AppGroup):
    """The group that `flask` asks for a command it does not know itself."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all."""
        return sorted({*COMMANDS, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, its module loaded now if it was not; None for a name that is none."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, name = COMMANDS[cmd_name].partition(":")
        found: click.Command = getattr(importlib.import_module(f"commands.{module}"), name)
        return found

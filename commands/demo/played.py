"""`python -m commands.demo.played`: what stands on this machine for the servers of others that the demo talks with.

Not a command of `flask`, which would load the application, and that is half of what this process takes.
"""

import contextlib

import click

import settings
from commands.demo import loopback, receiver
from commands.demo.gateway import player


@click.command("played")
def servers() -> None:
    """Receive the demo's webhooks, and play the gateway of its second brand where nobody chose another one."""
    chosen = settings.current()
    with contextlib.ExitStack() as played:
        if loopback.is_gateway_played(chosen):
            played.enter_context(player.playing(chosen, say=click.echo))
        receiver.receive(chosen)


if __name__ == "__main__":
    servers()

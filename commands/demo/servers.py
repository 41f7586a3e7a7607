"""`python -m commands.demo.servers`: the demo's webhook receiver and simulated gateway on this machine.

Not a command of `flask`, which would load the application and double the memory of this process.
"""

import contextlib

import click

import settings
from commands.demo import loopback, receiver
from commands.demo.gateway import server


@click.command("servers")
def run() -> None:
    """Receive the demo's webhooks, and simulate the gateway of its second brand unless another address is set."""
    config = settings.current()
    with contextlib.ExitStack() as stack:
        if loopback.is_gateway_simulated(config):
            stack.enter_context(server.running(config, echo=click.echo))
        receiver.receive(config)


if __name__ == "__main__":
    run()

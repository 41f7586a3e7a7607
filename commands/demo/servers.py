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
    chosen = settings.current()
    with contextlib.ExitStack() as stack:
        if loopback.is_gateway_simulated(chosen):
            stack.enter_context(server.running(chosen, say=click.echo))
        receiver.receive(chosen)


if __name__ == "__main__":
    run()

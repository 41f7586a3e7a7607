"""What a fleet may load beside its actors: a broker that delivers every pointer three times.

`python -m workers tests.support.installation.echo -Q sales`. The copies arrive while the first is being worked on.
"""

from typing import Any

import dramatiq


class Echo(dramatiq.Middleware):
    """Says everything again, and once more."""

    def before_process_message(self, broker: Any, message: Any) -> None:
        """Put two copies of a pointer on its queue; a copy has none of its own."""
        if "echo" not in message.options:
            for _ in range(2):
                broker.enqueue(message.copy(options={"echo": True}))


dramatiq.get_broker().add_middleware(Echo())

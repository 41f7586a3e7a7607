"""A module for worker processes that makes the broker deliver every message three times.

Load it with `python -m workers tests.support.installation.triple_delivery -Q sales`. The copies arrive while the first
message is being processed.
"""

from typing import Any

import dramatiq


class TripleDelivery(dramatiq.Middleware):
    """Enqueues two copies of each message before it is processed."""

    def before_process_message(self, broker: Any, message: Any) -> None:
        """Enqueue two copies of a message; a copy is not copied again."""
        if "is_copy" not in message.options:
            for _ in range(2):
                broker.enqueue(message.copy(options={"is_copy": True}))


dramatiq.get_broker().add_middleware(TripleDelivery())

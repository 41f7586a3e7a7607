"""A client of Finderfee: signed sales, refunds and leads, every operation of an API key, and webhooks verified.

    client.py     the client: what a brand's server does every day, and the groups of operations
    transport.py  one call: what is sent, what is tried again, what an answer means
    signing.py    the signature of what is sent
    webhooks.py   the signature of what comes
    errors.py     what can go wrong
    generated/    operations and records, from the description of the interface

Amounts are integers in minor units of their currency; records are dictionaries under the interface's own names.
"""

from .client import Finderfee
from .errors import ApiError, ConnectionFailed, FinderfeeError, InvalidSignature
from .transport import Answer, Send
from .version import VERSION
from .webhooks import TestEvent, verify_webhook

__version__ = VERSION
__all__ = [
    "Answer",
    "ApiError",
    "ConnectionFailed",
    "Finderfee",
    "FinderfeeError",
    "InvalidSignature",
    "Send",
    "TestEvent",
    "verify_webhook",
]

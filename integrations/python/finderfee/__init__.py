"""A client of Finderfee: signed sales, refunds and leads, every operation of an API key, and webhooks verified.

    client.py     the client: sales, refunds and leads, and the groups of operations
    transport.py  sends calls: headers, signatures, retries, responses
    signing.py    signs requests
    webhooks.py   verifies webhooks
    errors.py     errors of calls and webhooks
    generated/    operations and records, from the OpenAPI description

Amounts are integers in minor units of their currency; records are dictionaries with the API's own names.
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

"""Posts signed refunds, each with a different signature."""

import itertools
import time
from typing import Any

from werkzeug.test import TestResponse

from tests.support.rows.brands import Brand

_NUMBERS = itertools.count(1)


def post_refund(brand: Brand, external_event_id: str, amount_cents: int | None = None, **headers: str) -> TestResponse:
    """Post a refund. Equal refunds in one second would have the same signature, so the signed time varies."""
    body: dict[str, Any] = {"externalEventId": external_event_id}
    if amount_cents is not None:
        body["refundAmountCents"] = amount_cents
    return brand.post_signed("/api/tracking/refund", body, at=int(time.time()) + next(_NUMBERS) % 200, **headers)

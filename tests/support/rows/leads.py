"""Leads as a brand's server and its pages send them."""

import itertools
import json
from typing import Any

from werkzeug.test import TestResponse

from tests.support.rows.brands import Brand

SIGNED = "/api/tracking/lead"
BROWSER = "/api/v1/r/lead/signup"
# As a brand's server signs it, to the byte.
LEAD = b'{"affiliateSlug": "ben", "email": "ada@example.com"}'
_NUMBERS = itertools.count(1)


def post_signed_lead(brand: Brand, **fields: Any) -> TestResponse:
    """Post a signed lead of somebody new for ben; a field given as `...` is left out."""
    body = {"affiliateSlug": "ben", "email": f"ada-{next(_NUMBERS)}@example.com"} | fields
    return brand.post_signed(SIGNED, {name: value for name, value in body.items() if value is not ...})


def slug_of(brand: Brand) -> str:
    """Return a slug that no other brand has: pages name no brand."""
    return f"ben-{brand.id.hex}"


def post_browser_lead(
    brand: Brand, raw: bytes | None = None, *, content_type: str = "text/plain", **fields: Any
) -> TestResponse:
    """Post a lead as a page of the brand does: of somebody new for `slug_of` the brand, or these bytes."""
    body = {"slug": slug_of(brand), "email": f"eve-{next(_NUMBERS)}@example.com"} | fields
    sent = json.dumps({name: value for name, value in body.items() if value is not ...}).encode()
    return brand.app.test_client().post(
        BROWSER,
        data=sent if raw is None else raw,
        headers={"Content-Type": content_type, "Origin": "https://shop.example"},
    )


def list_lead_emails(brand: Brand) -> list[str]:
    """Return the addresses of the brand's leads, in their order."""
    return [email for (email,) in brand.rows("select email from lead order by occurred_at, id")]


def list_lead_states(brand: Brand) -> list[str]:
    """Return the states of the brand's leads, in their order."""
    return [state for (state,) in brand.rows("select state from lead order by occurred_at, id")]


def count_rows(brand: Brand) -> tuple[int, int]:
    """Return how many leads and how many conversions the brand has."""
    return brand.rows("select count(*) from lead")[0][0], brand.rows("select count(*) from conversion")[0][0]


def read_refusal(answer: TestResponse) -> tuple[int, str, str | None]:
    """Return the status, the code and the field of a refusal."""
    body: Any = answer.json
    return answer.status_code, body["error"], body.get("field")

"""Leads sent by a brand's server and by its pages."""

import itertools
import json
from typing import Any

from werkzeug.test import TestResponse

from tests.support.rows.brands import Brand

SIGNED = "/api/tracking/lead"
BROWSER = "/api/v1/r/lead/signup"
# The bytes that a brand's server signs.
LEAD = b'{"affiliateSlug": "ben", "email": "ada@example.com"}'
_NUMBERS = itertools.count(1)


def post_signed_lead(brand: Brand, **fields: Any) -> TestResponse:
    """Post a signed lead for ben with a new email; a field given as `...` is left out."""
    body = {"affiliateSlug": "ben", "email": f"ada-{next(_NUMBERS)}@example.com"} | fields
    return brand.post_signed(SIGNED, {name: value for name, value in body.items() if value is not ...})


def slug_of(brand: Brand) -> str:
    """Return a slug that no other brand has: leads from pages do not name the brand."""
    return f"ben-{brand.id.hex}"


def post_browser_lead(
    brand: Brand, raw: bytes | None = None, *, content_type: str = "text/plain", **fields: Any
) -> TestResponse:
    """Post a lead as a page of the brand does, with a new email and the slug of `slug_of`, or with these bytes."""
    body = {"slug": slug_of(brand), "email": f"eve-{next(_NUMBERS)}@example.com"} | fields
    json_body = json.dumps({name: value for name, value in body.items() if value is not ...}).encode()
    return brand.app.test_client().post(
        BROWSER,
        data=json_body if raw is None else raw,
        headers={"Content-Type": content_type, "Origin": "https://shop.example"},
    )


def list_lead_emails(brand: Brand) -> list[str]:
    """Return the addresses of the brand's leads, oldest first."""
    return [email for (email,) in brand.rows("select email from lead order by occurred_at, id")]


def list_lead_states(brand: Brand) -> list[str]:
    """Return the states of the brand's leads, oldest first."""
    return [state for (state,) in brand.rows("select state from lead order by occurred_at, id")]


def count_rows(brand: Brand) -> tuple[int, int]:
    """Return how many leads and how many conversions the brand has."""
    return brand.rows("select count(*) from lead")[0][0], brand.rows("select count(*) from conversion")[0][0]


def read_refusal(answer: TestResponse) -> tuple[int, str, str | None]:
    """Return status, error code and field of a response."""
    body: Any = answer.json
    return answer.status_code, body["error"], body.get("field")

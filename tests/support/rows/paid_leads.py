"""Campaigns that pay for leads, and leads sent to them."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from werkzeug.test import TestResponse

import settings
from adapters.fraud import human_check
from tests.support.rows.brands import Brand

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

_NUMBERS = itertools.count(1)


@contextmanager
def configure_human_check(**variables: str) -> Iterator[None]:
    """Set these HUMAN_CHECK_ variables while the block runs."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(f"HUMAN_CHECK_{name}", value)
        _clear_caches()
        try:
            yield
        finally:
            patch.undo()
            _clear_caches()


def _clear_caches() -> None:
    settings.current.cache_clear()
    human_check.clear_caches()


def create_human_token() -> str:
    """Return a new human verification token; HUMAN_CHECK_URL must be `local`."""
    local = human_check.find_local_issuer()
    assert local is not None
    return local.issue(now=datetime.now(UTC))


def create_campaign(brand: Brand, **columns: Any) -> str:
    """Create a campaign that pays 5 USD per lead, with an affiliate; return the affiliate's slug."""
    brand.set(leadPreview="on")
    per_lead = {
        "default_commission_model": "Cpl",
        "default_commission_type": "Fixed",
        "default_commission_value": Decimal(5),
    }
    program_id = brand.program(**per_lead | columns)
    slug = f"lead-{next(_NUMBERS)}-{program_id.hex[-8:]}"
    brand.affiliate(slug)
    return slug


def unique_person_email() -> str:
    """Return an email address that no other lead has."""
    return f"person-{next(_NUMBERS)}@inbox.example.org"


def send_lead(brand: Brand, to: str, *, headers: dict[str, str] | None = None, **fields: Any) -> TestResponse:
    """Send a lead for a slug as a browser does; `fields` override, a field given as `...` is left out."""
    body = (
        {"slug": to, "email": unique_person_email()}
        | ({} if "token" in fields else {"token": create_human_token()})
        | fields
    )
    json_body = {name: value for name, value in body.items() if value is not ...}
    return brand.app.test_client().post(
        "/api/v1/lead", json=json_body, headers={"User-Agent": BROWSER} | (headers or {})
    )


def list_lead_conversions(brand: Brand) -> list[tuple[Any, ...]]:
    """Return status, commission, currency, payability and method of the brand's lead conversions, oldest first."""
    return brand.rows(
        "select status, commission_cents, currency, payability, attribution_method from conversion"
        " where organization_id = %s and type = 'LeadReward' order by created_at, id",
        brand.id,
    )


def list_fraud_events(brand: Brand) -> list[tuple[Any, ...]]:
    """Return action, score and reasons of the brand's fraud events about leads."""
    return brand.rows(
        "select action, score, reasons from fraud_event where organization_id = %s and subject = 'lead'"
        " order by occurred_at, id",
        brand.id,
    )

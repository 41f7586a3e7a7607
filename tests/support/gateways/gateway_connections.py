"""Runs a fake gateway that the service's settings lead to, and connects it to a brand."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

import settings
from tests.support.gateways.stage import Stage
from tests.support.gateways.stages import STAGES
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings


@contextmanager
def play_gateway(name: str = "stripe") -> Iterator[Stage]:
    """Run a fake gateway that the service calls while the block runs."""
    stage = STAGES[name]()
    with pytest.MonkeyPatch.context() as patch:
        point_service_at(stage, patch)
        yield stage
    stage.stop()


def point_service_at(stage: Stage, patch: pytest.MonkeyPatch) -> None:
    """Make the service call a gateway at this stage until the patch ends; other fake gateways stay."""
    override_settings(patch, addresses={"apis": settings.current().addresses.apis | {stage.gateway.name: stage.url}})


def build_connection_body(stage: Stage, **fields: Any) -> dict[str, Any]:
    """Return the request body that connects a fake gateway."""
    return {"gateway": stage.gateway.name, "mode": stage.mode, "credentials": dict(stage.credentials)} | fields


def connect_gateway(owner: Brand, stage: Stage, **fields: Any) -> dict[str, Any]:
    """Connect a fake gateway and return the response body; later purchases are dated after the connection."""
    answer = owner.post("/api/v1/connections", build_connection_body(stage, **fields))
    assert answer.status_code == 201, answer.get_data(as_text=True)
    stage.now = max(stage.now, datetime.now(UTC))
    return dict(answer.json or {})


# How test accounts differ from live ones: another key, or another response of the API.
_TEST_KEYS = {
    "stripe": "sk_test_fake",
    "mollie": "test_fake",
    "paddle": "pdl_sdbx_apikey_fake",
    "chargebee": "test_fake",
}
_TEST_ANSWERS = {
    "maxio": ("/site.json", {"site": {"subdomain": "acme", "currency": "USD", "test": True}}),
    "recurly": ("/sites", {"data": [{"id": "s1", "subdomain": "acme", "mode": "sandbox"}]}),
    "lemonsqueezy": ("/users/me", {"meta": {"test_mode": True}}),
}
#: The gateways at which a test account is recognized.
GATEWAYS_WITH_MODE = (*_TEST_KEYS, *_TEST_ANSWERS)


def switch_to_test_mode(stage: Stage) -> None:
    """Make the fake account a test account, as far as the gateway distinguishes them, to be connected in test mode."""
    stage.mode = "test"
    name, answer = stage.gateway.name, stage.answer
    if name in _TEST_KEYS:
        stage.credentials = {**stage.credentials, "apiKey": _TEST_KEYS[name]}
        stage.is_authorized = lambda call: True  # type: ignore[method-assign]
    if name in _TEST_ANSWERS:
        ending, reply = _TEST_ANSWERS[name]
        stage.answer = lambda call: (  # type: ignore[method-assign]
            (200, reply) if call.path.endswith(ending) else answer(call)
        )

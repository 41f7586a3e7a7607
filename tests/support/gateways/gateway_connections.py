"""A gateway played for a test: the service's settings lead to it; and the calls by which a brand connects it."""

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
    """Play a gateway on a port of this machine, and have the service call it there."""
    playing = STAGES[name]()
    with pytest.MonkeyPatch.context() as patch:
        point_service_at(playing, patch)
        yield playing
    playing.stop()


def point_service_at(playing: Stage, patch: pytest.MonkeyPatch) -> None:
    """Have the service call a gateway at its stage, beside those that are led so already, until the patch ends."""
    override_settings(
        patch, addresses={"apis": settings.current().addresses.apis | {playing.gateway.name: playing.url}}
    )


def build_connection_body(stage: Stage, **fields: Any) -> dict[str, Any]:
    """Return the body that connects a played gateway."""
    return {"gateway": stage.gateway.name, "mode": stage.mode, "credentials": dict(stage.credentials)} | fields


def connect_gateway(owner: Brand, stage: Stage, **fields: Any) -> dict[str, Any]:
    """Connect a played gateway and return the answer. What is bought there from now on was bought after that."""
    answer = owner.post("/api/v1/connections", build_connection_body(stage, **fields))
    assert answer.status_code == 201, answer.get_data(as_text=True)
    stage.now = max(stage.now, datetime.now(UTC))
    return dict(answer.json or {})


# What an account says that is for trying out: another key, or another answer of its API.
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
#: The gateways that tell whether an account is for trying out.
GATEWAYS_WITH_MODE = (*_TEST_KEYS, *_TEST_ANSWERS)


def switch_to_test_mode(stage: Stage) -> None:
    """Let the played account be one for trying out, which most gateways tell, and be connected as one."""
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

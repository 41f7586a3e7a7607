"""The order of the checks of a request with a key: key (401), rate (429), scope (403), plan (402); core spec, 5 and 8.

Each neighbouring pair is tested by a request that fails both checks.
"""

from datetime import UTC, datetime, timedelta

import pytest

import settings
from api.access import limits
from tests.support.rows.brands import Brand

URL = "/api/v1/programs"
ENVIRONMENT = {"DATABASE_URL": "unused", "SECRET_KEY": "x" * 32, "RATE_LIMITS_PER_MIN": "standard=1"}


@pytest.fixture
def one_request_per_minute(app, monkeypatch):
    """A limit of one request per minute and caller, counted in the real Valkey."""
    limiter = limits.Limiter(settings.current().servers.redis_url, settings.read(ENVIRONMENT).web.limits_per_min)
    monkeypatch.setitem(app.extensions, "limiter", limiter)


def test_invalid_key_is_refused_before_the_rate_limit(one_request_per_minute, brand):
    brand.get(URL)
    stranger = Brand(brand.app, brand.id, "nonsense", "nonsense")

    assert brand.get(URL).status_code == 429
    assert stranger.get(URL).status_code == 401


def test_rate_limit_is_checked_before_the_scope(one_request_per_minute, brand):
    reader = brand.other_key(scope="read")

    first, second = reader.post(URL, {}), reader.post(URL, {})

    assert (first.status_code, first.json["error"]) == (403, "forbidden")
    assert (second.status_code, second.data) == (429, b"")


def test_rate_limit_is_checked_before_the_plan(app, one_request_per_minute):
    free = Brand.create(app, plan="Free")

    assert [free.get(URL).status_code for _ in range(2)] == [402, 429]


def test_scope_is_checked_before_the_plan(app):
    free = Brand.create(app, plan="Free")
    reader = free.other_key(scope="read")

    assert (free.post(URL, {}).status_code, reader.post(URL, {}).status_code) == (402, 403)
    assert reader.get(URL).status_code == 402


def test_plan_is_checked_before_the_body(app):
    assert Brand.create(app, plan="Free").post(URL, b"nonsense").status_code == 402


@pytest.mark.parametrize(
    ("plan", "status", "trialing"),
    [("Free", "Active", False), ("Pro", "Canceled", False), ("Free", "Trialing", True)],
)
@pytest.mark.parametrize("path", [URL, "/api/v1/affiliates", "/api/v1/conversions"])
def test_insufficient_plan_returns_402_with_its_fields(app, path, plan, status, trialing):
    answer = Brand.create(app, plan=plan, status=status).get(path)

    assert (answer.status_code, answer.content_type) == (402, "application/json")
    assert answer.json == {
        "error": "plan_tier_required",
        "doc_url": "http://127.0.0.1:8000/docs/errors#plan_tier_required",
        "message": answer.json["message"],
        "required": "Starter",
        "current": "Free",
        "trialing": trialing,
    }
    assert "Starter" in answer.json["message"]


def test_expired_trial_returns_402_with_its_fields(app):
    brand = Brand.create(app, plan="Pro", status="Trialing")
    brand.set(trialEndsAt=(datetime.now(UTC) - timedelta(seconds=1)).isoformat())

    answer = brand.post("/api/v1/webhooks", {"url": "https://localhost/x", "events": ["*"]})

    assert answer.status_code == 402
    assert sorted(answer.json) == ["current", "doc_url", "error", "message", "required", "trialing"]
    assert (answer.json["current"], answer.json["trialing"]) == ("Free", False)

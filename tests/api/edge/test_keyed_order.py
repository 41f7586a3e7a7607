"""In which order a request with a key is checked: key (401), rate (429), scope (403), plan (402); core spec, 5 and 8.

Every neighbouring pair is shown by a request that is wrong in both ways.
"""

from datetime import UTC, datetime, timedelta

import pytest

import settings
from api.access import limits
from tests.support.rows.brands import Brand

URL = "/api/v1/programs"
ENVIRONMENT = {"DATABASE_URL": "unused", "SECRET_KEY": "x" * 32, "RATE_LIMITS_PER_MIN": "standard=1"}


@pytest.fixture
def scarce(app, monkeypatch):
    """Let one request per minute and person through, counted on the real server."""
    limiter = limits.Limiter(settings.current().servers.redis_url, settings.read(ENVIRONMENT).web.limits_per_min)
    monkeypatch.setitem(app.extensions, "limiter", limiter)


def test_the_key_comes_before_the_limit(scarce, brand):
    brand.get(URL)
    stranger = Brand(brand.app, brand.id, "nonsense", "nonsense")

    assert brand.get(URL).status_code == 429
    assert stranger.get(URL).status_code == 401


def test_the_limit_comes_before_the_scope(scarce, brand):
    reader = brand.other_key(scope="read")

    first, second = reader.post(URL, {}), reader.post(URL, {})

    assert (first.status_code, first.json["error"]) == (403, "forbidden")
    assert (second.status_code, second.data) == (429, b"")


def test_the_limit_comes_before_the_plan(app, scarce):
    free = Brand.create(app, plan="Free")

    assert [free.get(URL).status_code for _ in range(2)] == [402, 429]


def test_the_scope_comes_before_the_plan(app):
    free = Brand.create(app, plan="Free")
    reader = free.other_key(scope="read")

    assert (free.post(URL, {}).status_code, reader.post(URL, {}).status_code) == (402, 403)
    assert reader.get(URL).status_code == 402


def test_the_plan_comes_before_the_body(app):
    assert Brand.create(app, plan="Free").post(URL, b"nonsense").status_code == 402


@pytest.mark.parametrize(
    ("plan", "status", "trialing"),
    [("Free", "Active", False), ("Pro", "Canceled", False), ("Free", "Trialing", True)],
)
@pytest.mark.parametrize("path", [URL, "/api/v1/affiliates", "/api/v1/conversions"])
def test_a_plan_that_does_not_suffice_is_told_in_five_keys(app, path, plan, status, trialing):
    answer = Brand.create(app, plan=plan, status=status).get(path)

    assert (answer.status_code, answer.content_type) == (402, "application/json")
    assert answer.json == {
        "error": "plan_tier_required",
        "message": answer.json["message"],
        "required": "Starter",
        "current": "Free",
        "trialing": trialing,
    }
    assert "Starter" in answer.json["message"]


def test_a_trial_that_is_over_is_told_so_in_five_keys(app):
    brand = Brand.create(app, plan="Pro", status="Trialing")
    brand.set(trialEndsAt=(datetime.now(UTC) - timedelta(seconds=1)).isoformat())

    answer = brand.post("/api/v1/webhooks", {"url": "https://localhost/x", "events": ["*"]})

    assert answer.status_code == 402
    assert sorted(answer.json) == ["current", "error", "message", "required", "trialing"]
    assert (answer.json["current"], answer.json["trialing"]) == ("Free", False)

"""The guides of /docs, and the manifest with the same texts. Source: core spec, section 9."""

import hashlib
import hmac
import html
import re

import pytest

import settings
from api.description import guide
from domain.webhooks import signing
from tests.support.settings_overrides import override_settings


def test_signature_vectors_match_a_plain_hmac(app):
    for address, vector, tag in (
        ("/docs/signed-sales", guide.inbound_vector(), "sig"),
        ("/docs/receiving-webhooks", guide.outbound_vector(), "v1"),
    ):
        page = html.unescape(app.test_client().get(address).text)
        digest = hmac.new(vector.secret.encode(), f"{vector.t}.{vector.body}".encode(), hashlib.sha256).hexdigest()

        assert vector.header == f"t={vector.t},{tag}={digest}"
        for value in (vector.secret, str(vector.t), vector.body, vector.header):
            assert f"<code>{value}</code>" in page


def test_signed_example_is_valid_within_the_tolerance():
    vector = guide.inbound_vector()
    signed_request = {"header": vector.header, "secret": vector.secret.encode(), "body": vector.body.encode()}

    assert signing.verify_inbound(**signed_request, now_s=vector.t + 300)
    assert not signing.verify_inbound(**signed_request, now_s=vector.t + 301)


def test_chapters_quote_numbers_from_the_settings(app, monkeypatch):
    limits = settings.current().web.limits_per_min | {"s2s": 4321}
    webhooks = {"attempts_at_s": (0, 45, 600), "timeout_s": 7}
    override_settings(monkeypatch, webhooks=webhooks, web={"limits_per_min": limits})

    with app.test_request_context():
        chapters = guide.render_chapters([])

    assert "3 attempts in all, due at once, 45 s and 10 min after the event" in chapters["receiving-webhooks"]
    assert "within 7 seconds" in chapters["receiving-webhooks"]
    assert "| `s2s` | 4,321 |" in chapters["rate-limits"]
    assert f"by up to {signing.TOLERANCE_S} seconds" in chapters["signed-sales"]


def test_limits_table_quotes_sizes_from_the_guards(app):
    text = app.test_client().get("/llms/api.txt").text

    assert re.search(r"`/api/tracking/refund`, `/api/v1/tracking/refund`[^|]* \| 4 KiB \|", text)
    assert "`/api/v1/affiliates/import`" in text
    assert "| 4 MiB |" in text
    assert "| all others | 64 KiB |" in text


def test_manifest_covers_the_integration_basics(app):
    text = app.test_client().get("/llms/api.txt").text

    for word in (
        "X-Service-Signature",
        "X-Service-Delivery-Id",
        "The order is not guaranteed",
        "ff_test_",
        "Retry-After",
        "Idempotency-Replayed",
        "nextCursor",
    ):
        assert word in text


@pytest.mark.parametrize("name", guide.CHAPTERS)
def test_guide_is_in_the_manifest_and_on_its_page(app, name):
    client, (heading, _) = app.test_client(), guide.CHAPTERS[name]
    page = client.get(f"/docs/{name}").text

    assert f"<h1>{heading}</h1>" in page
    assert f"## {heading}\n" in client.get("/llms/api.txt").text
    assert re.findall(r"<(?:p|td|li)>[^<]*`", page) == []
    assert "{{" not in page

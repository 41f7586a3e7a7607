"""The page for a frame in a brand's site, and its script, without a browser (see tests/browser/test_embed.py)."""

import re
from uuid import uuid4

import pytest

from domain.conversions.earnings import EarningState
from domain.payouts.states import PayoutStatus
from domain.statuses import ConversionType
from tests.support.api.embed_tokens import TOKENS, issue_token


@pytest.fixture
def embed_token(brand):
    """The token of an affiliate of the brand."""
    brand.program(name="Secret campaign")
    return issue_token(
        brand,
        brand.affiliate("ben", full_name="Ben Osei"),
        allowedOrigins=["https://app.acme.example", "http://localhost:3000"],
    )


def _open_embed(app, embed_token, query=""):
    return app.test_client().get(f"/embed/{embed_token['id']}{query}")


def _policy(answer):
    return dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))


def test_only_origins_of_the_token_may_frame_the_embed(app, embed_token):
    answer = _open_embed(app, embed_token)
    policy = _policy(answer)
    nonces = set(re.findall(r'nonce="([^"]+)"', answer.text))

    assert answer.status_code == 200
    assert policy == {
        "default-src": "'none'",
        "script-src": f"'nonce-{next(iter(nonces))}'",
        "style-src": f"'nonce-{next(iter(nonces))}'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "form-action": "'none'",
        "base-uri": "'none'",
        "frame-ancestors": "https://app.acme.example http://localhost:3000",
    }
    assert len(nonces) == 1
    assert "X-Frame-Options" not in answer.headers
    assert (answer.headers["Cache-Control"], answer.headers["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert "Set-Cookie" not in answer.headers
    assert nonces != set(re.findall(r'nonce="([^"]+)"', _open_embed(app, embed_token).text))
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text)
    assert [app.test_client().get(path).status_code for path in files] == [200, 200]


def test_embed_page_contains_no_personal_data(app, embed_token):
    text = _open_embed(app, embed_token).text

    for personal_text in (
        "Secret campaign",
        "Brand",
        "Ben Osei",
        "ben@example.com",
        embed_token["token"],
        embed_token["affiliateId"],
    ):
        assert personal_text not in text


def test_token_in_the_query_is_refused(app, embed_token):
    for query in (f"?token={embed_token['token']}", "?token=", "?x=1&token=1"):
        answer = _open_embed(app, embed_token, query)

        assert (answer.status_code, _policy(answer)["frame-ancestors"]) == (400, "'none'")
        assert embed_token["token"] not in answer.text


@pytest.mark.parametrize("cause", ["revoked", "expired", "paused", "deleted"])
def test_expired_embed_looks_like_an_unknown_one(app, brand, flask, embed_token, cause):
    if cause == "revoked":
        brand.call("DELETE", f"{TOKENS}/{embed_token['id']}")
    elif cause == "expired":
        flask("embed", "expire", embed_token["id"])
    else:
        change = "status = 'Paused'" if cause == "paused" else "deleted_at = now()"
        brand.rows(f"update affiliate set {change} where id = %s returning id", embed_token["affiliateId"])

    expired, unknown = _open_embed(app, embed_token), _open_embed(app, {"id": uuid4()})
    assert (expired.status_code, expired.data) == (404, unknown.data)
    assert _policy(expired)["frame-ancestors"] == _policy(unknown)["frame-ancestors"] == "'none'"


def test_invalid_id_returns_404(app):
    for text in ("x", "1", "%00", "é", "a" * 5000, "null"):
        assert app.test_client().get(f"/embed/{text}").status_code == 404, text


def test_script_is_cacheable_by_every_site_for_an_hour(app):
    answer = app.test_client().get("/embed.js", headers={"Origin": "https://app.acme.example"})
    again = app.test_client().get("/embed.js", headers={"If-None-Match": answer.headers["ETag"]})

    assert answer.content_type == "text/javascript; charset=utf-8"
    assert "max-age=3600" in answer.headers["Cache-Control"]
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert len(answer.data) < 3500
    assert again.status_code == 304


def test_every_status_and_kind_has_a_text(app, embed_token):
    text = _open_embed(app, embed_token).text
    for name in (*EarningState, *PayoutStatus, *ConversionType):
        assert f"&#34;{name}&#34;:" in text, name

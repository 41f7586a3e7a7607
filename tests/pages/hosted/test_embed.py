"""The page that a brand's site frames and its script, without a browser; tests/browser/test_embed.py has one."""

import re
from uuid import uuid4

import pytest

from domain.conversions.earnings import EarningState
from domain.payouts.states import PayoutStatus
from domain.statuses import ConversionType
from tests.support.api.embed_tokens import TOKENS, issue_token


@pytest.fixture
def made(brand):
    """The token of an affiliate of the brand."""
    brand.program(name="Secret campaign")
    return issue_token(
        brand,
        brand.affiliate("ben", full_name="Ben Osei"),
        allowedOrigins=["https://app.acme.example", "http://localhost:3000"],
    )


def _page(app, made, more=""):
    return app.test_client().get(f"/embed/{made['id']}{more}")


def _policy(answer):
    return dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))


def test_the_page_may_be_framed_by_the_sites_of_its_token_and_loads_nothing_else(app, made):
    answer = _page(app, made)
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
    assert nonces != set(re.findall(r'nonce="([^"]+)"', _page(app, made).text))
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text)
    assert [app.test_client().get(path).status_code for path in files] == [200, 200]


def test_the_page_says_nothing_of_the_affiliate_the_brand_or_the_token(app, made):
    text = _page(app, made).text

    for said in ("Secret campaign", "Brand", "Ben Osei", "ben@example.com", made["token"], made["affiliateId"]):
        assert said not in text


def test_a_token_behind_the_question_mark_is_refused(app, made):
    for query in (f"?token={made['token']}", "?token=", "?x=1&token=1"):
        answer = _page(app, made, query)

        assert (answer.status_code, _policy(answer)["frame-ancestors"]) == (400, "'none'")
        assert made["token"] not in answer.text


@pytest.mark.parametrize("ended", ["revoked", "expired", "paused", "deleted"])
def test_when_it_is_over_the_page_is_gone_like_one_that_never_was(app, brand, flask, made, ended):
    if ended == "revoked":
        brand.call("DELETE", f"{TOKENS}/{made['id']}")
    elif ended == "expired":
        flask("embed", "expire", made["id"])
    else:
        change = "status = 'Paused'" if ended == "paused" else "deleted_at = now()"
        brand.rows(f"update affiliate set {change} where id = %s returning id", made["affiliateId"])

    gone, never = _page(app, made), _page(app, {"id": uuid4()})
    assert (gone.status_code, gone.data) == (404, never.data)
    assert _policy(gone)["frame-ancestors"] == _policy(never)["frame-ancestors"] == "'none'"


def test_an_id_that_is_none_is_not_there(app):
    for text in ("x", "1", "%00", "é", "a" * 5000, "null"):
        assert app.test_client().get(f"/embed/{text}").status_code == 404, text


def test_the_script_is_open_to_every_site_and_kept_for_an_hour(app):
    answer = app.test_client().get("/embed.js", headers={"Origin": "https://app.acme.example"})
    again = app.test_client().get("/embed.js", headers={"If-None-Match": answer.headers["ETag"]})

    assert answer.content_type == "text/javascript; charset=utf-8"
    assert "max-age=3600" in answer.headers["Cache-Control"]
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert len(answer.data) < 3500
    assert again.status_code == 304


def test_every_state_and_kind_has_words(app, made):
    text = _page(app, made).text
    for name in (*EarningState, *PayoutStatus, *ConversionType):
        assert f"&#34;{name}&#34;:" in text, name

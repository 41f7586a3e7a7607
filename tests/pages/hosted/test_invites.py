"""The page of an invite, through HTTP. Source: core spec, "Affiliate invites"."""

import re

import pytest

from models import db
from tests.support.api.invite_requests import (
    expire_invite,
    invite,
    list_invites,
    token_from_invite,
    unique_email,
    unique_slug,
)


@pytest.fixture
def campaign(brand):
    """The brand with one campaign."""
    brand.program(name="Spring", description="Tea & more")
    return brand


def _open(brand, token):
    return brand.app.test_client().get(f"/invites/{token}")


def _press(brand, token, **request):
    return brand.app.test_client().post(f"/invites/{token}", **request)


def test_invite_page_names_brand_and_program_with_one_button(campaign):
    email = unique_email()
    token = token_from_invite(
        invite(campaign, email=email, personalNoteHtml="<p>Dear {{affiliate.firstName}}</p>", fullName="Ada")
    )

    answer = _open(campaign, token)

    page = answer.get_data(as_text=True)
    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    for text in ("Brand invites you", "Spring", "20 %", "Tea &amp; more", "<p>Dear Ada</p>", email):
        assert text in page
    assert re.findall(r"<form.*?</form>", page) == [
        '<form method="post"><button type="submit">Accept invitation</button></form>'
    ]


def test_link_in_the_api_answer_opens_the_page(campaign):
    path = invite(campaign).json["acceptUrl"].removeprefix("http://127.0.0.1:8000")

    assert campaign.app.test_client().get(path).status_code == 200


def test_button_accepts_the_invite_without_scripts(campaign):
    slug = unique_slug()
    token = token_from_invite(invite(campaign, slug=slug))

    answer = _press(campaign, token, data={})
    later = _open(campaign, token)

    for page in (answer, later, _press(campaign, token)):
        assert page.status_code == 200
        assert "You are approved" in page.get_data(as_text=True)
        assert slug in page.get_data(as_text=True)
        assert "<form" not in page.get_data(as_text=True)
    assert list_invites(campaign, "state") == [("Accepted",)]
    assert campaign.rows("select count(*) from affiliate") == [(1,)]


def test_accepted_invite_shows_the_full_referral_link(campaign):
    slug = unique_slug()
    token = token_from_invite(invite(campaign, slug=slug))

    pages = [_press(campaign, token).text, _open(campaign, token).text]

    for page in pages:
        (link,) = re.findall(r"<code>([^<]+)</code>", page)
        assert link == f"http://127.0.0.1:8000/r/{slug}"
        assert "code{user-select:all" in page  # one click selects it
    (listed,) = campaign.get("/api/v1/affiliates").json["items"][0]["links"]
    assert listed["url"] == link


def test_deleted_link_is_not_shown(campaign):
    slug = unique_slug()
    token = token_from_invite(invite(campaign, slug=slug))
    _press(campaign, token)
    with db.any_org_work():
        db.db.run("update tracking_link set deleted_at = now() where slug = %s", (slug,))

    page = _open(campaign, token).text

    assert slug in page
    assert "/r/" not in page


def test_invite_with_manual_approval_shows_that_the_brand_decides(campaign):
    page = _press(campaign, token_from_invite(invite(campaign, autoApprove=False))).get_data(as_text=True)

    assert "You are approved" not in page
    assert "reviews your application" in page
    assert "Clicks and sales count once the brand has approved you." in page


def test_accepted_invite_leads_to_the_sign_in_of_affiliates(campaign):
    token = token_from_invite(invite(campaign))

    page = _press(campaign, token).text

    assert '<a href="http://127.0.0.1:8000/sign-in">Sign in</a>' in page
    assert campaign.app.test_client().get("/sign-in").status_code == 200


def test_changed_slug_of_an_accepted_invite_is_explained(campaign):
    slug = unique_slug()
    token = token_from_invite(invite(campaign, slug=slug))
    campaign.affiliate(slug)

    page = _press(campaign, token).get_data(as_text=True)

    assert "You are approved" in page
    assert "is already taken" in page
    assert slug not in page


def test_invite_page_loads_nothing_and_stores_nothing(campaign):
    token = token_from_invite(invite(campaign, personalNoteHtml='<a href="https://x.test">x</a>'))

    for answer in (_open(campaign, token), _open(campaign, "unknown"), _press(campaign, token)):
        page = answer.get_data(as_text=True)
        policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
        assert policy == {
            "default-src": "'none'",
            "style-src": "'unsafe-inline'",
            "form-action": "'self'",
            "base-uri": "'none'",
            "frame-ancestors": "'none'",
        }
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Robots-Tag"] == "noindex"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert '<meta name="robots" content="noindex">' in page
        assert not re.search(r"<script|<link|<img|src=|@import|url\(", page)
        assert token not in page


def test_name_of_the_brand_is_escaped(campaign):
    hostile_name = "</title><script>alert(1)</script>\"'&"
    campaign.rows("update organization set name = %s where id = %s returning id", hostile_name, campaign.id)
    campaign.rows("update program set name = %s, description = %s returning id", hostile_name, hostile_name)
    token = token_from_invite(
        invite(campaign, fullName=hostile_name, personalNoteHtml=f"{{{{brand.name}}}}{hostile_name}")
    )

    page = _open(campaign, token).get_data(as_text=True)

    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 4


@pytest.mark.parametrize("call", [_open, _press])
def test_invalid_link_shows_a_page(campaign, call):
    expired, revoked = invite(campaign), invite(campaign)
    expire_invite(campaign, expired.json["invite"]["id"])
    campaign.rows(
        "update affiliate_invite set state = 'Revoked' where id = %s returning id", revoked.json["invite"]["id"]
    )

    answers = [call(campaign, token) for token in ("unknown", token_from_invite(expired), token_from_invite(revoked))]

    assert [answer.status_code for answer in answers] == [404, 410, 410]
    for answer in answers:
        assert answer.content_type == "text/html; charset=utf-8"
        assert "be opened" in answer.get_data(as_text=True)
        assert "Spring" not in answer.get_data(as_text=True)
    assert campaign.rows("select count(*) from affiliate") == [(0,)]


def test_closed_program_shows_a_refusal_on_the_page(campaign):
    token = token_from_invite(invite(campaign))
    campaign.rows("update program set is_active = false returning id")

    answer = _press(campaign, token)

    assert (answer.status_code, answer.content_type) == (409, "text/html; charset=utf-8")
    assert "not active" in answer.get_data(as_text=True)

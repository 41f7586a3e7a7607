"""Who is approved is told by mail where to sign in; the letter itself signs nobody in."""

import pytest

from models import db
from pipelines import mail

URL = "/api/v1/affiliates"


@pytest.fixture
def campaign(brand):
    brand.program()
    return brand


def _applicant(brand, slug="ben", **columns):
    return brand.affiliate(slug, **({"status": "Pending", "approved_at": None} | columns))


def _letters(brand):
    ids = brand.rows("select id from mail_message where kind = 'affiliate.approved'")
    with db.any_org_work():
        return {found.message.recipient: found.text for found in (mail.any_org_open(one) for (one,) in ids)}


def test_an_approval_is_told_once_and_carries_no_token(campaign):
    affiliate_id = _applicant(campaign)
    for _ in range(2):
        assert campaign.post(f"{URL}/{affiliate_id}/approve").status_code == 200

    (text,) = _letters(campaign).values()
    assert "Brand has approved you" in text
    assert text.rstrip().endswith("http://127.0.0.1:8000/sign-in")
    assert campaign.rows("select count(*) from mail_message") == [(1,)]


def test_each_of_many_is_told(campaign):
    ids = [str(_applicant(campaign, slug)) for slug in ("ann", "ben")]
    paused = str(_applicant(campaign, "cy", status="Paused"))
    campaign.post(f"{URL}/bulk-action", {"affiliateIds": [*ids, paused], "action": "approve"})

    assert set(_letters(campaign)) == {"ann@example.com", "ben@example.com"}


def test_who_was_approved_before_is_not_told_again(campaign):
    affiliate_id = campaign.affiliate("ben")
    for status in ("Paused", "Approved"):
        assert campaign.call("PATCH", f"{URL}/{affiliate_id}", {"status": status}).status_code == 200

    assert _letters(campaign) == {}


def test_who_is_turned_down_is_not_told(campaign):
    campaign.post(f"{URL}/{_applicant(campaign)}/reject", {"reason": "no website"})

    assert _letters(campaign) == {}


def test_a_name_of_two_lines_is_one_in_the_subject(campaign):
    campaign.rows("update organization set name = E'Two\\nlines' where id = %s returning 1", campaign.id)
    campaign.post(f"{URL}/{_applicant(campaign)}/approve")

    assert campaign.rows("select subject from mail_message") == [("Two lines has approved you",)]

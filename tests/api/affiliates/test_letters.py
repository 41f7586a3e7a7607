"""Emails about an application: approved, by the brand or by itself, with where to sign in; or turned down, once."""

import pytest

from models import db
from pipelines import mail
from tests.support.api.agents import Agent
from tests.support.api.applications import apply
from tests.support.api.concurrency import run_concurrently

URL = "/api/v1/affiliates"


@pytest.fixture
def campaign(brand):
    brand.program()
    return brand


def _applicant(brand, slug="ben", **columns):
    return brand.affiliate(slug, **({"status": "Pending", "approved_at": None} | columns))


def _letters(brand, kind="affiliate.approved"):
    ids = brand.rows("select id from mail_message where kind = %s", kind)
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


def _rejections(brand):
    return brand.rows("select recipient, subject from mail_message where kind = 'affiliate.rejected'")


def _reject_by_api(brand, affiliate_id):
    return brand.post(f"{URL}/{affiliate_id}/reject", {"reason": "no website"}).json


def _reject_by_patch(brand, affiliate_id):
    return brand.call("PATCH", f"{URL}/{affiliate_id}", {"status": "Rejected"}).json


def _reject_by_tool(brand, affiliate_id):
    return Agent(brand).call("reject_affiliate", affiliateId=affiliate_id, reason="no website")


def _update_by_tool(brand, affiliate_id):
    return Agent(brand, "?confirm=off").call("update_affiliate", affiliateId=affiliate_id, status="Rejected")


@pytest.mark.parametrize("reject", [_reject_by_api, _reject_by_patch, _reject_by_tool, _update_by_tool])
def test_rejection_is_emailed_through_every_door_without_the_reason(campaign, reject):
    affiliate_id = str(_applicant(campaign))

    assert reject(campaign, affiliate_id)["status"] == "Rejected"

    assert _rejections(campaign) == [("ben@example.com", "Your application to Brand")]
    (text,) = _letters(campaign, "affiliate.rejected").values()
    assert "Brand has looked at your application" in text
    assert "website" not in text
    assert _letters(campaign) == {}


def test_applicant_is_emailed_about_a_rejection_once(campaign):
    affiliate_id = _applicant(campaign)
    campaign.post(f"{URL}/{affiliate_id}/reject")
    for status in ("Pending", "Rejected", "Pending"):
        assert campaign.call("PATCH", f"{URL}/{affiliate_id}", {"status": status}).status_code == 200
    assert campaign.post(f"{URL}/{affiliate_id}/reject").status_code == 200

    assert len(_rejections(campaign)) == 1


def test_two_rejections_at_once_send_one_email(campaign):
    affiliate_id = _applicant(campaign)

    answers = run_concurrently(*[lambda: campaign.post(f"{URL}/{affiliate_id}/reject") for _ in range(4)])

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert len(_rejections(campaign)) == 1


@pytest.mark.parametrize("before", ["Approved", "Paused", "Banned"])
def test_affiliate_who_was_approved_gets_no_rejection_email(campaign, before):
    affiliate_id = campaign.affiliate("ben", status=before)
    for status in ("Rejected", "Pending", "Rejected"):
        assert campaign.call("PATCH", f"{URL}/{affiliate_id}", {"status": status}).status_code == 200

    assert _rejections(campaign) == []


def test_rejected_applicant_who_is_approved_later_is_emailed_about_both(campaign):
    affiliate_id = _applicant(campaign)
    campaign.post(f"{URL}/{affiliate_id}/reject")
    campaign.post(f"{URL}/{affiliate_id}/approve")

    assert campaign.rows("select kind from mail_message order by created_at, id") == [
        ("affiliate.rejected",),
        ("affiliate.approved",),
    ]


def test_auto_approved_applicant_is_emailed_once(brand):
    brand.program(auto_approve=True)
    for _ in range(2):
        assert apply(brand, email="ada@example.com").status_code == 200

    (text,) = _letters(brand).values()
    assert "Brand has approved you" in text
    assert text.rstrip().endswith("http://127.0.0.1:8000/sign-in")
    assert brand.rows("select recipient from mail_message") == [("ada@example.com",)]

    affiliate_id = str(brand.rows("select id from affiliate")[0][0])
    for status in ("Paused", "Approved"):
        assert brand.call("PATCH", f"{URL}/{affiliate_id}", {"status": status}).status_code == 200
    assert len(_letters(brand)) == 1


def test_applications_at_once_to_an_auto_approving_campaign_send_one_email(brand):
    brand.program(auto_approve=True)

    run_concurrently(*[lambda: apply(brand, email="ada@example.com") for _ in range(4)])

    assert brand.rows("select recipient from mail_message") == [("ada@example.com",)]


def test_waiting_applicant_is_not_emailed_before_a_decision(campaign):
    assert apply(campaign, email="ada@example.com").status_code == 200

    assert campaign.rows("select 1 from mail_message") == []


def test_import_in_any_status_sends_no_email_of_its_own(campaign):
    statuses = ("approved", "pending", "rejected", "paused", "banned")
    rows = [{"email": f"{status}@example.com", "status": status} for status in statuses]
    body = {"programId": str(campaign.programs[-1]), "affiliates": rows}

    answer = campaign.post(f"{URL}/import", body)

    assert answer.json["imported"] == len(statuses)
    assert campaign.rows("select 1 from mail_message") == []


@pytest.mark.parametrize("status", ["Approved", "Rejected"])
def test_affiliate_whom_the_brand_creates_is_not_emailed(campaign, status):
    body = {"programId": str(campaign.programs[-1]), "email": "ada@example.com", "status": status}

    assert campaign.post(URL, body).status_code == 201

    assert campaign.rows("select 1 from mail_message") == []


def test_a_name_of_two_lines_is_one_in_the_subject(campaign):
    campaign.rows("update organization set name = E'Two\\nlines' where id = %s returning 1", campaign.id)
    campaign.post(f"{URL}/{_applicant(campaign)}/approve")

    assert campaign.rows("select subject from mail_message") == [("Two lines has approved you",)]


def test_name_of_two_lines_is_one_in_the_subject_of_a_rejection(campaign):
    campaign.rows("update organization set name = E'Two\nlines' where id = %s returning 1", campaign.id)
    campaign.post(f"{URL}/{_applicant(campaign)}/reject")

    assert _rejections(campaign) == [("ben@example.com", "Your application to Two lines")]

"""Emails about an application: its approval by the brand or automatically, and its rejection."""

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


def _create_applicant(brand, slug="ben", **columns):
    return brand.affiliate(slug, **({"status": "Pending", "approved_at": None} | columns))


def _read_texts_by_recipient(brand, kind="affiliate.approved"):
    ids = brand.rows("select id from mail_message where kind = %s", kind)
    with db.any_org_work():
        return {opened.message.recipient: opened.text for opened in (mail.any_org_open(id) for (id,) in ids)}


def test_approval_is_emailed_once_without_a_token(campaign):
    affiliate_id = _create_applicant(campaign)
    for _ in range(2):
        assert campaign.post(f"{URL}/{affiliate_id}/approve").status_code == 200

    (text,) = _read_texts_by_recipient(campaign).values()
    assert "Brand approved you" in text
    assert "\nhttp://127.0.0.1:8000/sign-in\n" in text
    assert campaign.rows("select count(*) from mail_message") == [(1,)]


def test_bulk_approval_emails_each_affiliate(campaign):
    ids = [str(_create_applicant(campaign, slug)) for slug in ("ann", "ben")]
    paused = str(_create_applicant(campaign, "cy", status="Paused"))
    campaign.post(f"{URL}/bulk-action", {"affiliateIds": [*ids, paused], "action": "approve"})

    assert set(_read_texts_by_recipient(campaign)) == {"ann@example.com", "ben@example.com"}


def test_previously_approved_affiliate_is_not_emailed_again(campaign):
    affiliate_id = campaign.affiliate("ben")
    for status in ("Paused", "Approved"):
        assert campaign.call("PATCH", f"{URL}/{affiliate_id}", {"status": status}).status_code == 200

    assert _read_texts_by_recipient(campaign) == {}


def _list_rejections(brand):
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
def test_rejection_by_any_route_is_emailed_without_the_reason(campaign, reject):
    affiliate_id = str(_create_applicant(campaign))

    assert reject(campaign, affiliate_id)["status"] == "Rejected"

    assert _list_rejections(campaign) == [("ben@example.com", "Brand did not approve your application")]
    (text,) = _read_texts_by_recipient(campaign, "affiliate.rejected").values()
    assert "Brand did not approve your application" in text
    assert "website" not in text
    assert _read_texts_by_recipient(campaign) == {}


def test_rejection_is_emailed_once(campaign):
    affiliate_id = _create_applicant(campaign)
    campaign.post(f"{URL}/{affiliate_id}/reject")
    for status in ("Pending", "Rejected", "Pending"):
        assert campaign.call("PATCH", f"{URL}/{affiliate_id}", {"status": status}).status_code == 200
    assert campaign.post(f"{URL}/{affiliate_id}/reject").status_code == 200

    assert len(_list_rejections(campaign)) == 1


def test_concurrent_rejections_send_one_email(campaign):
    affiliate_id = _create_applicant(campaign)

    answers = run_concurrently(*[lambda: campaign.post(f"{URL}/{affiliate_id}/reject") for _ in range(4)])

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert len(_list_rejections(campaign)) == 1


@pytest.mark.parametrize("status_before", ["Approved", "Paused", "Banned"])
def test_previously_approved_affiliate_gets_no_rejection_email(campaign, status_before):
    affiliate_id = campaign.affiliate("ben", status=status_before)
    for status in ("Rejected", "Pending", "Rejected"):
        assert campaign.call("PATCH", f"{URL}/{affiliate_id}", {"status": status}).status_code == 200

    assert _list_rejections(campaign) == []


def test_approval_after_rejection_sends_both_emails(campaign):
    affiliate_id = _create_applicant(campaign)
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

    (text,) = _read_texts_by_recipient(brand).values()
    assert "Brand approved you" in text
    assert "\nhttp://127.0.0.1:8000/sign-in\n" in text
    assert brand.rows("select recipient from mail_message") == [("ada@example.com",)]

    affiliate_id = str(brand.rows("select id from affiliate")[0][0])
    for status in ("Paused", "Approved"):
        assert brand.call("PATCH", f"{URL}/{affiliate_id}", {"status": status}).status_code == 200
    assert len(_read_texts_by_recipient(brand)) == 1


def test_concurrent_auto_approved_applications_send_one_email(brand):
    brand.program(auto_approve=True)

    run_concurrently(*[lambda: apply(brand, email="ada@example.com") for _ in range(4)])

    assert brand.rows("select recipient from mail_message") == [("ada@example.com",)]


def test_pending_applicant_is_not_emailed(campaign):
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
def test_brand_created_affiliate_is_not_emailed(campaign, status):
    body = {"programId": str(campaign.programs[-1]), "email": "ada@example.com", "status": status}

    assert campaign.post(URL, body).status_code == 201

    assert campaign.rows("select 1 from mail_message") == []


def test_newline_in_campaign_name_is_removed_from_approval_subject(campaign):
    campaign.rows("update organization set name = E'Two\\nlines' where id = %s returning 1", campaign.id)
    campaign.post(f"{URL}/{_create_applicant(campaign)}/approve")

    assert campaign.rows("select subject from mail_message") == [("Two lines approved you as an affiliate",)]


def test_newline_in_campaign_name_is_removed_from_rejection_subject(campaign):
    campaign.rows("update organization set name = E'Two\nlines' where id = %s returning 1", campaign.id)
    campaign.post(f"{URL}/{_create_applicant(campaign)}/reject")

    assert _list_rejections(campaign) == [("ben@example.com", "Two lines did not approve your application")]

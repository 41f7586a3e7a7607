"""People of a brand are notified of applications: one notification and one email per hour."""

import pytest

from domain import jobs
from models import db
from pipelines import work
from tests.journeys.notifications.feed import end_digests, list_emails, list_notifications, list_titles
from tests.support.api.applications import apply
from tests.support.api.invite_requests import accept_invite, invite, token_from_invite
from tests.support.databases import run_for_all_tenants


@pytest.fixture
def campaign(brand):
    brand.program()
    return brand


def test_application_is_shown_at_once_and_emailed_within_the_hour(office, campaign, drain):
    manager = campaign.person("Manager")
    apply(campaign, email="rita@example.com", fullName="Rita Moss")
    drain()

    assert list_titles(manager) == ["New application: Rita Moss"]
    assert list_emails(campaign) == []
    end_digests(drain)
    subjects = {(recipient, subject) for _, recipient, subject in list_emails(campaign)}
    assert subjects == {
        ("manager@example.com", "New application: Rita Moss"),
        ("owner@example.com", "New application: Rita Moss"),
    }


def test_500_applications_of_an_hour_are_one_notification_and_one_email_each(office, campaign, drain):
    owner = campaign.person("Owner")
    apply(campaign, email="rita@example.com", fullName="Rita Moss")
    ((rita,),) = campaign.rows("select id from affiliate")
    with db.unit_of_work(campaign.id):
        args = [{"kind": "new_application", "subject_id": rita}] * 499
        work.enqueue_all(jobs.NOTIFICATION_ADD, organization_id=campaign.id, args=args)
    end_digests(drain)

    (item,) = list_notifications(owner)["items"]
    assert (item["title"], item["eventCount"], item["isUnread"]) == ("500 new applications", 500, True)
    assert len(list_emails(campaign)) == 1
    (received,) = office.sink.messages
    assert received.message["Subject"] == "500 new applications"
    assert "and 490 more" in received.text


def test_repeated_application_counts_once(office, campaign, drain):
    for _ in range(2):
        apply(campaign, email="rita@example.com", fullName="Rita Moss")
    drain()

    (item,) = list_notifications(campaign.person("Owner"))["items"]
    assert item["eventCount"] == 1


@pytest.mark.parametrize(
    ("fields", "titles"),
    [
        ({"autoApprove": False}, ["New application: Rita Moss"]),
        ({"autoApprove": True}, []),
    ],
)
def test_accepted_invite_that_waits_for_approval_is_notified(office, campaign, drain, fields, titles):
    token = token_from_invite(invite(campaign, email="rita@example.com", fullName="Rita Moss", **fields))
    for _ in range(2):
        assert accept_invite(campaign, token).status_code == 200
    drain()

    assert list_titles(campaign.person("Owner")) == titles


def test_accepted_test_invite_notifies_no_one(office, campaign, drain):
    tester = campaign.other_key(is_test=True)
    tester.programs.extend(campaign.programs)
    assert accept_invite(campaign, token_from_invite(invite(tester, autoApprove=False))).json["status"] == "Pending"
    drain()

    assert list_notifications(campaign.person("Owner"))["items"] == []


def test_automatically_approved_applicant_notifies_no_one(office, brand, drain):
    brand.program(auto_approve=True)
    apply(brand, email="rita@example.com", fullName="Rita Moss")
    drain()

    assert list_notifications(brand.person("Owner"))["items"] == []


def test_digest_is_not_emailed_once_every_application_is_decided(office, campaign, drain):
    owner = campaign.person("Owner")
    campaign.affiliate("older", status="Pending", approved_at=None)  # of another hour
    apply(campaign, email="rita@example.com", fullName="Rita Moss")
    drain()
    ((affiliate_id,),) = campaign.rows("select id from affiliate where email = 'rita@example.com'")
    assert owner.post(f"/api/v1/affiliates/{affiliate_id}/approve").status_code == 200
    end_digests(drain)

    assert list_emails(campaign) == []
    assert list_titles(owner) == ["New application: Rita Moss"]


def test_application_after_the_digest_opens_another_notification(office, campaign, drain):
    owner = campaign.person("Owner")
    apply(campaign, email="rita@example.com", fullName="Rita Moss")
    end_digests(drain)
    apply(campaign, email="kim@example.com", fullName="Kim Lee")
    end_digests(drain)

    assert list_titles(owner) == ["New application: Kim Lee", "New application: Rita Moss"]
    assert len(list_emails(campaign)) == 2


def test_application_after_a_digest_that_lost_its_email_opens_another_notification(office, campaign, drain):
    owner = campaign.person("Owner")
    apply(campaign, email="rita@example.com", fullName="Rita Moss")
    drain()
    run_for_all_tenants("delete from job where name = 'notification.email'")
    run_for_all_tenants("update notification set first_at = first_at - interval '4 hours'")
    apply(campaign, email="kim@example.com", fullName="Kim Lee")
    end_digests(drain)

    assert list_titles(owner) == ["New application: Kim Lee", "New application: Rita Moss"]
    assert [subject for _, _, subject in list_emails(campaign)] == ["New application: Kim Lee"]

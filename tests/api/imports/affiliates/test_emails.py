"""Emails to imported affiliates. Source: core spec, "Affiliates" (import body)."""

import pytest

from models import db
from pipelines import mail
from tests.support import job_queues
from tests.support.api.import_requests import AFFILIATES, build_person_row, import_people


def _list_emails(brand):
    return brand.rows("select recipient from mail_message where kind = 'affiliate.imported' order by 1")


@pytest.mark.parametrize(
    ("plan", "status", "expects_email"),
    [
        ("Growth", "Active", True),
        ("Pro", "Active", True),
        ("Starter", "Active", False),
        ("Growth", "Trialing", False),
        ("Pro", "PastDue", False),
    ],
)
def test_affiliates_are_emailed_on_active_growth_plans_and_above(campaign, drain, plan, status, expects_email):
    campaign.set(plan=plan, status=status)

    answer = import_people(
        campaign,
        build_person_row("ann"),
        build_person_row("ben", status="banned"),
        {"email": "x"},
        notifyAffiliates=True,
    )

    drain()
    assert (answer.status_code, answer.json["imported"]) == (200, 2)
    assert _list_emails(campaign) == ([("ann@example.com",)] if expects_email else [])


@pytest.mark.parametrize("flag", [{}, {"notifyAffiliates": False}, {"notifyAffiliates": None}])
def test_no_email_is_sent_unless_requested(campaign, drain, flag):
    import_people(campaign, build_person_row("ann"), **flag, notificationMessageHtml="<p>Hello</p>")
    drain()

    assert _list_emails(campaign) == []


def test_long_message_to_many_is_written_in_batches_and_once_to_each(campaign):
    rows = [build_person_row(f"number-{number:03}") for number in range(60)]
    trips = []

    db.db.trip_hooks.append(trips.append)
    import_people(campaign, *rows, notifyAffiliates=True, notificationMessageHtml="é" * 20_000)
    largest_trip_of_request = max(map(len, trips))
    job_queues.drain(deliveries=2)
    db.db.trip_hooks.remove(trips.append)

    assert largest_trip_of_request < 500_000
    assert max(map(len, trips)) < 10_000_000
    assert _list_emails(campaign) == [(row["email"],) for row in rows]


def test_deleted_affiliate_gets_no_email(campaign, drain):
    import_people(campaign, build_person_row("ann"), build_person_row("ben"), notifyAffiliates=True)
    (deleted_id,) = [
        item["id"] for item in campaign.get(AFFILIATES).json["items"] if item["email"] == "ben@example.com"
    ]
    campaign.post(f"{AFFILIATES}/bulk-action", {"affiliateIds": [deleted_id], "action": "delete"})
    drain()

    assert _list_emails(campaign) == [("ann@example.com",)]


def test_message_of_the_brand_is_sanitized(campaign, drain):
    import_people(
        campaign,
        build_person_row("ann"),
        notifyAffiliates=True,
        notificationMessageHtml='<p onclick="x()">Hi <b>all</b> &amp; you</p><script>x()</script>'
        '<a href="javascript:x()">y</a>',
    )
    drain()
    ((message_id,),) = campaign.rows("select id from mail_message")
    with db.any_org_work():
        opened = mail.any_org_open(message_id)

    assert "<body>\n<p>Hi <b>all</b> &amp; you</p><a>y</a><p>Brand moved the affiliate program" in opened.html
    assert "script" not in opened.html
    assert "onclick" not in opened.html
    assert opened.text.startswith("Hi all & you")

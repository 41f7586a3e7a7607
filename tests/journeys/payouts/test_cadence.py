"""Recurring payouts: drafts for an Owner, or automatic confirmation where an Owner enabled it.

Source: core spec, "Organization profile" (automatic payouts) and "Payouts" (gates).
"""

import json
from datetime import timedelta

import pytest

from adapters import clock
from adapters.secret_key import sealing
from domain import jobs
from domain.payouts import cadence
from models import db
from pipelines import work
from pipelines.payouts import propose
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.payroll import Payroll

URL = "/api/v1/payouts/drafts"
PROFILE = "/api/organizations/me"


@pytest.fixture
def payroll(app):
    """A brand that may pay, owes ann 20.00 USD, and has chosen a weekly cadence."""
    new_payroll = Payroll.create(app)
    new_payroll.affiliate("ann")
    new_payroll.sell("ann", 10_000)
    change_profile(new_payroll, automaticPayoutCadence="Weekly")
    return new_payroll


def change_profile(payroll, **changes):
    answer = payroll.brand.person("Owner").call("PATCH", PROFILE, changes)
    assert answer.status_code == 200, answer.get_data(as_text=True)


def run_daily_check(payroll, drain, *, days):
    """Run the daily check `days` from now; return the number of enqueued drafts."""
    now = clock.now() + timedelta(days=days)
    with db.any_org_work():
        propose.any_org_enqueue_due(now=now)
        enqueued = db.db.run(
            "delete from job where name = 'payout.prepare' and organization_id = %s returning id", (payroll.brand.id,)
        )
        db.db.stage("delete from job where name = 'payout.prepare'")
    for _ in enqueued:
        create_draft(payroll, now)
    drain("payouts", "mail")
    return len(enqueued)


def create_draft(payroll, now):
    with db.any_org_work():
        propose.propose(organization_id=payroll.brand.id, now=now)


def list_drafts(payroll):
    return payroll.brand.person("Owner").get(URL).json


def list_emails(payroll):
    """Return (kind, recipient, text) of the emails to the Owners about payouts, oldest first."""
    rows = payroll.brand.rows(
        "select kind, id, recipient, body_sealed from mail_message where kind like '%%payout%%' order by created_at, id"
    )
    return [
        (kind, recipient, json.loads(sealing.unseal(bytes(sealed), belongs_to=str(number)))["text"])
        for kind, number, recipient, sealed in rows
    ]


def test_no_draft_is_prepared_before_a_full_period(payroll, drain):
    assert run_daily_check(payroll, drain, days=6) == 0
    assert list_drafts(payroll) == []


def test_cadence_prepares_a_draft_and_pays_nothing(payroll, drain):
    assert run_daily_check(payroll, drain, days=7) == 1

    (draft,) = list_drafts(payroll)
    assert draft["recipientCount"] == 1
    assert draft["totalEligibleCents"] == 2_000
    assert draft["nativeTotalsForRun"] == {"USD": 2_000}
    assert draft["usdEstimateAtRunRateCents"] == 2_000
    assert (draft["refusalCode"], draft["refusalMessage"]) == (None, None)
    assert payroll.payouts() == []
    assert payroll.lines() == []
    assert payroll.brand.get(PROFILE).json["lastAutomaticPayoutAt"] is not None


def test_only_owners_get_the_email(payroll, drain):
    payroll.execute(
        "insert into member (id, organization_id, email, role, created_at)"
        " values (gen_random_uuid(), %s, 'viewer@example.com', 'Viewer', now())",
        payroll.brand.id,
    )

    run_daily_check(payroll, drain, days=7)

    ((kind, recipient, text),) = list_emails(payroll)
    assert (kind, recipient) == ("notification.payout_due", "owner@example.com")
    assert "20.00 USD" in text
    assert "ann" not in text


def test_owner_confirms_a_draft_with_a_run(payroll, drain):
    run_daily_check(payroll, drain, days=7)
    total = list_drafts(payroll)[0]["totalEligibleCents"]

    answer = payroll.brand.person("Owner").post("/api/v1/payouts/run", {"confirmTotalCents": total})
    payroll.pay()

    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert payroll.payouts() == [("Paid", 2_000)]
    assert list_drafts(payroll) == []
    assert payroll.brand.rows("select status, run_id is not null from payout_proposal") == [("Confirmed", True)]


def test_partial_run_leaves_the_draft_open(payroll, drain):
    run_daily_check(payroll, drain, days=7)
    body = {"confirmTotalCents": 2_000, "affiliateIds": [str(payroll.affiliates["ann"])]}

    assert payroll.brand.person("Owner").post("/api/v1/payouts/run", body).status_code == 200

    assert len(list_drafts(payroll)) == 1


def test_dismissed_draft_returns_in_the_next_period(payroll, drain):
    run_daily_check(payroll, drain, days=7)
    address = f"{URL}/{list_drafts(payroll)[0]['id']}"

    assert payroll.brand.person("Manager").call("DELETE", address).status_code == 403
    assert payroll.brand.call("DELETE", address).status_code == 403
    answers = run_concurrently(*[lambda: payroll.brand.person("Admin").call("DELETE", address) for _ in range(2)])

    assert sorted(answer.status_code for answer in answers) == [204, 404]
    assert list_drafts(payroll) == payroll.payouts() == []
    assert run_daily_check(payroll, drain, days=7) == 0
    assert run_daily_check(payroll, drain, days=14) == 1
    assert [draft["totalEligibleCents"] for draft in list_drafts(payroll)] == [2_000]


def test_paid_or_foreign_draft_cannot_be_dismissed(payroll, rival, drain):
    run_daily_check(payroll, drain, days=7)
    address = f"{URL}/{list_drafts(payroll)[0]['id']}"

    assert rival.person("Owner").call("DELETE", address).status_code == 404
    payroll.brand.person("Owner").post("/api/v1/payouts/run", {"confirmTotalCents": 2_000})
    for path in (address, f"{URL}/{'0' * 300}", f"{URL}/%00"):
        assert payroll.brand.person("Owner").call("DELETE", path).status_code == 404
    assert payroll.brand.rows("select status from payout_proposal") == [("Confirmed",)]


def test_new_draft_replaces_the_open_one(payroll, drain):
    run_daily_check(payroll, drain, days=7)
    payroll.sell("ann", 5_000)
    run_daily_check(payroll, drain, days=14)

    assert [draft["totalEligibleCents"] for draft in list_drafts(payroll)] == [3_000]
    assert payroll.brand.rows("select status from payout_proposal order by due_on") == [("Replaced",), ("Open",)]


def test_period_without_due_amounts_sends_no_email(app, drain):
    payroll = Payroll.create(app)
    change_profile(payroll, automaticPayoutCadence="Weekly")

    run_daily_check(payroll, drain, days=7)

    assert payroll.brand.rows("select status from payout_proposal") == [("Empty",)]
    assert (list_drafts(payroll), list_emails(payroll)) == ([], [])


def test_missed_periods_give_one_draft(payroll, drain):
    assert run_daily_check(payroll, drain, days=40) == 1
    assert run_daily_check(payroll, drain, days=40) == 0
    assert run_daily_check(payroll, drain, days=42) == 1
    assert payroll.brand.rows("select count(*) from payout_proposal") == [(2,)]


def test_concurrent_workers_create_one_draft(payroll, drain):
    now = clock.now() + timedelta(days=7)

    run_concurrently(*[lambda: create_draft(payroll, now)] * 5)
    drain("mail")

    assert payroll.brand.rows("select status from payout_proposal") == [("Open",)]
    assert len(list_emails(payroll)) == 1


def test_concurrent_workers_confirm_a_draft_once(payroll):
    change_profile(payroll, automaticPayoutEnabled=True)
    now = clock.now() + timedelta(days=7)

    run_concurrently(*[lambda: create_draft(payroll, now)] * 5)
    payroll.pay()

    assert payroll.payouts() == [("Paid", 2_000)]
    assert payroll.balance("ann") == {"USD": 0}


def test_concurrent_owner_and_cadence_pay_once(payroll):
    change_profile(payroll, automaticPayoutEnabled=True)
    now, owner = clock.now() + timedelta(days=7), payroll.brand.person("Owner")

    run_concurrently(
        lambda: create_draft(payroll, now),
        lambda: owner.post("/api/v1/payouts/run", {"confirmTotalCents": 2_000}).status_code,
    )
    payroll.pay()

    assert payroll.payouts() == [("Paid", 2_000)]
    assert list_drafts(payroll) == []


def test_automatic_confirmation_pays_without_an_owner(payroll, drain):
    change_profile(payroll, automaticPayoutEnabled=True)

    run_daily_check(payroll, drain, days=7)

    assert payroll.payouts() == [("Paid", 2_000)]
    assert payroll.brand.rows("select confirmed_by, confirmed_cents from payout_run") == [(None, 2_000)]
    assert list_drafts(payroll) == []
    ((kind, _, text),) = list_emails(payroll)
    ((run_id,),) = payroll.brand.rows("select id from payout_run")
    assert kind == "payout.confirmed"
    assert text.startswith("1 payout of Brand, 20.00 USD, was confirmed automatically.")
    assert f"/dashboard/payouts/runs/{run_id}" in text
    assert payroll.brand.rows(
        "select actor_type, after->'totalCents' from audit_entry where action = 'payout.run'"
    ) == [("system", 2_000)]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("subscription_status = 'Trialing'", "payouts_require_active_subscription"),
        ("identity_required = true", "identity_required"),
        ("verification_state = 'unverified', fraud_score = 60", "high_risk_unverified"),
        ("verification_state = 'unverified', funding_mode = 'debit'", "unverified_prefund_only"),
        ("funding_frozen = true", "funding_frozen"),
    ],
)
def test_refusal_is_stored_on_the_draft_and_emailed(payroll, drain, sql, code):
    change_profile(payroll, automaticPayoutEnabled=True)
    payroll.execute(f"update organization set {sql} where id = %s", payroll.brand.id)

    run_daily_check(payroll, drain, days=7)

    (draft,) = list_drafts(payroll)
    ((kind, _, text),) = list_emails(payroll)
    assert draft["refusalCode"] == code
    assert kind == "notification.payout_due"
    assert draft["refusalMessage"] in text
    assert (payroll.payouts(), payroll.lines()) == ([], [])


def test_automatic_run_waits_for_its_review(payroll, drain):
    change_profile(payroll, automaticPayoutEnabled=True)
    payroll.execute("update organization set payouts_need_review = true where id = %s", payroll.brand.id)

    run_daily_check(payroll, drain, days=7)

    assert payroll.payouts("status") == [("Pending",)]
    assert "review" in list_emails(payroll)[0][2]


def test_cadence_uses_the_organizations_timezone(payroll):
    since = "select automatic_payout_since from organization"
    change_profile(payroll, automaticPayoutCadence="Manual")
    assert payroll.brand.rows(since) == [(None,)]
    change_profile(payroll, timezone="Pacific/Kiritimati", automaticPayoutCadence="Monthly")
    since_ahead = payroll.brand.rows(since)[0][0]
    change_profile(payroll, automaticPayoutCadence="Manual")
    change_profile(payroll, timezone="Pacific/Honolulu", automaticPayoutCadence="Monthly")

    assert since_ahead - payroll.brand.rows(since)[0][0] == timedelta(days=1)
    assert since_ahead == cadence.local_day("Pacific/Kiritimati", clock.now())


def test_manual_cadence_prepares_nothing(payroll, drain):
    change_profile(payroll, automaticPayoutCadence="Manual")

    assert run_daily_check(payroll, drain, days=400) == 0


def test_only_owners_and_admins_see_drafts(payroll, rival, drain):
    run_daily_check(payroll, drain, days=7)
    brand = payroll.brand

    assert brand.get(URL).status_code == 403
    assert [brand.person(role).get(URL).status_code for role in ("Admin", "Manager", "Viewer")] == [200, 403, 403]
    assert rival.person("Owner").get(URL).json == []


def test_daily_check_runs_as_a_job(payroll, drain):
    payroll.execute("update organization set automatic_payout_since = automatic_payout_since - 7")
    with db.any_org_work():
        work.enqueue(jobs.PAYOUT_CADENCE, organization_id=None)

    drain("payouts")

    assert len(list_drafts(payroll)) == 1


@pytest.fixture
def non_interactive_owner(payroll):
    """An Owner's token without an interactive session."""
    from adapters.identity import tokens

    owner = payroll.brand.person("Owner")
    owner.api_key = tokens.issue_dashboard(
        organization_id=payroll.brand.id,
        role="Owner",
        email="owner@example.com",
        is_email_verified=True,
        ttl_s=600,
        is_interactive=False,
    )
    return owner


@pytest.mark.parametrize("value", [True, False])
def test_automatic_confirmation_requires_an_interactive_session(non_interactive_owner, value):
    answer = non_interactive_owner.call("PATCH", PROFILE, {"name": "Other", "automaticPayoutEnabled": value})

    assert (answer.status_code, answer.json["error"]) == (403, "interactive_session_required")
    assert non_interactive_owner.get(PROFILE).json["name"] == "Brand"


def test_cadence_change_requires_an_interactive_session_if_automatic(payroll, non_interactive_owner):
    assert non_interactive_owner.call("PATCH", PROFILE, {"automaticPayoutCadence": "Monthly"}).status_code == 200
    change_profile(payroll, automaticPayoutEnabled=True)

    answer = non_interactive_owner.call("PATCH", PROFILE, {"automaticPayoutCadence": "Weekly"})

    assert (answer.status_code, answer.json["error"]) == (403, "interactive_session_required")


def test_api_key_cannot_enable_automatic_confirmation(payroll):
    assert payroll.brand.call("PATCH", PROFILE, {"automaticPayoutEnabled": True}).status_code == 403

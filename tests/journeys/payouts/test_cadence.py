"""Payouts that come round by themselves: prepared for an Owner, or confirmed where an Owner said so beforehand.

Source: core spec, "Organization profile" (automatic payouts) and "Payouts" (gates).
"""

import json
from datetime import timedelta

import pytest

from adapters import clock, sealing
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
    found = Payroll.create(app)
    found.affiliate("ann")
    found.sell("ann", 10_000)
    choose(found, automaticPayoutCadence="Weekly")
    return found


def choose(payroll, **changes):
    answer = payroll.brand.person("Owner").call("PATCH", PROFILE, changes)
    assert answer.status_code == 200, answer.get_data(as_text=True)


def after(payroll, drain, *, days):
    """Let the daily look happen so many days from now; returns what it asked for."""
    now = clock.now() + timedelta(days=days)
    with db.any_org_work():
        propose.any_org_enqueue_due(now=now)
        asked = db.db.run(
            "delete from job where name = 'payout.prepare' and organization_id = %s returning id", (payroll.brand.id,)
        )
        db.db.stage("delete from job where name = 'payout.prepare'")
    for _ in asked:
        make(payroll, now)
    drain("payouts")
    return len(asked)


def make(payroll, now):
    with db.any_org_work():
        propose.propose(organization_id=payroll.brand.id, now=now)


def drafts(payroll):
    return payroll.brand.person("Owner").get(URL).json


def mail(payroll):
    """Return kind and text of the messages that the Owners were sent, oldest first."""
    rows = payroll.brand.rows("select kind, id, recipient, body_sealed from mail_message order by created_at, id")
    return [
        (kind, recipient, json.loads(sealing.unseal(bytes(sealed), belongs_to=str(number)))["text"])
        for kind, number, recipient, sealed in rows
    ]


def test_nothing_comes_round_before_a_whole_period(payroll, drain):
    assert after(payroll, drain, days=6) == 0
    assert drafts(payroll) == []


def test_a_cadence_prepares_and_pays_nothing(payroll, drain):
    assert after(payroll, drain, days=7) == 1

    (draft,) = drafts(payroll)
    assert draft["recipientCount"] == 1
    assert draft["totalEligibleCents"] == 2_000
    assert draft["nativeTotalsForRun"] == {"USD": 2_000}
    assert draft["usdEstimateAtRunRateCents"] == 2_000
    assert (draft["refusalCode"], draft["refusalMessage"]) == (None, None)
    assert payroll.payouts() == []
    assert payroll.lines() == []
    assert payroll.brand.get(PROFILE).json["lastAutomaticPayoutAt"] is not None


def test_the_owners_are_told_and_nobody_else(payroll, drain):
    payroll.execute(
        "insert into member (id, organization_id, email, role, created_at)"
        " values (gen_random_uuid(), %s, 'viewer@example.com', 'Viewer', now())",
        payroll.brand.id,
    )

    after(payroll, drain, days=7)

    ((kind, recipient, text),) = mail(payroll)
    assert (kind, recipient) == ("payout.prepared", "owner@example.com")
    assert "20.00 USD" in text
    assert "ann" not in text


def test_the_owner_confirms_with_an_ordinary_run(payroll, drain):
    after(payroll, drain, days=7)
    total = drafts(payroll)[0]["totalEligibleCents"]

    answer = payroll.brand.person("Owner").post("/api/v1/payouts/run", {"confirmTotalCents": total})
    payroll.pay()

    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert payroll.payouts() == [("Paid", 2_000)]
    assert drafts(payroll) == []
    assert payroll.brand.rows("select status, run_id is not null from payout_proposal") == [("Confirmed", True)]


def test_a_run_of_a_part_leaves_the_draft_open(payroll, drain):
    after(payroll, drain, days=7)
    body = {"confirmTotalCents": 2_000, "affiliateIds": [str(payroll.affiliates["ann"])]}

    assert payroll.brand.person("Owner").post("/api/v1/payouts/run", body).status_code == 200

    assert len(drafts(payroll)) == 1


def test_a_draft_that_is_dismissed_is_gone_and_comes_round_again(payroll, drain):
    after(payroll, drain, days=7)
    address = f"{URL}/{drafts(payroll)[0]['id']}"

    assert payroll.brand.person("Manager").call("DELETE", address).status_code == 403
    assert payroll.brand.call("DELETE", address).status_code == 403
    answers = run_concurrently(*[lambda: payroll.brand.person("Admin").call("DELETE", address) for _ in range(2)])

    assert sorted(answer.status_code for answer in answers) == [204, 404]
    assert drafts(payroll) == payroll.payouts() == []
    assert after(payroll, drain, days=7) == 0
    assert after(payroll, drain, days=14) == 1
    assert [draft["totalEligibleCents"] for draft in drafts(payroll)] == [2_000]


def test_a_draft_that_was_paid_or_is_anothers_is_not_there_to_dismiss(payroll, rival, drain):
    after(payroll, drain, days=7)
    address = f"{URL}/{drafts(payroll)[0]['id']}"

    assert rival.person("Owner").call("DELETE", address).status_code == 404
    payroll.brand.person("Owner").post("/api/v1/payouts/run", {"confirmTotalCents": 2_000})
    for path in (address, f"{URL}/{'0' * 300}", f"{URL}/%00"):
        assert payroll.brand.person("Owner").call("DELETE", path).status_code == 404
    assert payroll.brand.rows("select status from payout_proposal") == [("Confirmed",)]


def test_a_newer_draft_takes_the_place_of_the_open_one(payroll, drain):
    after(payroll, drain, days=7)
    payroll.sell("ann", 5_000)
    after(payroll, drain, days=14)

    assert [draft["totalEligibleCents"] for draft in drafts(payroll)] == [3_000]
    assert payroll.brand.rows("select status from payout_proposal order by due_on") == [("Replaced",), ("Open",)]


def test_with_nothing_to_pay_nobody_is_written_to(app, drain):
    payroll = Payroll.create(app)
    choose(payroll, automaticPayoutCadence="Weekly")

    after(payroll, drain, days=7)

    assert payroll.brand.rows("select status from payout_proposal") == [("Empty",)]
    assert (drafts(payroll), mail(payroll)) == ([], [])


def test_a_long_pause_is_caught_up_with_once(payroll, drain):
    assert after(payroll, drain, days=40) == 1
    assert after(payroll, drain, days=40) == 0
    assert after(payroll, drain, days=42) == 1
    assert payroll.brand.rows("select count(*) from payout_proposal") == [(2,)]


def test_several_workers_at_once_make_one_draft(payroll):
    now = clock.now() + timedelta(days=7)

    run_concurrently(*[lambda: make(payroll, now)] * 5)

    assert payroll.brand.rows("select status from payout_proposal") == [("Open",)]
    assert len(mail(payroll)) == 1


def test_several_workers_at_once_confirm_once(payroll):
    choose(payroll, automaticPayoutEnabled=True)
    now = clock.now() + timedelta(days=7)

    run_concurrently(*[lambda: make(payroll, now)] * 5)
    payroll.pay()

    assert payroll.payouts() == [("Paid", 2_000)]
    assert payroll.balance("ann") == {"USD": 0}


def test_an_owner_and_the_cadence_at_once_pay_once(payroll):
    choose(payroll, automaticPayoutEnabled=True)
    now, owner = clock.now() + timedelta(days=7), payroll.brand.person("Owner")

    run_concurrently(
        lambda: make(payroll, now),
        lambda: owner.post("/api/v1/payouts/run", {"confirmTotalCents": 2_000}).status_code,
    )
    payroll.pay()

    assert payroll.payouts() == [("Paid", 2_000)]
    assert drafts(payroll) == []


def test_an_owner_may_let_it_confirm_by_itself(payroll, drain):
    choose(payroll, automaticPayoutEnabled=True)

    after(payroll, drain, days=7)

    assert payroll.payouts() == [("Paid", 2_000)]
    assert payroll.brand.rows("select confirmed_by, confirmed_cents from payout_run") == [(None, 2_000)]
    assert drafts(payroll) == []
    assert [kind for kind, *_ in mail(payroll)] == ["payout.confirmed"]
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
def test_a_gate_that_is_shut_is_kept_on_the_draft_and_told(payroll, drain, sql, code):
    choose(payroll, automaticPayoutEnabled=True)
    payroll.execute(f"update organization set {sql} where id = %s", payroll.brand.id)

    after(payroll, drain, days=7)

    (draft,) = drafts(payroll)
    ((kind, _, text),) = mail(payroll)
    assert draft["refusalCode"] == code
    assert kind == "payout.refused"
    assert draft["refusalMessage"] in text
    assert (payroll.payouts(), payroll.lines()) == ([], [])


def test_a_review_is_waited_for_even_then(payroll, drain):
    choose(payroll, automaticPayoutEnabled=True)
    payroll.execute("update organization set payouts_need_review = true where id = %s", payroll.brand.id)

    after(payroll, drain, days=7)

    assert payroll.payouts("status") == [("Pending",)]
    assert "review" in mail(payroll)[0][2]


def test_the_day_is_the_organizations_own(payroll):
    since = "select automatic_payout_since from organization"
    choose(payroll, automaticPayoutCadence="Manual")
    assert payroll.brand.rows(since) == [(None,)]
    choose(payroll, timezone="Pacific/Kiritimati", automaticPayoutCadence="Monthly")
    ahead = payroll.brand.rows(since)[0][0]
    choose(payroll, automaticPayoutCadence="Manual")
    choose(payroll, timezone="Pacific/Honolulu", automaticPayoutCadence="Monthly")

    assert ahead - payroll.brand.rows(since)[0][0] == timedelta(days=1)
    assert ahead == cadence.local_day("Pacific/Kiritimati", clock.now())


def test_manual_prepares_nothing(payroll, drain):
    choose(payroll, automaticPayoutCadence="Manual")

    assert after(payroll, drain, days=400) == 0


def test_only_owners_and_admins_see_drafts(payroll, rival, drain):
    after(payroll, drain, days=7)
    brand = payroll.brand

    assert brand.get(URL).status_code == 403
    assert [brand.person(role).get(URL).status_code for role in ("Admin", "Manager", "Viewer")] == [200, 403, 403]
    assert rival.person("Owner").get(URL).json == []


def test_the_daily_look_is_a_job_of_its_own(payroll, drain):
    payroll.execute("update organization set automatic_payout_since = automatic_payout_since - 7")
    with db.any_org_work():
        work.enqueue(jobs.PAYOUT_CADENCE, organization_id=None)

    drain("payouts")

    assert len(drafts(payroll)) == 1


@pytest.fixture
def unattended(payroll):
    """The Owner's token of a program: nobody logged in for it."""
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
def test_automatic_confirmation_is_a_persons_to_decide(unattended, value):
    answer = unattended.call("PATCH", PROFILE, {"name": "Other", "automaticPayoutEnabled": value})

    assert (answer.status_code, answer.json["error"]) == (403, "interactive_session_required")
    assert unattended.get(PROFILE).json["name"] == "Brand"


def test_when_it_confirms_by_itself_the_cadence_is_a_persons_too(payroll, unattended):
    assert unattended.call("PATCH", PROFILE, {"automaticPayoutCadence": "Monthly"}).status_code == 200
    choose(payroll, automaticPayoutEnabled=True)

    answer = unattended.call("PATCH", PROFILE, {"automaticPayoutCadence": "Weekly"})

    assert (answer.status_code, answer.json["error"]) == (403, "interactive_session_required")


def test_a_key_decides_nothing_about_it(payroll):
    assert payroll.brand.call("PATCH", PROFILE, {"automaticPayoutEnabled": True}).status_code == 403

"""The timeline of an affiliate, through HTTP, from real decisions, changes, clicks, sales and payouts."""

from datetime import datetime
from uuid import uuid4

import pytest

from models import db
from models.programs import daily_totals
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.api.invite_requests import accept_invite, invite, token_from_invite
from tests.support.api.lists import count_round_trips
from tests.support.job_queues import drain
from tests.support.rows.brands import Partner
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago

URL = "/api/v1/affiliates"


@pytest.fixture
def payroll(app):
    """Return a brand that pays at once."""
    return Payroll.create(app)


@pytest.fixture
def manager(payroll):
    """Return the brand with the session of a Manager."""
    return payroll.brand.person("Manager", email="mia@example.com")


def _read(caller, affiliate_id, query=""):
    answer = caller.get(f"{URL}/{affiliate_id}/timeline{query}")
    assert answer.status_code == 200, answer.text
    return answer.json


def _list_types(caller, affiliate_id):
    return [event["type"] for event in _read(caller, affiliate_id)["items"]]


def _create_applicant(payroll, slug="ben"):
    return payroll.brand.affiliate(slug, status="Pending", approved_at=None, source="Public")


def test_decisions_are_listed_newest_first_with_who_made_them(payroll, manager):
    ben = _create_applicant(payroll)
    for path, body in (
        (f"{URL}/{ben}/reject", {"reason": "No website"}),
        (f"{URL}/{ben}/approve", {}),
        (f"/api/v1/fraud-events/ban-affiliate/{ben}", {}),
    ):
        assert manager.post(path, body).status_code == 200
    for status in ("Approved", "Paused", "Approved"):
        assert manager.call("PATCH", f"{URL}/{ben}", {"status": status}).status_code == 200

    events = _read(manager, ben)["items"]
    assert [event["type"] for event in events] == [
        "resumed",
        "paused",
        "resumed",
        "banned",
        "approved",
        "rejected",
        "applied",
    ]
    assert {event["actor"]["name"] for event in events[:-1]} == {"mia@example.com"}
    assert events[-1]["actor"] is None
    assert events[5]["reason"] == "No website"
    times = [datetime.fromisoformat(event["at"]) for event in events]
    assert times == sorted(times, reverse=True)


def test_changes_name_the_field_with_both_values(payroll, manager):
    ben = payroll.affiliate("ben")
    path = f"/api/v1/programs/{payroll.brand.programs[-1]}/partner-groups"
    group = manager.post(path, {"name": "Gold", "commissionType": "Percentage", "commissionValue": 30}).json
    for changes in (
        {"customCommissionType": "Percentage", "customCommissionValue": 40},
        {"customCommissionType": None, "customCommissionValue": None},
        {"partnerGroupId": group["id"]},
        {"notes": "Met at the fair.", "tags": ["press", "vip"]},
    ):
        assert manager.call("PATCH", f"{URL}/{ben}", changes).status_code == 200

    events = _read(manager, ben)["items"]
    assert [event["type"] for event in events[:4]] == ["changed"] * 4
    assert [event["changes"] for event in events[:4]] == [
        [
            {"field": "tags", "before": None, "after": "press, vip"},
            {"field": "notes", "before": None, "after": None},
        ],
        [{"field": "partnerGroup", "before": None, "after": "Gold"}],
        [{"field": "commission", "before": "40 %", "after": None}],
        [{"field": "commission", "before": None, "after": "40 %"}],
    ]


def test_bulk_actions_name_the_tags_the_group_and_the_reason(payroll, manager):
    ben, ina = payroll.affiliate("ben"), _create_applicant(payroll, "ina")
    path = f"/api/v1/programs/{payroll.brand.programs[-1]}/partner-groups"
    group = manager.post(path, {"name": "Gold", "commissionType": "Percentage", "commissionValue": 30}).json
    for affiliate_id, action in (
        (ben, {"action": "tag", "tag": "vip"}),
        (ben, {"action": "untag", "tag": "vip"}),
        (ben, {"action": "group", "partnerGroupId": group["id"]}),
        (ina, {"action": "reject", "reason": "No website"}),
    ):
        answer = manager.post("/api/affiliates/bulk", {"affiliateIds": [str(affiliate_id)], **action})
        assert (answer.status_code, answer.json["affected"]) == (200, 1), answer.text

    assert [event["changes"] for event in _read(manager, ben)["items"][:3]] == [
        [{"field": "partnerGroup", "before": None, "after": "Gold"}],
        [{"field": "tags", "before": "vip", "after": None}],
        [{"field": "tags", "before": None, "after": "vip"}],
    ]
    newest = _read(manager, ina)["items"][0]
    assert (newest["type"], newest["reason"]) == ("rejected", "No website")


def test_owned_things_are_named(payroll, manager):
    ben = payroll.affiliate("ben")
    link = manager.post(f"{URL}/{ben}/links", {"customAlias": "ben-video"}).json
    assert manager.call("DELETE", f"{URL}/{ben}/links/{link['id']}").status_code == 204
    payroll.brand.set(sandboxRail="fail")
    payroll.sell("ben")
    payroll.run()
    payroll.pay()
    ((payout_id,),) = payroll.brand.rows("select id from payout")
    payroll.brand.set(sandboxRail="ok")
    owner = payroll.brand.person("Owner", email="olga@example.com")
    assert owner.post(f"/api/v1/payouts/{payout_id}/retry").status_code == 200
    payroll.pay()

    events = {event["type"]: event for event in _read(manager, ben)["items"]}
    assert events["payout_retried"]["actor"]["name"] == "olga@example.com"
    assert events["payout_retried"]["payoutId"] == events["payout_paid"]["payoutId"] == str(payout_id)
    assert [events[kind]["subject"] for kind in ("link_created", "link_deleted")] == ["ben-video"] * 2
    assert {event["subject"] for kind, event in events.items() if not kind.startswith("link")} == {None}


def test_added_affiliate_names_the_key_that_added_them(payroll):
    created = payroll.brand.post(URL, {"programId": str(payroll.brand.programs[-1]), "email": "ben@example.com"}).json

    (event,) = _read(payroll.brand, created["id"])["items"]
    assert (event["type"], event["actor"]["type"]) == ("added", "api_key")


def test_invitation_and_automatic_approval_are_listed(payroll, manager):
    manager.programs = payroll.brand.programs
    token = token_from_invite(invite(manager))
    assert accept_invite(payroll.brand, token).status_code == 200
    ((ina,),) = payroll.brand.rows("select affiliate_id from affiliate_invite")

    events = _read(manager, ina)["items"]
    assert {event["type"] for event in events} == {"invited", "joined", "approved"}
    by_type = {event["type"]: event for event in events}
    assert by_type["invited"]["actor"]["name"] == "mia@example.com"
    assert by_type["approved"]["actor"] is None


def test_first_click_and_first_sale_are_listed_once(payroll, manager):
    ben = payroll.affiliate("ben")
    first, second = time_ago(days=3), time_ago(days=2)
    insert_click(payroll.brand, ben, occurred_at=second)
    insert_click(payroll.brand, ben, occurred_at=first)
    insert_conversion(payroll.brand, ben, type="LeadReward", occurred_at=first)
    insert_conversion(payroll.brand, ben, status="Denied", occurred_at=first)
    sale = insert_conversion(payroll.brand, ben, occurred_at=second, amount_cents=4_900)
    insert_conversion(payroll.brand, ben, occurred_at=time_ago(days=1))

    for is_folded in (False, True):
        if is_folded:
            with db.any_org_work():
                daily_totals.any_org_fold(limit=10_000)
        by_type = {event["type"]: event for event in _read(manager, ben)["items"]}
        assert datetime.fromisoformat(by_type["first_click"]["at"]) == first.replace(
            microsecond=first.microsecond // 1000 * 1000
        )
        assert by_type["first_sale"]["conversionId"] == str(sale)
        assert (by_type["first_sale"]["amountCents"], by_type["first_sale"]["currency"]) == (4_900, "USD")


def test_first_sale_after_many_leads_has_its_day(payroll, manager):
    ben = payroll.affiliate("ben")
    for _ in range(201):
        insert_conversion(payroll.brand, ben, type="LeadReward", created_at=time_ago(days=5))
    insert_conversion(payroll.brand, ben, occurred_at=time_ago(days=1))

    (first_sale,) = [event for event in _read(manager, ben)["items"] if event["type"] == "first_sale"]
    assert first_sale["at"] == f"{time_ago(days=1):%Y-%m-%d}T00:00:00.000Z"
    assert first_sale["conversionId"] is None


def test_payouts_are_listed_with_their_outcome(payroll, manager):
    ben = payroll.affiliate("ben")
    payroll.sell("ben")
    payroll.run()
    payroll.pay()
    payroll.brand.set(sandboxRail="fail")
    payroll.sell("ben", 20_000)
    payroll.run()
    payroll.pay()
    failed, paid = payroll.brand.rows("select id from payout order by created_at desc")
    owner = payroll.brand.person("Owner", email="olga@example.com")
    assert owner.post(f"/api/v1/payouts/{failed[0]}/void").status_code == 200

    events = _read(manager, ben)["items"]
    assert [event["type"] for event in events[:2]] == ["payout_voided", "payout_failed"]
    assert events[0]["actor"]["name"] == "olga@example.com"
    assert events[1]["reason"]
    (payment,) = [event for event in events if event["type"] == "payout_paid"]
    assert (payment["payoutId"], payment["amountCents"], payment["currency"]) == (str(paid[0]), 2_000, "USD")


def test_payout_account_change_is_listed_without_the_account(app, payroll, manager):
    email = f"rita-{uuid4().hex}@example.com"
    rita = payroll.brand.affiliate("rita", email=email, email_normalized=email)
    partner = Partner(app, email)
    body = {"method": "Wallet", "walletEmail": "secret@wallet.example.com"}
    assert partner.call("PUT", "/api/me/payout-account", body).status_code == 200

    page = _read(manager, rita)
    assert page["items"][0]["type"] == "payout_account_changed"
    assert page["items"][0]["changes"] == [{"field": "payoutMethod", "before": None, "after": "Wallet"}]
    assert page["items"][0]["actor"] == {"type": "affiliate", "name": email}
    assert "secret@" not in str(page)


def test_tax_form_is_listed_when_submitted_and_read(payroll):
    ben, admin = payroll.affiliate("ben"), payroll.brand.person("Admin", email="ada@example.com")
    payroll.execute(
        "insert into tax_form (id, organization_id, affiliate_id, held_by_stripe, submitted_at)"
        " values (gen_random_uuid(), %s, %s, true, now())",
        payroll.brand.id,
        ben,
    )
    assert admin.get(f"{URL}/{ben}/tax-form").status_code == 200

    events = _read(admin, ben)["items"]
    assert {event["type"] for event in events} >= {"tax_form_submitted", "tax_form_read"}


def test_pages_follow_the_cursor_without_gaps(payroll, manager):
    ben = payroll.affiliate("ben")
    for number in range(5):
        assert manager.call("PATCH", f"{URL}/{ben}", {"notes": f"Note {number}"}).status_code == 200
    payroll.sell("ben")
    payroll.run()
    payroll.pay()
    everything = _read(manager, ben)["items"]

    collected, query = [], "?take=2"
    while True:
        page = _read(manager, ben, query)
        collected += page["items"]
        if not page["hasMore"]:
            break
        query = f"?take=2&cursor={page['nextCursor']}"
    assert collected == everything
    assert len({event["id"] for event in everything}) == len(everything) >= 8


def test_imported_affiliates_and_sales_are_listed(payroll, manager):
    ben = payroll.affiliate("ben")
    sold_at = time_ago(days=400)
    import_sales(payroll.brand, build_past_sale(affiliateSlug="ben", occurredAt=sold_at.isoformat()))
    drain()

    assert "first_sale" in _list_types(manager, ben)


def test_key_sees_no_person(payroll, manager):
    ben = payroll.affiliate("ben")
    assert manager.call("PATCH", f"{URL}/{ben}", {"status": "Paused"}).status_code == 200

    event = _read(payroll.brand, ben)["items"][0]
    assert (event["type"], event["actor"]["name"]) == ("paused", None)
    assert "mia@example.com" not in str(_read(payroll.brand, ben))


def test_other_tenants_affiliate_returns_404(payroll, manager, rival):
    rival.program()
    eva = rival.affiliate("eva")
    deleted = payroll.brand.affiliate("gone", deleted_at=time_ago(days=1))
    assert payroll.brand.person("Admin").get(f"{URL}/{eva}/tax-form").status_code == 404
    assert payroll.brand.rows("select action from audit_entry where entity_id = %s", str(eva)) == [("tax_form.read",)]
    for affiliate_id in (eva, deleted, uuid4(), "none"):
        answer = manager.get(f"{URL}/{affiliate_id}/timeline")
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_timeline_costs_the_same_with_many_rows(payroll, manager):
    ben = payroll.affiliate("ben")
    _read(manager, ben)
    before = count_round_trips(lambda: _read(manager, ben))
    for number in range(3):
        assert manager.call("PATCH", f"{URL}/{ben}", {"notes": f"Note {number}"}).status_code == 200
        payroll.sell("ben")
        insert_click(payroll.brand, ben)

    assert count_round_trips(lambda: _read(manager, ben)) == before

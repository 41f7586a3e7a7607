"""Bans of affiliates, through HTTP. Source: core spec, "Click and lead fraud review" and section 3 (affiliate)."""

import pytest

from domain import statuses
from tests.support.api.concurrency import run_concurrently

URL = "/api/v1/fraud-events/ban-affiliate"
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, listening to every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def _list_affiliate_audit_entries(brand):
    return brand.rows(
        "select action, entity_id, before->>'status', after->>'status' from audit_entry where entity_type = 'affiliate'"
    )


@pytest.mark.parametrize("status", ["Pending", "Approved", "Rejected", "Paused"])
def test_ban_from_any_status_is_audited_and_creates_no_event(campaign, status):
    affiliate_id = campaign.affiliate("ben", status=status)

    answer = campaign.post(f"{URL}/{affiliate_id}")

    assert (answer.status_code, answer.json["status"]) == (200, "Banned")
    assert answer.json == campaign.get(f"/api/v1/affiliates/{affiliate_id}").json
    assert _list_affiliate_audit_entries(campaign) == [("affiliate.banned", str(affiliate_id), status, "Banned")]
    assert campaign.rows("select count(*) from event") == [(0,)]


def test_second_ban_changes_nothing(campaign):
    affiliate_id = campaign.affiliate("ben")
    first = campaign.post(f"{URL}/{affiliate_id}", {})

    again = campaign.post(f"{URL}/{affiliate_id}", {})

    assert (again.status_code, again.json) == (200, first.json)
    assert len(_list_affiliate_audit_entries(campaign)) == 1


def test_concurrent_bans_are_audited_once(campaign):
    affiliate_id = campaign.affiliate("ben")

    answers = run_concurrently(*[lambda: campaign.post(f"{URL}/{affiliate_id}") for _ in range(4)])

    assert [answer.status_code for answer in answers] == [200] * 4
    assert len(_list_affiliate_audit_entries(campaign)) == 1


def test_repeated_ban_with_an_idempotency_key_returns_the_first_answer(campaign):
    affiliate_id = campaign.affiliate("ben")

    campaign.post(f"{URL}/{affiliate_id}", Idempotency_Key="k")
    again = campaign.post(f"{URL}/{affiliate_id}", Idempotency_Key="k")

    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")


def test_sale_by_a_link_of_a_banned_affiliate_is_refused(campaign, drain):
    affiliate_id = campaign.affiliate("ben")
    campaign.post(f"{URL}/{affiliate_id}")

    answer = campaign.sale()
    drain()

    assert (answer.status_code, answer.json["error"]) == (400, "affiliate_not_active")
    assert campaign.rows("select count(*) from conversion") == [(0,)]
    assert campaign.rows("select affiliate_id, affiliate_status_at_drop from uncredited_conversion") == [
        (affiliate_id, "Banned")
    ]


def test_commission_earned_before_a_ban_stays_pending(campaign, drain):
    affiliate_id = campaign.affiliate("ben")
    sale = campaign.sale()
    campaign.post(f"{URL}/{affiliate_id}")
    drain()

    conversion = campaign.get(f"/api/v1/conversions/{sale.json['conversionId']}").json
    assert (conversion["status"], conversion["commissionCents"]) == ("Pending", 2_000)


def test_approving_a_banned_affiliate_returns_409(campaign):
    affiliate_id = campaign.affiliate("ben", status="Pending")
    campaign.post(f"{URL}/{affiliate_id}")

    answer = campaign.post(f"/api/v1/affiliates/{affiliate_id}/approve")

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_changing_the_status_ends_a_ban(campaign):
    affiliate_id = campaign.affiliate("ben")
    campaign.post(f"{URL}/{affiliate_id}")

    campaign.call("PATCH", f"/api/v1/affiliates/{affiliate_id}", {"status": statuses.AffiliateStatus.Approved})

    assert campaign.sale().status_code == 200


def test_ban_applies_to_one_campaign_only(campaign):
    first = campaign.affiliate("ben")
    second_program = campaign.program()
    second = campaign.affiliate("ben", program_id=second_program)

    campaign.post(f"{URL}/{first}")

    assert campaign.get(f"/api/v1/affiliates/{second}").json["status"] == "Approved"


@pytest.mark.parametrize("affiliate_id", [UNKNOWN_ID, "x", "%00", "1" * 500])
def test_unknown_affiliate_returns_404_with_any_body(brand, affiliate_id):
    for body in (None, {}, b"{"):
        answer = brand.post(f"{URL}/{affiliate_id}", body)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_rivals_affiliate_returns_404(brand, rival):
    rival.program()
    affiliate_id = rival.affiliate("rita")

    assert brand.post(f"{URL}/{affiliate_id}").status_code == 404
    assert rival.get(f"/api/v1/affiliates/{affiliate_id}").json["status"] == "Approved"


@pytest.mark.parametrize("body", [[], "ban", 1, b"{"])
def test_non_object_body_returns_400(campaign, body):
    affiliate_id = campaign.affiliate("ben")

    answer = campaign.post(f"{URL}/{affiliate_id}", body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert campaign.get(f"/api/v1/affiliates/{affiliate_id}").json["status"] == "Approved"


@pytest.mark.parametrize(("role", "status"), [("Viewer", 403), ("Manager", 200), ("Owner", 200)])
def test_ban_needs_the_manager_role(campaign, role, status):
    assert campaign.person(role).post(f"{URL}/{campaign.affiliate('ben')}").status_code == status


def test_ban_by_key_needs_write_scope_and_a_paid_plan(campaign):
    address = f"{URL}/{campaign.affiliate('ben')}"

    by_reader = campaign.other_key(scope="read").post(address)
    campaign.set(plan="Free")
    on_free = campaign.post(address)

    assert (by_reader.status_code, "read_write" in by_reader.text) == (403, True)
    assert (on_free.status_code, on_free.json["error"]) == (402, "plan_tier_required")
    assert campaign.person("Manager").post(address).status_code == 200

"""Bans of affiliates, through HTTP. Source: core spec, "Click and lead fraud review" and section 3 (affiliate)."""

import pytest

from domain import statuses
from tests.support.api.concurrency import run_concurrently

URL = "/api/v1/fraud-events/ban-affiliate"
NOBODY = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, listening to every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def _entries(brand):
    return brand.rows(
        "select action, entity_id, before->>'status', after->>'status' from audit_entry where entity_type = 'affiliate'"
    )


@pytest.mark.parametrize("status", ["Pending", "Approved", "Rejected", "Paused"])
def test_an_affiliate_of_any_status_is_banned_audited_and_told_to_nobody(campaign, status):
    affiliate_id = campaign.affiliate("ben", status=status)

    answer = campaign.post(f"{URL}/{affiliate_id}")

    assert (answer.status_code, answer.json["status"]) == (200, "Banned")
    assert answer.json == campaign.get(f"/api/v1/affiliates/{affiliate_id}").json
    assert _entries(campaign) == [("affiliate.banned", str(affiliate_id), status, "Banned")]
    assert campaign.rows("select count(*) from event") == [(0,)]


def test_banning_again_changes_nothing(campaign):
    affiliate_id = campaign.affiliate("ben")
    first = campaign.post(f"{URL}/{affiliate_id}", {})

    again = campaign.post(f"{URL}/{affiliate_id}", {})

    assert (again.status_code, again.json) == (200, first.json)
    assert len(_entries(campaign)) == 1


def test_banned_many_times_at_once_it_is_one_ban(campaign):
    affiliate_id = campaign.affiliate("ben")

    answers = run_concurrently(*[lambda: campaign.post(f"{URL}/{affiliate_id}") for _ in range(4)])

    assert [answer.status_code for answer in answers] == [200] * 4
    assert len(_entries(campaign)) == 1


def test_an_idempotency_key_gives_the_first_answer_again(campaign):
    affiliate_id = campaign.affiliate("ben")

    campaign.post(f"{URL}/{affiliate_id}", Idempotency_Key="k")
    again = campaign.post(f"{URL}/{affiliate_id}", Idempotency_Key="k")

    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")


def test_the_links_of_a_banned_affiliate_credit_nobody(campaign, drain):
    affiliate_id = campaign.affiliate("ben")
    campaign.post(f"{URL}/{affiliate_id}")

    answer = campaign.sale()
    drain()

    assert (answer.status_code, answer.json["error"]) == (400, "affiliate_not_active")
    assert campaign.rows("select count(*) from conversion") == [(0,)]
    assert campaign.rows("select affiliate_id, affiliate_status_at_drop from uncredited_conversion") == [
        (affiliate_id, "Banned")
    ]


def test_what_was_earned_before_a_ban_is_kept(campaign, drain):
    affiliate_id = campaign.affiliate("ben")
    sale = campaign.sale()
    campaign.post(f"{URL}/{affiliate_id}")
    drain()

    kept = campaign.get(f"/api/v1/conversions/{sale.json['conversionId']}").json
    assert (kept["status"], kept["commissionCents"]) == ("Pending", 2_000)


def test_a_banned_affiliate_cannot_be_approved_by_a_click(campaign):
    affiliate_id = campaign.affiliate("ben", status="Pending")
    campaign.post(f"{URL}/{affiliate_id}")

    answer = campaign.post(f"/api/v1/affiliates/{affiliate_id}/approve")

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_a_ban_ends_when_the_brand_gives_another_status(campaign):
    affiliate_id = campaign.affiliate("ben")
    campaign.post(f"{URL}/{affiliate_id}")

    campaign.call("PATCH", f"/api/v1/affiliates/{affiliate_id}", {"status": statuses.AffiliateStatus.Approved})

    assert campaign.sale().status_code == 200


def test_a_ban_holds_in_its_own_campaign_alone(campaign):
    first = campaign.affiliate("ben")
    second_program = campaign.program()
    second = campaign.affiliate("ben", program_id=second_program)

    campaign.post(f"{URL}/{first}")

    assert campaign.get(f"/api/v1/affiliates/{second}").json["status"] == "Approved"


@pytest.mark.parametrize("affiliate_id", [NOBODY, "x", "%00", "1" * 500])
def test_an_affiliate_who_is_not_there_is_not_found_whatever_the_body(brand, affiliate_id):
    for body in (None, {}, b"{"):
        answer = brand.post(f"{URL}/{affiliate_id}", body)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_a_rivals_affiliate_is_not_there(brand, rival):
    rival.program()
    affiliate_id = rival.affiliate("rita")

    assert brand.post(f"{URL}/{affiliate_id}").status_code == 404
    assert rival.get(f"/api/v1/affiliates/{affiliate_id}").json["status"] == "Approved"


@pytest.mark.parametrize("body", [[], "ban", 1, b"{"])
def test_a_body_that_is_no_object_is_a_problem(campaign, body):
    affiliate_id = campaign.affiliate("ben")

    answer = campaign.post(f"{URL}/{affiliate_id}", body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert campaign.get(f"/api/v1/affiliates/{affiliate_id}").json["status"] == "Approved"


@pytest.mark.parametrize(("role", "status"), [("Viewer", 403), ("Manager", 200), ("Owner", 200)])
def test_a_ban_needs_a_manager(campaign, role, status):
    assert campaign.person(role).post(f"{URL}/{campaign.affiliate('ben')}").status_code == status


def test_a_ban_needs_a_writing_key_on_a_plan(campaign):
    address = f"{URL}/{campaign.affiliate('ben')}"

    by_reader = campaign.other_key(scope="read").post(address)
    campaign.set(plan="Free")
    on_free = campaign.post(address)

    assert (by_reader.status_code, "read_write" in by_reader.text) == (403, True)
    assert (on_free.status_code, on_free.json["error"]) == (402, "plan_tier_required")
    assert campaign.person("Manager").post(address).status_code == 200

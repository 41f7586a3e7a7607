"""Listing, approving and rejecting applications, through HTTP. Source: core spec, "Affiliates", section 3."""

import pytest

from models import db
from tests.support.api.concurrency import run_concurrently
from tests.support.api.lists import count_round_trips

URL = "/api/v1/affiliates"


@pytest.fixture
def campaign(brand):
    """Return the brand with one campaign and an endpoint for every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def _create_applicant(brand, slug="ben", **columns):
    return brand.affiliate(slug, **({"status": "Pending", "approved_at": None, "source": "Public"} | columns))


def _list_events(brand):
    return [type for (type,) in brand.rows("select type from event")]


def _list_audited_actions(brand):
    return [
        action
        for (action,) in brand.rows(
            "select action from audit_entry where action like 'affiliate.%%' order by created_at"
        )
    ]


@pytest.mark.parametrize("status", ["Pending", "Rejected"])
def test_approval_sends_an_event_and_is_audited(campaign, status):
    affiliate_id = _create_applicant(
        campaign, status=status, rejection_reason="no website" if status == "Rejected" else None
    )

    answer = campaign.post(f"{URL}/{affiliate_id}/approve", {})

    assert (answer.status_code, answer.json["status"]) == (200, "Approved")
    assert answer.json["approvedAt"] is not None
    assert answer.json["rejectionReason"] is None
    assert _list_events(campaign) == ["affiliate.approved"]
    assert _list_audited_actions(campaign) == ["affiliate.approved"]


def test_approval_needs_no_body(campaign):
    assert campaign.post(f"{URL}/{_create_applicant(campaign)}/approve").status_code == 200


def test_second_approval_changes_nothing(campaign):
    affiliate_id = _create_applicant(campaign)
    first = campaign.post(f"{URL}/{affiliate_id}/approve", {}).json

    repeated = campaign.post(f"{URL}/{affiliate_id}/approve", {})

    assert (repeated.status_code, repeated.json) == (200, first)
    assert _list_events(campaign) == ["affiliate.approved"]
    assert _list_audited_actions(campaign) == ["affiliate.approved"]


def test_concurrent_approvals_count_once(campaign):
    affiliate_id = _create_applicant(campaign)

    answers = run_concurrently(*[lambda: campaign.post(f"{URL}/{affiliate_id}/approve", {})] * 3)

    assert [answer.status_code for answer in answers] == [200] * 3
    assert _list_events(campaign) == ["affiliate.approved"]


@pytest.mark.parametrize("status", ["Paused", "Banned"])
def test_paused_or_banned_affiliate_cannot_be_approved(campaign, status):
    affiliate_id = campaign.affiliate("ben", status=status)

    answer = campaign.post(f"{URL}/{affiliate_id}/approve", {})

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")
    assert _list_events(campaign) == []


def test_rejection_reason_is_stored(campaign):
    affiliate_id = _create_applicant(campaign)

    answer = campaign.post(f"{URL}/{affiliate_id}/reject", {"reason": " keine Webseite 🙂 "})

    assert (answer.status_code, answer.json["status"]) == (200, "Rejected")
    assert answer.json["rejectionReason"] == "keine Webseite 🙂"
    assert campaign.get(f"{URL}/{affiliate_id}").json == answer.json
    assert _list_events(campaign) == []
    assert _list_audited_actions(campaign) == ["affiliate.rejected"]


@pytest.mark.parametrize("body", [None, {}, {"reason": None}, {"reason": "  "}])
def test_rejection_needs_no_reason(campaign, body):
    answer = campaign.post(f"{URL}/{_create_applicant(campaign)}/reject", body)

    assert (answer.status_code, answer.json["rejectionReason"]) == (200, None)


@pytest.mark.parametrize("status", ["Approved", "Rejected", "Paused", "Banned"])
def test_only_pending_affiliates_can_be_rejected(campaign, status):
    affiliate_id = campaign.affiliate("ben", status=status)

    answer = campaign.post(f"{URL}/{affiliate_id}/reject", {"reason": "late"})

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")
    assert campaign.get(f"{URL}/{affiliate_id}").json["rejectionReason"] is None


@pytest.mark.parametrize("body", [{"reason": 7}, {"reason": "x" * 1001}, {"reason": "nul\x00"}, {"reason": ["x"]}])
def test_malformed_reason_is_named(campaign, body):
    answer = campaign.post(f"{URL}/{_create_applicant(campaign)}/reject", body)

    assert (answer.status_code, list(answer.json["errors"])) == (400, ["reason"])


@pytest.mark.parametrize("action", ["approve", "reject"])
@pytest.mark.parametrize("raw", [b"[]", b"null", b"{", b"\xff"])
def test_non_object_body_returns_400(campaign, action, raw):
    affiliate_id = _create_applicant(campaign)

    assert campaign.post(f"{URL}/{affiliate_id}/{action}", raw).status_code == 400
    assert campaign.get(f"{URL}/{affiliate_id}").json["status"] == "Pending"


def test_concurrent_approval_and_rejection_end_in_one_status(campaign):
    affiliate_id = _create_applicant(campaign)

    run_concurrently(
        *(lambda action=action: campaign.post(f"{URL}/{affiliate_id}/{action}", {}) for action in ("approve", "reject"))
    )

    # Either rejected and then approved, or approved, after which rejection is refused.
    assert campaign.get(f"{URL}/{affiliate_id}").json["status"] == "Approved"
    assert _list_events(campaign) == ["affiliate.approved"]


def test_applications_are_pending_affiliates_newest_first(campaign, rival):
    ids = [str(_create_applicant(campaign, slug)) for slug in ("ann", "ben", "cleo")]
    campaign.affiliate("dan")
    campaign.affiliate("eve", status="Rejected")
    rival.program()
    _create_applicant(rival)

    listed = campaign.get(f"{URL}/applications")

    assert (listed.status_code, [item["id"] for item in listed.json]) == (200, ids[::-1])
    assert [item["id"] for item in campaign.get(f"{URL}/applications?take=1&skip=1").json] == [ids[1]]
    assert campaign.get(f"{URL}/applications?skip=3").json == []


def test_applications_are_filtered_by_program(campaign, rival):
    applicant_id = str(_create_applicant(campaign))
    other_program = campaign.program()
    _create_applicant(campaign, "ann", program_id=other_program)

    listed = campaign.get(f"{URL}/applications?programId={campaign.programs[0]}").json

    assert [item["id"] for item in listed] == [applicant_id]
    assert campaign.get(f"{URL}/applications?programId={rival.program()}").json == []


@pytest.mark.usefixtures("isolated_database")
def test_applications_are_read_by_the_pending_index(campaign):
    _create_applicant(campaign)
    trips = []

    db.db.trip_hooks.append(trips.append)
    campaign.get(f"{URL}/applications")
    db.db.trip_hooks.remove(trips.append)
    statement = next(part for trip in trips for part in trip.decode().split(";\n") if part.startswith("execute hot_"))
    plan = "\n".join(line for (line,) in campaign.rows("explain " + statement))

    assert "Scan using affiliate_pending" in plan, plan


def test_page_has_fifty_applications_and_at_most_two_hundred(campaign):
    for number in range(201):
        _create_applicant(campaign, f"number-{number}")

    assert len(campaign.get(f"{URL}/applications").json) == 50
    assert len(campaign.get(f"{URL}/applications?take=100000").json) == 200


@pytest.mark.parametrize("query", ["take=0", "take=x", "take=-1", "skip=-1", "skip=x", f"skip={10**18}", "programId=x"])
def test_invalid_query_is_refused(campaign, query):
    answer = campaign.get(f"{URL}/applications?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_round_trips_do_not_grow_with_applications(campaign):
    _create_applicant(campaign, "ann")
    trips_before = count_round_trips(lambda: campaign.get(f"{URL}/applications"))
    for number in range(9):
        _create_applicant(campaign, f"number-{number}")

    assert count_round_trips(lambda: campaign.get(f"{URL}/applications")) == trips_before


@pytest.mark.parametrize("role", ["Owner", "Viewer"])
def test_application_answers_are_visible_to_members_but_not_keys(campaign, role):
    affiliate_id = _create_applicant(campaign, application_data={"website": "ben.example"})
    _create_applicant(campaign, "ann", application_data=None)
    person = campaign.person(role)

    for path in (f"{URL}/{affiliate_id}", URL, f"{URL}/applications"):
        assert b"applicationData" not in campaign.get(path).data, path
        assert b"ben.example" in person.get(path).data, path
    assert person.get(f"{URL}/{affiliate_id}").json["applicationData"] == {"website": "ben.example"}
    assert person.get(f"{URL}/applications").json[0]["applicationData"] is None


def test_account_and_payout_details_are_not_returned(campaign):
    affiliate_id = _create_applicant(campaign, wallet_email="pay@ben.example")

    for caller in (campaign, campaign.person("Owner")):
        answer = caller.get(f"{URL}/{affiliate_id}")

        assert b"pay@ben.example" not in answer.data
        assert not {"authUserId", "accountId", "walletEmail", "taxFormStatus", "payoutAccountId"} & set(answer.json)

"""Applications, and what the brand decides about them, through HTTP. Source: core spec, "Affiliates", section 3."""

import pytest

from models import db
from tests.support.api.concurrency import run_concurrently
from tests.support.api.lists import count_round_trips

URL = "/api/v1/affiliates"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, listening to every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def _applicant(brand, slug="ben", **columns):
    return brand.affiliate(slug, **({"status": "Pending", "approved_at": None, "source": "Public"} | columns))


def _events(brand):
    return [type for (type,) in brand.rows("select type from event")]


def _actions(brand):
    return [
        action
        for (action,) in brand.rows(
            "select action from audit_entry where action like 'affiliate.%%' order by created_at"
        )
    ]


@pytest.mark.parametrize("status", ["Pending", "Rejected"])
def test_an_approval_is_told_and_audited(campaign, status):
    affiliate_id = _applicant(campaign, status=status, rejection_reason="no website" if status == "Rejected" else None)

    answer = campaign.post(f"{URL}/{affiliate_id}/approve", {})

    assert (answer.status_code, answer.json["status"]) == (200, "Approved")
    assert answer.json["approvedAt"] is not None
    assert answer.json["rejectionReason"] is None
    assert _events(campaign) == ["affiliate.approved"]
    assert _actions(campaign) == ["affiliate.approved"]


def test_an_approval_needs_no_body(campaign):
    assert campaign.post(f"{URL}/{_applicant(campaign)}/approve").status_code == 200


def test_approving_again_changes_nothing(campaign):
    affiliate_id = _applicant(campaign)
    first = campaign.post(f"{URL}/{affiliate_id}/approve", {}).json

    again = campaign.post(f"{URL}/{affiliate_id}/approve", {})

    assert (again.status_code, again.json) == (200, first)
    assert _events(campaign) == ["affiliate.approved"]
    assert _actions(campaign) == ["affiliate.approved"]


def test_twins_approve_once(campaign):
    affiliate_id = _applicant(campaign)

    answers = run_concurrently(*[lambda: campaign.post(f"{URL}/{affiliate_id}/approve", {})] * 3)

    assert [answer.status_code for answer in answers] == [200] * 3
    assert _events(campaign) == ["affiliate.approved"]


@pytest.mark.parametrize("status", ["Paused", "Banned"])
def test_who_is_paused_or_banned_is_not_approved_by_the_way(campaign, status):
    affiliate_id = campaign.affiliate("ben", status=status)

    answer = campaign.post(f"{URL}/{affiliate_id}/approve", {})

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")
    assert _events(campaign) == []


def test_a_rejection_keeps_its_reason(campaign):
    affiliate_id = _applicant(campaign)

    answer = campaign.post(f"{URL}/{affiliate_id}/reject", {"reason": " keine Webseite 🙂 "})

    assert (answer.status_code, answer.json["status"]) == (200, "Rejected")
    assert answer.json["rejectionReason"] == "keine Webseite 🙂"
    assert campaign.get(f"{URL}/{affiliate_id}").json == answer.json
    assert _events(campaign) == []
    assert _actions(campaign) == ["affiliate.rejected"]


@pytest.mark.parametrize("body", [None, {}, {"reason": None}, {"reason": "  "}])
def test_a_rejection_needs_no_reason(campaign, body):
    answer = campaign.post(f"{URL}/{_applicant(campaign)}/reject", body)

    assert (answer.status_code, answer.json["rejectionReason"]) == (200, None)


@pytest.mark.parametrize("status", ["Approved", "Rejected", "Paused", "Banned"])
def test_only_an_application_is_rejected(campaign, status):
    affiliate_id = campaign.affiliate("ben", status=status)

    answer = campaign.post(f"{URL}/{affiliate_id}/reject", {"reason": "late"})

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")
    assert campaign.get(f"{URL}/{affiliate_id}").json["rejectionReason"] is None


@pytest.mark.parametrize("body", [{"reason": 7}, {"reason": "x" * 1001}, {"reason": "nul\x00"}, {"reason": ["x"]}])
def test_a_malformed_reason_is_named(campaign, body):
    answer = campaign.post(f"{URL}/{_applicant(campaign)}/reject", body)

    assert (answer.status_code, list(answer.json["errors"])) == (400, ["reason"])


@pytest.mark.parametrize("action", ["approve", "reject"])
@pytest.mark.parametrize("raw", [b"[]", b"null", b"{", b"\xff"])
def test_what_is_no_object_is_refused(campaign, action, raw):
    affiliate_id = _applicant(campaign)

    assert campaign.post(f"{URL}/{affiliate_id}/{action}", raw).status_code == 400
    assert campaign.get(f"{URL}/{affiliate_id}").json["status"] == "Pending"


def test_approving_and_rejecting_at_once_ends_in_one_of_both(campaign):
    affiliate_id = _applicant(campaign)

    run_concurrently(
        *(lambda action=action: campaign.post(f"{URL}/{affiliate_id}/{action}", {}) for action in ("approve", "reject"))
    )

    # Rejected first and then approved, or approved and then past rejecting.
    assert campaign.get(f"{URL}/{affiliate_id}").json["status"] == "Approved"
    assert _events(campaign) == ["affiliate.approved"]


def test_applications_are_a_flat_array_of_who_is_pending_newest_first(campaign, rival):
    made = [str(_applicant(campaign, slug)) for slug in ("ann", "ben", "cleo")]
    campaign.affiliate("dan")
    campaign.affiliate("eve", status="Rejected")
    rival.program()
    _applicant(rival)

    listed = campaign.get(f"{URL}/applications")

    assert (listed.status_code, [item["id"] for item in listed.json]) == (200, made[::-1])
    assert [item["id"] for item in campaign.get(f"{URL}/applications?take=1&skip=1").json] == [made[1]]
    assert campaign.get(f"{URL}/applications?skip=3").json == []


def test_applications_are_narrowed_to_a_program(campaign, rival):
    here = str(_applicant(campaign))
    elsewhere = campaign.program()
    _applicant(campaign, "ann", program_id=elsewhere)

    listed = campaign.get(f"{URL}/applications?programId={campaign.programs[0]}").json

    assert [item["id"] for item in listed] == [here]
    assert campaign.get(f"{URL}/applications?programId={rival.program()}").json == []


@pytest.mark.usefixtures("isolated_database")
def test_applications_are_found_by_the_index_of_those_who_wait(campaign):
    _applicant(campaign)
    sent = []

    db.db.trip_hooks.append(sent.append)
    campaign.get(f"{URL}/applications")
    db.db.trip_hooks.remove(sent.append)
    asked = next(part for trip in sent for part in trip.decode().split(";\n") if part.startswith("execute hot_"))
    plan = "\n".join(line for (line,) in campaign.rows("explain " + asked))

    assert "Scan using affiliate_pending" in plan, plan


def test_fifty_applications_are_shown_and_two_hundred_at_most(campaign):
    for number in range(201):
        _applicant(campaign, f"number-{number}")

    assert len(campaign.get(f"{URL}/applications").json) == 50
    assert len(campaign.get(f"{URL}/applications?take=100000").json) == 200


@pytest.mark.parametrize("query", ["take=0", "take=x", "take=-1", "skip=-1", "skip=x", f"skip={10**18}", "programId=x"])
def test_a_query_that_says_nothing_sensible_is_refused(campaign, query):
    answer = campaign.get(f"{URL}/applications?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_applications_cost_the_same_for_one_and_for_many(campaign):
    _applicant(campaign, "ann")
    one = count_round_trips(lambda: campaign.get(f"{URL}/applications"))
    for number in range(9):
        _applicant(campaign, f"number-{number}")

    assert count_round_trips(lambda: campaign.get(f"{URL}/applications")) == one


@pytest.mark.parametrize("role", ["Owner", "Viewer"])
def test_a_person_at_the_dashboard_sees_the_application_and_a_key_does_not(campaign, role):
    affiliate_id = _applicant(campaign, application_data={"website": "ben.example"})
    _applicant(campaign, "ann", application_data=None)
    person = campaign.person(role)

    for path in (f"{URL}/{affiliate_id}", URL, f"{URL}/applications"):
        assert b"applicationData" not in campaign.get(path).data, path
        assert b"ben.example" in person.get(path).data, path
    assert person.get(f"{URL}/{affiliate_id}").json["applicationData"] == {"website": "ben.example"}
    assert person.get(f"{URL}/applications").json[0]["applicationData"] is None


def test_nobody_is_shown_accounts_and_payout_details(campaign):
    affiliate_id = _applicant(campaign, wallet_email="pay@ben.example")

    for caller in (campaign, campaign.person("Owner")):
        answer = caller.get(f"{URL}/{affiliate_id}")

        assert b"pay@ben.example" not in answer.data
        assert not {"authUserId", "accountId", "walletEmail", "taxFormStatus", "payoutAccountId"} & set(answer.json)

"""Operator review of programs before they are listed in the creator network. Source: core spec, rule 5 of programs."""

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.payouts import UNKNOWN_ID
from tests.support.api.terms import PROGRAMS, change_program
from tests.support.outside.console import Console, list_audit_entries
from tests.support.rows.brands import Brand

_TEXTS = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
_LISTING = {"networkVisibility": "Networked", "category": "Software"}


@pytest.fixture
def funded_brand(app):
    """A brand that may list programs."""
    brand = Brand.create(app)
    brand.set(bankBalanceCents="1")
    return brand


def _request_listing(funded_brand, **fields):
    answer = funded_brand.post(PROGRAMS, _TEXTS | _LISTING | fields)
    assert answer.status_code == 201, answer.json
    return answer.json["id"]


def _get_review_status(funded_brand, program_id):
    program = funded_brand.get(f"{PROGRAMS}/{program_id}").json
    review = program["networkReview"]
    return program["networkVisibility"], review and (
        review["status"],
        review["reason"],
        review["decidedAt"] is not None,
    )


def _list_emails(funded_brand):
    return funded_brand.rows("select recipient, subject from mail_message where kind = 'program.network_review'")


def test_listing_needs_an_approved_review(console, funded_brand):
    program_id = _request_listing(funded_brand, description="Tea & <b>cakes</b>", termsUrl="https://tea.example/terms")
    assert _get_review_status(funded_brand, program_id) == ("Networked", ("Pending", None, False))
    (review,) = [item for item in console.get("network", take=200)["items"] if item["programId"] == program_id]
    assert review == console.get(f"network/{program_id}")
    assert (review["description"], review["termsUrl"]) == ("Tea & <b>cakes</b>", "https://tea.example/terms")
    assert (review["status"], review["mayList"], review["terms"]) == ("Pending", True, "20 % of each payment.")

    before = console.get("attention")["networkReviews"]
    approved = console.post(f"network/{program_id}/approve", {"askedAt": review["askedAt"]})

    assert (approved.status_code, approved.json["status"]) == (200, "Approved")
    assert approved.json["decidedBy"] == "ops@example.com"
    assert console.get("attention")["networkReviews"] == before - 1
    assert _get_review_status(funded_brand, program_id) == ("Networked", ("Approved", None, True))
    ((actor, actor_label, organization_id, after),) = list_audit_entries("program.network_approved", program_id)
    assert (actor, actor_label, organization_id, after["why"]) == ("operator", "ops@example.com", funded_brand.id, None)
    assert _list_emails(funded_brand) == [("owner@example.com", "Your program Spring is now listed in the network")]
    # The brand does not learn who decided.
    assert "ops@example.com" not in funded_brand.get(f"{PROGRAMS}/{program_id}").get_data(as_text=True)


def test_rejected_program_is_private_until_requested_again(console, funded_brand):
    program_id = _request_listing(funded_brand)
    rejected = console.post(f"network/{program_id}/reject", {"why": "Say <what> it pays for."})

    assert (rejected.status_code, rejected.json["status"]) == (200, "Rejected")
    assert _get_review_status(funded_brand, program_id) == ("Private", ("Rejected", "Say <what> it pays for.", True))
    assert list_audit_entries("program.network_rejected", program_id)[0][3]["why"] == "Say <what> it pays for."
    assert _list_emails(funded_brand) == [("owner@example.com", "Your program Spring is not listed in the network")]
    assert program_id in [item["programId"] for item in console.get("network", status="Rejected", take=200)["items"]]

    change_program(funded_brand, program_id, description="20 % of every cake")
    assert _get_review_status(funded_brand, program_id)[1][0] == "Rejected"
    change_program(funded_brand, program_id, networkVisibility="Networked")
    assert _get_review_status(funded_brand, program_id) == ("Networked", ("Pending", None, False))
    assert console.post(f"network/{program_id}/approve", {"why": "Better."}).status_code == 200
    assert _get_review_status(funded_brand, program_id) == ("Networked", ("Approved", "Better.", True))


def test_changed_texts_need_a_new_review_and_changed_terms_do_not(console, funded_brand):
    program_id = _request_listing(funded_brand, description="Tea")
    console.post(f"network/{program_id}/approve", {})
    for fields in (
        {"name": " SPRING "},
        {"description": "tea\n"},
        {"defaultCommissionValue": 10},
        {"category": "Food"},
        {"cookieWindowDays": 7},
        {"networkVisibility": "Networked"},
        {"autoApprove": True},
    ):
        assert change_program(funded_brand, program_id, **fields).status_code == 200, fields
        assert _get_review_status(funded_brand, program_id)[1][0] == "Approved", fields
    for fields in (
        {"name": "Summer"},
        {"description": "Coffee"},
        {"description": None},
        {"termsUrl": "https://tea.example/terms"},
        {"referralDestinationUrl": "https://tea.example"},
    ):
        change_program(funded_brand, program_id, **fields)
        assert _get_review_status(funded_brand, program_id) == ("Networked", ("Pending", None, False)), fields
        assert console.post(f"network/{program_id}/approve", {}).status_code == 200, fields


def test_withdrawn_listing_or_click_reward_ends_the_review(console, funded_brand):
    first, second = _request_listing(funded_brand), _request_listing(funded_brand)
    console.post(f"network/{second}/approve", {})
    assert change_program(funded_brand, first, networkVisibility="InviteOnly").json["networkReview"] is None
    assert change_program(funded_brand, second, clickRewardCents=5).json["networkVisibility"] == "InviteOnly"
    for program_id in (first, second):
        assert funded_brand.get(f"{PROGRAMS}/{program_id}").json["networkReview"] is None
        assert console.call("GET", f"network/{program_id}").status_code == 404
        assert console.post(f"network/{program_id}/approve", {}).status_code == 409


def test_request_without_plan_or_funding_is_saved_as_private(console, funded_brand, app):
    program_id = _request_listing(funded_brand)
    console.post(f"network/{program_id}/approve", {})
    free = funded_brand.person()
    for loss, recovery in (
        ({"status": "Canceled"}, {"status": "Active"}),
        ({"status": "Trialing"}, {"status": "Active"}),
        ({"plan": "Free"}, {"plan": "Growth"}),
        ({"bankBalanceCents": "0"}, {"bankBalanceCents": "1"}),
        ({"fundingFrozen": "on"}, {"fundingFrozen": "off"}),
    ):
        funded_brand.set(**loss)
        created = free.post(PROGRAMS, _TEXTS | _LISTING)
        assert (created.status_code, created.json["networkVisibility"], created.json["networkReview"]) == (
            201,
            "Private",
            None,
        ), loss
        requested = change_program(free, created.json["id"], networkVisibility="Networked")
        assert (requested.status_code, requested.json["networkVisibility"]) == (200, "Private"), loss
        unchanged = change_program(free, program_id, networkVisibility="Networked", budgetCents=7)
        assert unchanged.json["networkVisibility"] == "Networked", loss
        assert console.get(f"network/{program_id}")["mayList"] is False, loss
        funded_brand.set(**recovery)
    assert _get_review_status(funded_brand, program_id) == ("Networked", ("Approved", None, True))


def test_concurrent_decisions_decide_once(app, funded_brand):
    for program_id in (_request_listing(funded_brand), _request_listing(funded_brand), _request_listing(funded_brand)):
        first, second = (Console(app, email=f"{who}@example.com") for who in ("nora", "otto"))
        answers = run_concurrently(
            lambda first=first, program_id=program_id: first.post(f"network/{program_id}/approve", {}),
            lambda second=second, program_id=program_id: second.post(f"network/{program_id}/reject", {"why": "no"}),
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        refused = next(answer for answer in answers if answer.status_code == 409)
        assert refused.json["error"] == "invalid_status_transition"
        decided = list_audit_entries("program.network_approved", program_id) + list_audit_entries(
            "program.network_rejected", program_id
        )
        assert len(decided) == 1
    assert len(_list_emails(funded_brand)) == 3


def test_stale_decision_returns_409(console, funded_brand):
    program_id = _request_listing(funded_brand)
    seen = console.get(f"network/{program_id}")["askedAt"]
    change_program(funded_brand, program_id, name="Cheap watches")

    for act in ("approve", "reject"):
        answer = console.post(f"network/{program_id}/{act}", {"why": "w", "askedAt": seen})
        assert (answer.status_code, answer.json["error"]) == (409, "network_request_changed")
    assert _get_review_status(funded_brand, program_id) == ("Networked", ("Pending", None, False))
    # A repeated idempotency key is one decision.
    now = console.get(f"network/{program_id}")["askedAt"]
    repeated = [
        console.post(f"network/{program_id}/reject", {"why": "w", "askedAt": now}, Idempotency_Key="k")
        for _ in range(2)
    ]
    assert [answer.status_code for answer in repeated] == [200, 200]
    assert len(_list_emails(funded_brand)) == 1


def test_approval_can_be_revoked(console, funded_brand):
    program_id = _request_listing(funded_brand)
    early = console.post(f"network/{program_id}/revoke", {"why": "w"})
    console.post(f"network/{program_id}/approve", {})
    revoked = console.post(f"network/{program_id}/revoke", {"why": "Complaints."})

    assert (early.status_code, early.json["error"]) == (409, "invalid_status_transition")
    assert (revoked.status_code, revoked.json["status"]) == (200, "Rejected")
    assert _get_review_status(funded_brand, program_id) == ("Private", ("Rejected", "Complaints.", True))
    assert console.post(f"network/{program_id}/revoke", {"why": "w"}).status_code == 409


def test_archived_program_cannot_be_decided(console, funded_brand):
    program_id = _request_listing(funded_brand)
    assert funded_brand.call("DELETE", f"{PROGRAMS}/{program_id}").status_code == 204

    assert program_id not in [item["programId"] for item in console.get("network", take=200)["items"]]
    for act in ("approve", "reject", "revoke"):
        assert console.post(f"network/{program_id}/{act}", {"why": "w"}).status_code in (404, 409), act


def test_malformed_decision_changes_nothing(console, funded_brand):
    program_id = _request_listing(funded_brand)
    for act in ("reject", "revoke"):
        for why in (None, "", " \n", "a\x00b", "x" * 1_001, 7, ["w"]):
            assert console.post(f"network/{program_id}/{act}", {"why": why}).status_code == 400, (act, why)
    for body in ({"askedAt": "soon"}, {"askedAt": 7}, {"why": "x" * 1_001}, [], None):
        assert console.post(f"network/{program_id}/approve", body).status_code == 400, body
    for act in ("approve", "reject", "revoke"):
        for unknown_id in (UNKNOWN_ID, "none", str(funded_brand.program())):
            assert console.post(f"network/{unknown_id}/{act}", {"why": "w"}).status_code in (404, 409), (
                act,
                unknown_id,
            )
    for query in ("status=Gone", "status=", "cursor=x", "cursor=%00", "take=0"):
        assert console.call("GET", f"network?{query}").status_code == 400, query
    assert _get_review_status(funded_brand, program_id) == ("Networked", ("Pending", None, False))
    for field, value in (("category", "Nothing"), ("category", 7), ("networkVisibility", "networked")):
        assert change_program(funded_brand, program_id, **{field: value}).status_code == 400, field
    assert change_program(funded_brand, program_id, category=None).json["category"] is None


def test_reviews_are_listed_in_the_order_of_their_requests(console, funded_brand):
    program_ids = [_request_listing(funded_brand) for _ in range(3)]
    change_program(funded_brand, program_ids[0], description="Asked last")

    seen, cursor = [], ""
    while cursor is not None:
        page = console.get("network", take=2, **({"cursor": cursor} if cursor else {}))
        seen += [item["programId"] for item in page["items"]]
        cursor = page["nextCursor"]
    assert [item for item in seen if item in program_ids] == [program_ids[1], program_ids[2], program_ids[0]]
    assert len(seen) == len({*seen})

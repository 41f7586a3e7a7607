"""Who may stand in the creator network is looked at by an operator first. Source: core spec, rule 5 of programs."""

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.payouts import NOBODY
from tests.support.api.terms import PROGRAMS, change_program
from tests.support.outside.console import Console, list_audit_entries
from tests.support.rows.brands import Brand

_WORDS = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
_AT_ONCE = {"networkVisibility": "Networked", "category": "Software"}


@pytest.fixture
def funded(app):
    """A brand that has what listing needs."""
    made = Brand.create(app)
    made.set(bankBalanceCents="1")
    return made


def _asked(funded, **fields):
    answer = funded.post(PROGRAMS, _WORDS | _AT_ONCE | fields)
    assert answer.status_code == 201, answer.json
    return answer.json["id"]


def _standing(funded, program_id):
    shown = funded.get(f"{PROGRAMS}/{program_id}").json
    review = shown["networkReview"]
    return shown["networkVisibility"], review and (review["status"], review["reason"], review["decidedAt"] is not None)


def _letters(funded):
    return funded.rows("select recipient, subject from mail_message where kind = 'program.network_review'")


def test_listing_waits_for_a_review_that_lists_it(console, funded):
    program_id = _asked(funded, description="Tea & <b>cakes</b>", termsUrl="https://tea.example/terms")
    assert _standing(funded, program_id) == ("Networked", ("Pending", None, False))
    (waits,) = [one for one in console.get("network", take=200)["items"] if one["programId"] == program_id]
    assert waits == console.get(f"network/{program_id}")
    assert (waits["description"], waits["termsUrl"]) == ("Tea & <b>cakes</b>", "https://tea.example/terms")
    assert (waits["status"], waits["mayList"], waits["terms"]) == ("Pending", True, "20 % of each payment.")

    before = console.get("attention")["networkReviews"]
    approved = console.post(f"network/{program_id}/approve", {"askedAt": waits["askedAt"]})

    assert (approved.status_code, approved.json["status"]) == (200, "Approved")
    assert approved.json["decidedBy"] == "ops@example.com"
    assert console.get("attention")["networkReviews"] == before - 1
    assert _standing(funded, program_id) == ("Networked", ("Approved", None, True))
    ((actor, who, where, after),) = list_audit_entries("program.network_approved", program_id)
    assert (actor, who, where, after["why"]) == ("operator", "ops@example.com", funded.id, None)
    assert _letters(funded) == [("owner@example.com", "Spring is in the network")]
    # Who decides is nothing that the brand is told.
    assert "ops@example.com" not in funded.get(f"{PROGRAMS}/{program_id}").get_data(as_text=True)


def test_a_rejected_program_is_private_until_its_brand_asks_again(console, funded):
    program_id = _asked(funded)
    rejected = console.post(f"network/{program_id}/reject", {"why": "Say <what> it pays for."})

    assert (rejected.status_code, rejected.json["status"]) == (200, "Rejected")
    assert _standing(funded, program_id) == ("Private", ("Rejected", "Say <what> it pays for.", True))
    assert list_audit_entries("program.network_rejected", program_id)[0][3]["why"] == "Say <what> it pays for."
    assert _letters(funded) == [("owner@example.com", "Spring is not listed in the network")]
    assert program_id in [one["programId"] for one in console.get("network", status="Rejected", take=200)["items"]]

    change_program(funded, program_id, description="20 % of every cake")
    assert _standing(funded, program_id)[1][0] == "Rejected"
    change_program(funded, program_id, networkVisibility="Networked")
    assert _standing(funded, program_id) == ("Networked", ("Pending", None, False))
    assert console.post(f"network/{program_id}/approve", {"why": "Better."}).status_code == 200
    assert _standing(funded, program_id) == ("Networked", ("Approved", "Better.", True))


def test_other_words_are_reviewed_again_and_other_terms_are_not(console, funded):
    program_id = _asked(funded, description="Tea")
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
        assert change_program(funded, program_id, **fields).status_code == 200, fields
        assert _standing(funded, program_id)[1][0] == "Approved", fields
    for fields in (
        {"name": "Summer"},
        {"description": "Coffee"},
        {"description": None},
        {"termsUrl": "https://tea.example/terms"},
        {"referralDestinationUrl": "https://tea.example"},
    ):
        change_program(funded, program_id, **fields)
        assert _standing(funded, program_id) == ("Networked", ("Pending", None, False)), fields
        assert console.post(f"network/{program_id}/approve", {}).status_code == 200, fields


def test_who_takes_a_listing_back_waits_for_nothing_and_a_click_reward_does_that_too(console, funded):
    first, second = _asked(funded), _asked(funded)
    console.post(f"network/{second}/approve", {})
    assert change_program(funded, first, networkVisibility="InviteOnly").json["networkReview"] is None
    assert change_program(funded, second, clickRewardCents=5).json["networkVisibility"] == "InviteOnly"
    for program_id in (first, second):
        assert funded.get(f"{PROGRAMS}/{program_id}").json["networkReview"] is None
        assert console.call("GET", f"network/{program_id}").status_code == 404
        assert console.post(f"network/{program_id}/approve", {}).status_code == 409


def test_without_plan_or_funding_a_request_is_saved_as_private_and_a_listing_stays(console, funded, app):
    program_id = _asked(funded)
    console.post(f"network/{program_id}/approve", {})
    free = funded.person()
    for lapse, back in (
        ({"status": "Canceled"}, {"status": "Active"}),
        ({"status": "Trialing"}, {"status": "Active"}),
        ({"plan": "Free"}, {"plan": "Growth"}),
        ({"bankBalanceCents": "0"}, {"bankBalanceCents": "1"}),
        ({"fundingFrozen": "on"}, {"fundingFrozen": "off"}),
    ):
        funded.set(**lapse)
        made = free.post(PROGRAMS, _WORDS | _AT_ONCE)
        assert (made.status_code, made.json["networkVisibility"], made.json["networkReview"]) == (
            201,
            "Private",
            None,
        ), lapse
        asked = change_program(free, made.json["id"], networkVisibility="Networked")
        assert (asked.status_code, asked.json["networkVisibility"]) == (200, "Private"), lapse
        kept = change_program(free, program_id, networkVisibility="Networked", budgetCents=7)
        assert kept.json["networkVisibility"] == "Networked", lapse
        assert console.get(f"network/{program_id}")["mayList"] is False, lapse
        funded.set(**back)
    assert _standing(funded, program_id) == ("Networked", ("Approved", None, True))


def test_two_operators_at_once_decide_it_once(app, funded):
    for program_id in (_asked(funded), _asked(funded), _asked(funded)):
        one, other = (Console(app, email=f"{who}@example.com") for who in ("nora", "otto"))
        answers = run_concurrently(
            lambda one=one, program_id=program_id: one.post(f"network/{program_id}/approve", {}),
            lambda other=other, program_id=program_id: other.post(f"network/{program_id}/reject", {"why": "no"}),
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        refused = next(answer for answer in answers if answer.status_code == 409)
        assert refused.json["error"] == "invalid_status_transition"
        decided = list_audit_entries("program.network_approved", program_id) + list_audit_entries(
            "program.network_rejected", program_id
        )
        assert len(decided) == 1
    assert len(_letters(funded)) == 3


def test_what_was_not_looked_at_is_not_decided(console, funded):
    program_id = _asked(funded)
    seen = console.get(f"network/{program_id}")["askedAt"]
    change_program(funded, program_id, name="Cheap watches")

    for act in ("approve", "reject"):
        answer = console.post(f"network/{program_id}/{act}", {"why": "w", "askedAt": seen})
        assert (answer.status_code, answer.json["error"]) == (409, "network_request_changed")
    assert _standing(funded, program_id) == ("Networked", ("Pending", None, False))
    # The same press twice is one decision, and gets one answer.
    now = console.get(f"network/{program_id}")["askedAt"]
    twice = [
        console.post(f"network/{program_id}/reject", {"why": "w", "askedAt": now}, Idempotency_Key="k")
        for _ in range(2)
    ]
    assert [answer.status_code for answer in twice] == [200, 200]
    assert len(_letters(funded)) == 1


def test_an_approval_is_taken_back(console, funded):
    program_id = _asked(funded)
    early = console.post(f"network/{program_id}/revoke", {"why": "w"})
    console.post(f"network/{program_id}/approve", {})
    revoked = console.post(f"network/{program_id}/revoke", {"why": "Complaints."})

    assert (early.status_code, early.json["error"]) == (409, "invalid_status_transition")
    assert (revoked.status_code, revoked.json["status"]) == (200, "Rejected")
    assert _standing(funded, program_id) == ("Private", ("Rejected", "Complaints.", True))
    assert console.post(f"network/{program_id}/revoke", {"why": "w"}).status_code == 409


def test_an_archived_program_has_nothing_to_decide(console, funded):
    program_id = _asked(funded)
    assert funded.call("DELETE", f"{PROGRAMS}/{program_id}").status_code == 204

    assert program_id not in [one["programId"] for one in console.get("network", take=200)["items"]]
    for act in ("approve", "reject", "revoke"):
        assert console.post(f"network/{program_id}/{act}", {"why": "w"}).status_code in (404, 409), act


def test_what_is_sent_wrongly_decides_nothing(console, funded):
    program_id = _asked(funded)
    for act in ("reject", "revoke"):
        for why in (None, "", " \n", "a\x00b", "x" * 1_001, 7, ["w"]):
            assert console.post(f"network/{program_id}/{act}", {"why": why}).status_code == 400, (act, why)
    for body in ({"askedAt": "soon"}, {"askedAt": 7}, {"why": "x" * 1_001}, [], None):
        assert console.post(f"network/{program_id}/approve", body).status_code == 400, body
    for act in ("approve", "reject", "revoke"):
        for nobody in (NOBODY, "none", str(funded.program())):
            assert console.post(f"network/{nobody}/{act}", {"why": "w"}).status_code in (404, 409), (act, nobody)
    for query in ("status=Gone", "status=", "cursor=x", "cursor=%00", "take=0"):
        assert console.call("GET", f"network?{query}").status_code == 400, query
    assert _standing(funded, program_id) == ("Networked", ("Pending", None, False))
    for field, value in (("category", "Nothing"), ("category", 7), ("networkVisibility", "networked")):
        assert change_program(funded, program_id, **{field: value}).status_code == 400, field
    assert change_program(funded, program_id, category=None).json["category"] is None


def test_reviews_are_listed_in_the_order_in_which_they_were_asked(console, funded):
    mine = [_asked(funded) for _ in range(3)]
    change_program(funded, mine[0], description="Asked last")

    seen, cursor = [], ""
    while cursor is not None:
        page = console.get("network", take=2, **({"cursor": cursor} if cursor else {}))
        seen += [one["programId"] for one in page["items"]]
        cursor = page["nextCursor"]
    assert [one for one in seen if one in mine] == [mine[1], mine[2], mine[0]]
    assert len(seen) == len({*seen})

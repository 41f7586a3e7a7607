"""A deal from its draft to an answer: who may see it, who may do what, and in which turn."""

from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Partner
from tests.support.rows.deal_scene import OWN, URL

_NOBODY = "01890000-0000-7000-8000-000000000000"


def _codes(answers):
    return sorted(answer.status_code for answer in answers)


def test_a_deal_is_drafted_with_its_milestones(dealing):
    body = dealing.body(
        title="Winter video",
        currency="eur",
        milestones=[
            {"title": "First draft", "amountCents": 30_000, "dueAt": "2027-01-31T12:00:00+01:00"},
            {"title": "Final cut", "amountCents": 1},
        ],
    )

    answer = dealing.owner.post(URL, body)

    assert answer.status_code == 201
    made = answer.json
    assert {
        name: made[name] for name in ("affiliateId", "programId", "title", "currency", "status", "escrowCents")
    } == {
        "affiliateId": str(dealing.affiliate_id),
        "programId": str(dealing.program_id),
        "title": "Winter video",
        "currency": "EUR",
        "status": "Draft",
        "escrowCents": 0,
    }
    assert [(one["seq"], one["title"], one["amountCents"], one["dueAt"]) for one in made["milestones"]] == [
        (1, "First draft", 30_000, "2027-01-31T11:00:00.000Z"),
        (2, "Final cut", 1, None),
    ]
    assert {(one["status"], one["autoReleaseAt"], str(one["submissionUrls"])) for one in made["milestones"]} == {
        ("Pending", None, "[]")
    }
    assert dealing.get_deal(made["id"]) == made


def test_an_offer_is_accepted(dealing):
    deal_id = dealing.draft()

    assert dealing.act(deal_id, "offer").json["status"] == "Offered"
    assert dealing.creator.get(f"{OWN}/{deal_id}").json["status"] == "Offered"
    assert dealing.act(deal_id, "accept", who=dealing.creator).json["status"] == "Accepted"
    assert dealing.get_deal(deal_id)["status"] == "Accepted"


def test_an_offer_is_declined_for_good(dealing):
    deal_id = dealing.create_offered()

    assert dealing.act(deal_id, "decline", who=dealing.creator).json["status"] == "Declined"

    for verb, who in (("accept", dealing.creator), ("decline", dealing.creator), ("offer", None), ("cancel", None)):
        refused = dealing.act(deal_id, verb, who=who)
        assert (refused.status_code, refused.json["error"]) == (409, "invalid_status_transition")


@pytest.mark.parametrize("stage", ["draft", "create_offered", "create_accepted"])
def test_a_deal_is_cancelled_before_its_money_came(dealing, stage):
    deal_id = getattr(dealing, stage)()

    assert dealing.act(deal_id, "cancel").json["status"] == "Cancelled"
    assert dealing.act(deal_id, "cancel").status_code == 409


def test_an_affiliate_sees_offers_and_no_drafts(dealing):
    draft, offer = dealing.draft(), dealing.create_offered()

    listed = dealing.creator.get(OWN).json

    assert [one["id"] for one in listed["items"]] == [offer]
    assert (listed["nextCursor"], listed["hasMore"]) == (None, False)
    assert dealing.creator.get(f"{OWN}/{draft}").status_code == 404
    assert dealing.act(draft, "accept", who=dealing.creator).status_code == 404
    assert "takeCents" not in listed["items"][0]


def test_what_is_somebody_elses_is_not_there(dealing, rival, app):
    deal_id = dealing.create_offered()
    stranger = Partner(app, f"eve-{uuid4().hex}@example.com")
    unverified = Partner(app, "cleo@example.com", is_email_verified=False)

    for person in (stranger, unverified):
        assert person.get(OWN).json["items"] == []
        assert person.get(f"{OWN}/{deal_id}").status_code == 404
        assert person.post(f"{OWN}/{deal_id}/accept").status_code == 404
    for verb in ("offer", "cancel"):
        answer = rival.post(f"{URL}/{deal_id}/{verb}")
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.get(f"{URL}/{deal_id}").status_code == 404
    assert rival.get(URL).json["items"] == []


@pytest.mark.parametrize("wanted", [_NOBODY, "nope", "%00", "0" * 500])
def test_what_is_not_there_is_404(dealing, wanted):
    assert dealing.owner.get(f"{URL}/{wanted}").status_code == 404
    assert dealing.owner.post(f"{URL}/{wanted}/offer").status_code == 404
    assert dealing.creator.get(f"{OWN}/{wanted}").status_code == 404
    assert dealing.creator.post(f"{OWN}/{wanted}/accept").status_code == 404


def test_another_tenants_program_or_affiliate_makes_no_deal(dealing, rival):
    theirs = rival.program()
    body = dealing.body()

    for fields in ({"programId": str(theirs)}, {"affiliateId": str(rival.affiliate("eve"))}):
        answer = dealing.owner.post(URL, body | fields)
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert dealing.owner.get(URL).json["items"] == []


def test_an_affiliate_of_another_program_makes_no_deal(dealing):
    answer = dealing.owner.post(URL, dealing.body(programId=str(dealing.brand.program())))

    assert (answer.status_code, answer.json["error"]) == (400, "affiliate_not_in_program")


@pytest.mark.parametrize(
    ("columns", "status", "code"),
    [
        ({"is_test": True}, 400, "test_affiliate_not_allowed"),
        ({"status": "Paused"}, 409, "affiliate_not_approved"),
    ],
)
def test_who_is_not_paid_is_offered_nothing(dealing, columns, status, code):
    affiliate_id = dealing.brand.affiliate("dan", **columns)

    answer = dealing.owner.post(URL, dealing.body(affiliateId=str(affiliate_id)))

    assert (answer.status_code, answer.json["error"]) == (status, code)


_MILESTONE = {"title": "Part", "amountCents": 100}


@pytest.mark.parametrize(
    "fields",
    [
        {"title": ""},
        {"title": "  "},
        {"title": 7},
        {"title": "a\x00b"},
        {"title": "x" * 201},
        {"title": ...},
        {"currency": ...},
        {"currency": None},
        {"currency": " "},
        {"affiliateId": "nope"},
        {"affiliateId": ...},
        {"programId": 7},
        {"milestones": ...},
        {"milestones": []},
        {"milestones": {}},
        {"milestones": [7]},
        {"milestones": [None]},
        {"milestones": [{"title": "Part"}]},
        {"milestones": [{"amountCents": 100}]},
        {"milestones": [_MILESTONE | {"amountCents": "100"}]},
        {"milestones": [_MILESTONE | {"amountCents": 1.5}]},
        {"milestones": [_MILESTONE | {"amountCents": True}]},
        {"milestones": [_MILESTONE | {"amountCents": None}]},
        {"milestones": [_MILESTONE | {"dueAt": "soon"}]},
        {"milestones": [_MILESTONE] * 51},
    ],
)
def test_a_malformed_draft_is_a_problem_and_writes_nothing(dealing, fields):
    body = {name: value for name, value in (dealing.body() | fields).items() if value is not ...}

    answer = dealing.owner.post(URL, body)

    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert dealing.owner.get(URL).json["items"] == []


@pytest.mark.parametrize("cents", [[0], [-1], [10**12 + 1], [2**80], [10**12, 1]])
def test_an_amount_has_bounds(dealing, cents):
    answer = dealing.owner.post(URL, dealing.body(*cents))

    assert (answer.status_code, answer.json["error"]) == (400, "amount_out_of_range")


def test_a_currency_has_to_be_supported(dealing):
    answer = dealing.owner.post(URL, dealing.body(currency="EURO"))

    assert (answer.status_code, answer.json["error"], answer.json["currency"]) == (400, "unsupported_currency", "EURO")


def test_words_of_any_script_are_kept(dealing):
    title = "動画 🎬 ‏وصف"

    assert dealing.get_deal(dealing.draft(title=title))["title"] == title


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"title": 1, "title": 2}', b"\xff", b"[" * 9_000])
def test_what_is_no_object_is_a_problem(dealing, raw):
    assert dealing.owner.post(URL, raw).status_code == 400


def test_deals_are_paged_newest_first_and_narrowed(dealing):
    first, second = dealing.draft(), dealing.create_offered()

    page = dealing.owner.get(f"{URL}?take=1").json
    rest = dealing.owner.get(f"{URL}?take=1&cursor={page['nextCursor']}").json

    assert ([one["id"] for one in page["items"]], page["hasMore"]) == ([second], True)
    assert ([one["id"] for one in rest["items"]], rest["hasMore"], rest["nextCursor"]) == ([first], False, None)
    assert [one["id"] for one in dealing.owner.get(f"{URL}?status=Draft").json["items"]] == [first]
    assert len(dealing.owner.get(f"{URL}?affiliateId={dealing.affiliate_id}").json["items"]) == 2
    assert dealing.owner.get(f"{URL}?programId={_NOBODY}").json["items"] == []
    assert dealing.owner.get(f"{URL}?status=draft").status_code == 400


def test_own_deals_are_paged(dealing):
    first, second = dealing.create_offered(), dealing.create_offered()

    page = dealing.creator.get(f"{OWN}?take=1").json
    rest = dealing.creator.get(f"{OWN}?take=1&cursor={page['nextCursor']}").json

    assert [one["id"] for one in page["items"] + rest["items"]] == [second, first]


def test_two_answers_at_once_are_one(dealing):
    deal_id = dealing.create_offered()

    answers = run_concurrently(
        lambda: dealing.act(deal_id, "accept", who=dealing.creator),
        lambda: dealing.act(deal_id, "decline", who=dealing.creator),
        lambda: dealing.act(deal_id, "cancel"),
    )

    assert _codes(answers).count(200) >= 1
    assert dealing.get_deal(deal_id)["status"] in ("Accepted", "Declined", "Cancelled")
    # An offer that was accepted may be cancelled after it; nothing else follows on anything.
    assert _codes(answers) in ([200, 409, 409], [200, 200, 409])


def test_an_idempotency_key_drafts_once(dealing):
    answers = [dealing.owner.post(URL, dealing.body(), Idempotency_Key="k-1") for _ in range(2)]

    assert answers[0].json == answers[1].json
    assert len(dealing.owner.get(URL).json["items"]) == 1


def test_a_viewer_reads_and_does_not_write(dealing):
    viewer, deal_id = dealing.brand.person("Viewer"), dealing.draft()

    assert viewer.get(f"{URL}/{deal_id}").status_code == 200
    assert viewer.post(URL, dealing.body()).status_code == 403
    assert viewer.post(f"{URL}/{deal_id}/offer").status_code == 403


def test_a_read_key_reads_and_does_not_write(dealing):
    key = dealing.brand.other_key(scope="read")

    assert key.get(URL).status_code == 200
    assert key.post(URL, dealing.body()).status_code == 403


def test_a_plan_without_deals_is_402(dealing):
    dealing.brand.set(plan="Free", status="Canceled")

    answer = dealing.brand.other_key().get(URL)

    assert (answer.status_code, answer.json["error"]) == (402, "plan_tier_required")


def test_both_sides_leave_audit_entries(dealing):
    deal_id = dealing.create_accepted()

    rows = dealing.brand.rows(
        "select action, actor_type, after->>'status' from audit_entry where entity_id = %s order by created_at, id",
        deal_id,
    )

    assert rows == [
        ("deal.created", "member", "Draft"),
        ("deal.offered", "member", "Offered"),
        ("deal.accepted", "affiliate", "Accepted"),
    ]

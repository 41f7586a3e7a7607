"""A deal from draft to acceptance: access, permissions and the order of its steps."""

from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Partner
from tests.support.rows.deal_scene import OWN, URL

_UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def _sort_statuses(answers):
    return sorted(answer.status_code for answer in answers)


def test_drafting_returns_the_deal_with_its_milestones(scene):
    body = scene.body(
        title="Winter video",
        currency="eur",
        milestones=[
            {"title": "First draft", "amountCents": 30_000, "dueAt": "2027-01-31T12:00:00+01:00"},
            {"title": "Final cut", "amountCents": 1},
        ],
    )

    answer = scene.owner.post(URL, body)

    assert answer.status_code == 201
    deal = answer.json
    assert {
        name: deal[name] for name in ("affiliateId", "programId", "title", "currency", "status", "escrowCents")
    } == {
        "affiliateId": str(scene.affiliate_id),
        "programId": str(scene.program_id),
        "title": "Winter video",
        "currency": "EUR",
        "status": "Draft",
        "escrowCents": 0,
    }
    milestones = deal["milestones"]
    assert [(row["seq"], row["title"], row["amountCents"], row["dueAt"]) for row in milestones] == [
        (1, "First draft", 30_000, "2027-01-31T11:00:00.000Z"),
        (2, "Final cut", 1, None),
    ]
    assert {(row["status"], row["autoReleaseAt"], str(row["submissionUrls"])) for row in milestones} == {
        ("Pending", None, "[]")
    }
    assert scene.get_deal(deal["id"]) == deal


def test_affiliate_can_accept_an_offer(scene):
    deal_id = scene.draft()

    assert scene.act(deal_id, "offer").json["status"] == "Offered"
    assert scene.creator.get(f"{OWN}/{deal_id}").json["status"] == "Offered"
    assert scene.act(deal_id, "accept", who=scene.creator).json["status"] == "Accepted"
    assert scene.get_deal(deal_id)["status"] == "Accepted"


def test_declined_offer_cannot_change_again(scene):
    deal_id = scene.create_offered()

    assert scene.act(deal_id, "decline", who=scene.creator).json["status"] == "Declined"

    for verb, who in (("accept", scene.creator), ("decline", scene.creator), ("offer", None), ("cancel", None)):
        refused = scene.act(deal_id, verb, who=who)
        assert (refused.status_code, refused.json["error"]) == (409, "invalid_status_transition")


@pytest.mark.parametrize("stage", ["draft", "create_offered", "create_accepted"])
def test_deal_can_be_cancelled_before_funding(scene, stage):
    deal_id = getattr(scene, stage)()

    assert scene.act(deal_id, "cancel").json["status"] == "Cancelled"
    assert scene.act(deal_id, "cancel").status_code == 409


def test_affiliate_sees_offers_but_no_drafts(scene):
    draft, offer = scene.draft(), scene.create_offered()

    listed = scene.creator.get(OWN).json

    assert [row["id"] for row in listed["items"]] == [offer]
    assert (listed["nextCursor"], listed["hasMore"]) == (None, False)
    assert scene.creator.get(f"{OWN}/{draft}").status_code == 404
    assert scene.act(draft, "accept", who=scene.creator).status_code == 404
    assert "takeCents" not in listed["items"][0]


def test_deal_of_another_affiliate_or_tenant_returns_404(scene, rival, app):
    deal_id = scene.create_offered()
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


@pytest.mark.parametrize("deal_id", [_UNKNOWN_ID, "nope", "%00", "0" * 500])
def test_unknown_deal_returns_404(scene, deal_id):
    assert scene.owner.get(f"{URL}/{deal_id}").status_code == 404
    assert scene.owner.post(f"{URL}/{deal_id}/offer").status_code == 404
    assert scene.creator.get(f"{OWN}/{deal_id}").status_code == 404
    assert scene.creator.post(f"{OWN}/{deal_id}/accept").status_code == 404


def test_program_or_affiliate_of_another_tenant_returns_404(scene, rival):
    rival_program = rival.program()
    body = scene.body()

    for fields in ({"programId": str(rival_program)}, {"affiliateId": str(rival.affiliate("eve"))}):
        answer = scene.owner.post(URL, body | fields)
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert scene.owner.get(URL).json["items"] == []


def test_affiliate_of_another_program_returns_400(scene):
    answer = scene.owner.post(URL, scene.body(programId=str(scene.brand.program())))

    assert (answer.status_code, answer.json["error"]) == (400, "affiliate_not_in_program")


@pytest.mark.parametrize(
    ("columns", "status", "code"),
    [
        ({"is_test": True}, 400, "test_affiliate_not_allowed"),
        ({"status": "Paused"}, 409, "affiliate_not_approved"),
    ],
)
def test_test_or_paused_affiliate_gets_no_deal(scene, columns, status, code):
    affiliate_id = scene.brand.affiliate("dan", **columns)

    answer = scene.owner.post(URL, scene.body(affiliateId=str(affiliate_id)))

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
def test_malformed_draft_returns_400_and_writes_nothing(scene, fields):
    body = {name: value for name, value in (scene.body() | fields).items() if value is not ...}

    answer = scene.owner.post(URL, body)

    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert scene.owner.get(URL).json["items"] == []


@pytest.mark.parametrize("cents", [[0], [-1], [10**12 + 1], [2**80], [10**12, 1]])
def test_amount_out_of_range_returns_400(scene, cents):
    answer = scene.owner.post(URL, scene.body(*cents))

    assert (answer.status_code, answer.json["error"]) == (400, "amount_out_of_range")


def test_unsupported_currency_returns_400(scene):
    answer = scene.owner.post(URL, scene.body(currency="EURO"))

    assert (answer.status_code, answer.json["error"], answer.json["currency"]) == (400, "unsupported_currency", "EURO")


def test_title_in_any_script_is_stored(scene):
    title = "動画 🎬 ‏وصف"

    assert scene.get_deal(scene.draft(title=title))["title"] == title


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"title": 1, "title": 2}', b"\xff", b"[" * 9_000])
def test_non_object_body_returns_400(scene, raw):
    assert scene.owner.post(URL, raw).status_code == 400


def test_deals_are_listed_newest_first_with_pages_and_filters(scene):
    first, second = scene.draft(), scene.create_offered()

    page = scene.owner.get(f"{URL}?take=1").json
    rest = scene.owner.get(f"{URL}?take=1&cursor={page['nextCursor']}").json

    assert ([row["id"] for row in page["items"]], page["hasMore"]) == ([second], True)
    assert ([row["id"] for row in rest["items"]], rest["hasMore"], rest["nextCursor"]) == ([first], False, None)
    assert [row["id"] for row in scene.owner.get(f"{URL}?status=Draft").json["items"]] == [first]
    assert len(scene.owner.get(f"{URL}?affiliateId={scene.affiliate_id}").json["items"]) == 2
    assert scene.owner.get(f"{URL}?programId={_UNKNOWN_ID}").json["items"] == []
    assert scene.owner.get(f"{URL}?status=draft").status_code == 400


def test_own_deals_are_listed_in_pages(scene):
    first, second = scene.create_offered(), scene.create_offered()

    page = scene.creator.get(f"{OWN}?take=1").json
    rest = scene.creator.get(f"{OWN}?take=1&cursor={page['nextCursor']}").json

    assert [row["id"] for row in page["items"] + rest["items"]] == [second, first]


def test_concurrent_accept_and_decline_succeed_once(scene):
    deal_id = scene.create_offered()

    answers = run_concurrently(
        lambda: scene.act(deal_id, "accept", who=scene.creator),
        lambda: scene.act(deal_id, "decline", who=scene.creator),
        lambda: scene.act(deal_id, "cancel"),
    )

    assert _sort_statuses(answers).count(200) >= 1
    assert scene.get_deal(deal_id)["status"] in ("Accepted", "Declined", "Cancelled")
    # An accepted offer may then be cancelled; no other second step is allowed.
    assert _sort_statuses(answers) in ([200, 409, 409], [200, 200, 409])


def test_repeated_draft_with_an_idempotency_key_creates_one_deal(scene):
    answers = [scene.owner.post(URL, scene.body(), Idempotency_Key="k-1") for _ in range(2)]

    assert answers[0].json == answers[1].json
    assert len(scene.owner.get(URL).json["items"]) == 1


def test_viewer_can_read_but_not_write(scene):
    viewer, deal_id = scene.brand.person("Viewer"), scene.draft()

    assert viewer.get(f"{URL}/{deal_id}").status_code == 200
    assert viewer.post(URL, scene.body()).status_code == 403
    assert viewer.post(f"{URL}/{deal_id}/offer").status_code == 403


def test_read_key_can_read_but_not_write(scene):
    key = scene.brand.other_key(scope="read")

    assert key.get(URL).status_code == 200
    assert key.post(URL, scene.body()).status_code == 403


def test_plan_without_deals_returns_402(scene):
    scene.brand.set(plan="Free", status="Canceled")

    answer = scene.brand.other_key().get(URL)

    assert (answer.status_code, answer.json["error"]) == (402, "plan_tier_required")


def test_steps_of_both_sides_are_audited(scene):
    deal_id = scene.create_accepted()

    rows = scene.brand.rows(
        "select action, actor_type, after->>'status' from audit_entry where entity_id = %s order by created_at, id",
        deal_id,
    )

    assert rows == [
        ("deal.created", "member", "Draft"),
        ("deal.offered", "member", "Offered"),
        ("deal.accepted", "affiliate", "Accepted"),
    ]

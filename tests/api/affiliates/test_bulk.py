"""Bulk actions on affiliates, through HTTP. Source: core spec, "Affiliates" (bulk-action), section 3."""

from uuid import uuid4

import pytest

from models import db
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.api.lists import count_round_trips

AFFILIATES = "/api/v1/affiliates"
URL = f"{AFFILIATES}/bulk-action"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, listening to every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def _people(brand, **statuses):
    return {slug: str(brand.affiliate(slug, status=status, approved_at=None)) for slug, status in statuses.items()}


def _everybody(brand):
    return _people(brand, ann="Pending", ben="Approved", cleo="Rejected", dan="Paused", eve="Banned")


def _run(brand, action, ids):
    return brand.post(URL, {"action": action, "affiliateIds": list(ids)})


def _statuses(brand):
    return dict(brand.rows("select split_part(email, '@', 1), status from affiliate where deleted_at is null"))


def _events(brand):
    return brand.rows("select type, body::jsonb->'data'->>'affiliateId' from event")


def _audit(brand):
    return brand.rows(
        "select action, entity_id, before, after from audit_entry where action like 'affiliate.bulk%%'"
        " order by entity_id"
    )


@pytest.mark.parametrize(("action", "taken", "becomes"), [("approve", "ann", "Approved"), ("pause", "ben", "Paused")])
def test_only_who_fits_is_taken(campaign, action, taken, becomes):
    people = _everybody(campaign)
    before = _statuses(campaign)

    answer = _run(campaign, action, people.values())

    assert answer.status_code == 200
    assert answer.json == {"action": action, "affected": 1, "skipped": 4, "affiliateIds": [people[taken]]}
    assert _statuses(campaign) == before | {taken: becomes}
    assert _audit(campaign) == [
        (f"affiliate.bulk_{action.rstrip('e')}ed", people[taken], {"status": before[taken]}, {"status": becomes})
    ]


def test_an_approval_is_told_and_dated(campaign):
    people = _people(campaign, ann="Pending", ben="Pending", cleo="Approved")

    _run(campaign, "approve", people.values())

    assert sorted(_events(campaign)) == sorted(("affiliate.approved", people[slug]) for slug in ("ann", "ben"))
    assert campaign.rows("select count(*) from affiliate where approved_at is not null") == [(2,)]


def test_pausing_and_deleting_are_told_to_nobody(campaign):
    people = _everybody(campaign)

    _run(campaign, "pause", people.values())
    _run(campaign, "delete", people.values())

    assert _events(campaign) == []


def test_whoever_is_deleted_is_gone_whatever_their_status(campaign):
    people = _everybody(campaign)

    answer = _run(campaign, "delete", people.values())

    assert (answer.json["affected"], answer.json["skipped"]) == (5, 0)
    assert answer.json["affiliateIds"] == list(people.values())
    assert campaign.get(AFFILIATES).json["items"] == []
    assert campaign.get(f"{AFFILIATES}/applications").json == []
    assert {campaign.get(f"{AFFILIATES}/{affiliate_id}").status_code for affiliate_id in people.values()} == {404}
    assert campaign.rows("select count(*) from tracking_link where deleted_at is null") == [(0,)]
    assert [(action, after) for action, _, _, after in _audit(campaign)] == [
        ("affiliate.bulk_deleted", {"deleted": True})
    ] * 5


def test_who_was_deleted_earns_nothing_more_and_may_join_again(campaign, drain):
    people = _people(campaign, ben="Approved")
    campaign.sale(externalEventId="before")
    drain()

    _run(campaign, "delete", people.values())
    again = campaign.post(AFFILIATES, {"programId": str(campaign.programs[-1]), "email": "ben@example.com"})

    assert campaign.sale(externalEventId="after").status_code == 400
    assert again.status_code == 201
    assert again.json["id"] != people["ben"]
    assert campaign.rows("select sum(amount_cents)::int from ledger_entry") == [(2000,)]


@pytest.mark.parametrize("action", ["approve", "pause", "delete"])
def test_a_repeated_action_finds_nothing_to_do(campaign, action):
    people = _everybody(campaign)
    _run(campaign, action, people.values())
    audited, told = _audit(campaign), _events(campaign)

    again = _run(campaign, action, people.values())

    assert again.json == {"action": action, "affected": 0, "skipped": 5, "affiliateIds": []}
    assert (_audit(campaign), _events(campaign)) == (audited, told)


@pytest.mark.parametrize("action", ["approve", "pause", "delete"])
def test_ids_of_nobody_and_of_another_brand_are_skipped_without_a_word(campaign, rival, action):
    rival.program()
    theirs = str(rival.affiliate("ben", status="Pending"))

    answer = _run(campaign, action, [theirs, str(uuid4())])

    assert (answer.status_code, answer.json["affected"], answer.json["skipped"]) == (200, 0, 2)
    assert _statuses(rival) == {"ben": "Pending"}


def test_an_id_named_twice_counts_once(campaign):
    people = _people(campaign, ann="Pending", ben="Approved")

    answer = _run(campaign, "approve", [people["ann"], people["ann"].upper(), people["ben"], people["ben"]])

    assert (answer.json["affected"], answer.json["skipped"]) == (1, 1)
    assert len(_events(campaign)) == 1


def test_two_at_once_take_everybody_once(campaign):
    people = _people(campaign, **{f"number-{number}": "Pending" for number in range(20)})
    orders = (list(people.values()), list(people.values())[::-1])

    answers = run_concurrently(*(lambda ids=ids: _run(campaign, "approve", ids) for ids in orders))

    assert [answer.status_code for answer in answers] == [200, 200]
    assert sum(answer.json["affected"] for answer in answers) == 20
    assert len(_events(campaign)) == 20


def test_an_action_waits_for_a_change_under_way_and_says_what_it_found(campaign):
    people = _people(campaign, ann="Approved")

    with db.unit_of_work(campaign.id):
        db.db.run("update affiliate set status = 'Banned' where organization_id = %s", (campaign.id,))
        answer = start_call(lambda: _run(campaign, "delete", people.values()))

    assert answer().json["affected"] == 1
    assert [before for _, _, before, _ in _audit(campaign)] == [{"status": "Banned"}]


@pytest.mark.parametrize("action", ["approve", "pause", "delete"])
def test_many_cost_as_many_round_trips_as_one(campaign, action):
    fits = "Approved" if action == "pause" else "Pending"
    _run(campaign, action, _people(campaign, warm=fits).values())
    alone = _people(campaign, ann=fits)
    one = count_round_trips(lambda: _run(campaign, action, alone.values()))
    many = _people(campaign, **{f"number-{number}": fits for number in range(50)})

    assert count_round_trips(lambda: _run(campaign, action, many.values())) == one


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"action": "approve"}, "affiliateIds"),
        ({"action": "approve", "affiliateIds": []}, "affiliateIds"),
        ({"action": "approve", "affiliateIds": None}, "affiliateIds"),
        ({"action": "approve", "affiliateIds": "all"}, "affiliateIds"),
        ({"action": "approve", "affiliateIds": ["x"]}, "affiliateIds"),
        ({"action": "approve", "affiliateIds": [10**18]}, "affiliateIds"),
        ({"action": "approve", "affiliateIds": [str(uuid4()) for _ in range(201)]}, "affiliateIds"),
        ({"affiliateIds": [str(uuid4())]}, "action"),
        ({"action": "ban", "affiliateIds": [str(uuid4())]}, "action"),
        ({"action": "Approve", "affiliateIds": [str(uuid4())]}, "action"),
        ({"action": None, "affiliateIds": [str(uuid4())]}, "action"),
    ],
)
def test_a_malformed_action_is_named_in_problem_details(campaign, body, named):
    answer = campaign.post(URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [named]


def test_two_hundred_ids_are_taken(campaign):
    assert _run(campaign, "approve", [str(uuid4()) for _ in range(200)]).json["skipped"] == 200


def test_a_repeated_request_with_a_key_gets_the_first_answer(campaign):
    body = {"action": "approve", "affiliateIds": list(_people(campaign, ann="Pending").values())}

    first = campaign.post(URL, body, Idempotency_Key="once")

    assert campaign.post(URL, body, Idempotency_Key="once").json == first.json
    assert first.json["affected"] == 1


@pytest.mark.parametrize(("action", "taken"), [("approve", "ann"), ("pause", "ben")])
def test_a_person_at_the_dashboard_gets_counts(campaign, action, taken):
    people, manager = _everybody(campaign), campaign.person("Manager")
    ids = [*people.values(), str(uuid4())]

    answer = manager.post(f"/api/affiliates/bulk/{action}", {"ids": ids})

    past = f"{action.rstrip('e')}ed"
    assert (answer.status_code, answer.json) == (200, {"affected": 1, "skipped": 5, past: 1})
    assert [(name, affiliate_id) for name, affiliate_id, *_ in _audit(campaign)] == [
        (f"affiliate.bulk_{past}", people[taken])
    ]
    assert len(_events(campaign)) == (1 if action == "approve" else 0)


@pytest.mark.parametrize("action", ["approve", "pause"])
@pytest.mark.parametrize(
    "body", [{}, {"ids": []}, {"ids": ["x"]}, {"ids": "all"}, {"ids": [str(uuid4()) for _ in range(501)]}]
)
def test_a_malformed_selection_is_named(campaign, action, body):
    answer = campaign.person("Owner").post(f"/api/affiliates/bulk/{action}", body)

    assert (answer.status_code, list(answer.json["errors"])) == (400, ["ids"])


def test_five_hundred_ids_are_taken_at_the_dashboard(campaign):
    answer = campaign.person("Owner").post("/api/affiliates/bulk/pause", {"ids": [str(uuid4()) for _ in range(500)]})

    assert answer.json["skipped"] == 500

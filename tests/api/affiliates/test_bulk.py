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
    """Return the brand with one campaign and an endpoint for every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def _create_affiliates(brand, **statuses):
    return {slug: str(brand.affiliate(slug, status=status, approved_at=None)) for slug, status in statuses.items()}


def _create_affiliates_in_every_status(brand):
    return _create_affiliates(brand, ann="Pending", ben="Approved", cleo="Rejected", dan="Paused", eve="Banned")


def _post_action(brand, action, ids):
    return brand.post(URL, {"action": action, "affiliateIds": list(ids)})


def _read_statuses(brand):
    return dict(brand.rows("select split_part(email, '@', 1), status from affiliate where deleted_at is null"))


def _list_events(brand):
    return brand.rows("select type, body::jsonb->'data'->>'affiliateId' from event")


def _list_audit_entries(brand):
    return brand.rows(
        "select action, entity_id, before, after from audit_entry where action like 'affiliate.bulk%%'"
        " order by entity_id"
    )


@pytest.mark.parametrize(
    ("action", "affected", "new_status"), [("approve", "ann", "Approved"), ("pause", "ben", "Paused")]
)
def test_only_matching_statuses_are_changed(campaign, action, affected, new_status):
    ids_by_slug = _create_affiliates_in_every_status(campaign)
    before = _read_statuses(campaign)

    answer = _post_action(campaign, action, ids_by_slug.values())

    assert answer.status_code == 200
    assert answer.json == {"action": action, "affected": 1, "skipped": 4, "affiliateIds": [ids_by_slug[affected]]}
    assert _read_statuses(campaign) == before | {affected: new_status}
    assert _list_audit_entries(campaign) == [
        (
            f"affiliate.bulk_{action.rstrip('e')}ed",
            ids_by_slug[affected],
            {"status": before[affected]},
            {"status": new_status},
        )
    ]


def test_approval_sends_an_event_and_sets_the_date(campaign):
    ids_by_slug = _create_affiliates(campaign, ann="Pending", ben="Pending", cleo="Approved")

    _post_action(campaign, "approve", ids_by_slug.values())

    assert sorted(_list_events(campaign)) == sorted(
        ("affiliate.approved", ids_by_slug[slug]) for slug in ("ann", "ben")
    )
    assert campaign.rows("select count(*) from affiliate where approved_at is not null") == [(2,)]


def test_pausing_and_deleting_send_no_event(campaign):
    ids_by_slug = _create_affiliates_in_every_status(campaign)

    _post_action(campaign, "pause", ids_by_slug.values())
    _post_action(campaign, "delete", ids_by_slug.values())

    assert _list_events(campaign) == []


def test_delete_removes_affiliates_in_any_status(campaign):
    ids_by_slug = _create_affiliates_in_every_status(campaign)

    answer = _post_action(campaign, "delete", ids_by_slug.values())

    assert (answer.json["affected"], answer.json["skipped"]) == (5, 0)
    assert answer.json["affiliateIds"] == list(ids_by_slug.values())
    assert campaign.get(AFFILIATES).json["items"] == []
    assert campaign.get(f"{AFFILIATES}/applications").json == []
    assert {campaign.get(f"{AFFILIATES}/{affiliate_id}").status_code for affiliate_id in ids_by_slug.values()} == {404}
    assert campaign.rows("select count(*) from tracking_link where deleted_at is null") == [(0,)]
    assert [(action, after) for action, _, _, after in _list_audit_entries(campaign)] == [
        ("affiliate.bulk_deleted", {"deleted": True})
    ] * 5


def test_deleted_affiliate_earns_nothing_and_may_join_again(campaign, drain):
    ids_by_slug = _create_affiliates(campaign, ben="Approved")
    campaign.sale(externalEventId="before")
    drain()

    _post_action(campaign, "delete", ids_by_slug.values())
    rejoined = campaign.post(AFFILIATES, {"programId": str(campaign.programs[-1]), "email": "ben@example.com"})

    assert campaign.sale(externalEventId="after").status_code == 400
    assert rejoined.status_code == 201
    assert rejoined.json["id"] != ids_by_slug["ben"]
    assert campaign.rows("select sum(amount_cents)::int from ledger_entry") == [(2000,)]


@pytest.mark.parametrize("action", ["approve", "pause", "delete"])
def test_repeated_action_changes_nothing(campaign, action):
    ids_by_slug = _create_affiliates_in_every_status(campaign)
    _post_action(campaign, action, ids_by_slug.values())
    audit, events = _list_audit_entries(campaign), _list_events(campaign)

    repeated = _post_action(campaign, action, ids_by_slug.values())

    assert repeated.json == {"action": action, "affected": 0, "skipped": 5, "affiliateIds": []}
    assert (_list_audit_entries(campaign), _list_events(campaign)) == (audit, events)


@pytest.mark.parametrize("action", ["approve", "pause", "delete"])
def test_unknown_and_other_tenants_ids_are_skipped(campaign, rival, action):
    rival.program()
    rival_id = str(rival.affiliate("ben", status="Pending"))

    answer = _post_action(campaign, action, [rival_id, str(uuid4())])

    assert (answer.status_code, answer.json["affected"], answer.json["skipped"]) == (200, 0, 2)
    assert _read_statuses(rival) == {"ben": "Pending"}


def test_duplicate_id_counts_once(campaign):
    ids_by_slug = _create_affiliates(campaign, ann="Pending", ben="Approved")

    answer = _post_action(
        campaign, "approve", [ids_by_slug["ann"], ids_by_slug["ann"].upper(), ids_by_slug["ben"], ids_by_slug["ben"]]
    )

    assert (answer.json["affected"], answer.json["skipped"]) == (1, 1)
    assert len(_list_events(campaign)) == 1


def test_concurrent_actions_change_each_affiliate_once(campaign):
    ids_by_slug = _create_affiliates(campaign, **{f"number-{number}": "Pending" for number in range(20)})
    orders = (list(ids_by_slug.values()), list(ids_by_slug.values())[::-1])

    answers = run_concurrently(*(lambda ids=ids: _post_action(campaign, "approve", ids) for ids in orders))

    assert [answer.status_code for answer in answers] == [200, 200]
    assert sum(answer.json["affected"] for answer in answers) == 20
    assert len(_list_events(campaign)) == 20


def test_action_waits_for_a_concurrent_change_and_reports_its_result(campaign):
    ids_by_slug = _create_affiliates(campaign, ann="Approved")

    with db.unit_of_work(campaign.id):
        db.db.run("update affiliate set status = 'Banned' where organization_id = %s", (campaign.id,))
        answer = start_call(lambda: _post_action(campaign, "delete", ids_by_slug.values()))

    assert answer().json["affected"] == 1
    assert [before for _, _, before, _ in _list_audit_entries(campaign)] == [{"status": "Banned"}]


@pytest.mark.parametrize("action", ["approve", "pause", "delete"])
def test_round_trips_do_not_grow_with_ids(campaign, action):
    status = "Approved" if action == "pause" else "Pending"
    _post_action(campaign, action, _create_affiliates(campaign, warm=status).values())
    single = _create_affiliates(campaign, ann=status)
    trips_before = count_round_trips(lambda: _post_action(campaign, action, single.values()))
    many = _create_affiliates(campaign, **{f"number-{number}": status for number in range(50)})

    assert count_round_trips(lambda: _post_action(campaign, action, many.values())) == trips_before


@pytest.mark.parametrize(
    ("body", "field"),
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
def test_malformed_action_is_named_in_problem_details(campaign, body, field):
    answer = campaign.post(URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]


def test_two_hundred_ids_are_accepted(campaign):
    assert _post_action(campaign, "approve", [str(uuid4()) for _ in range(200)]).json["skipped"] == 200


def test_repeated_idempotency_key_returns_the_first_response(campaign):
    body = {"action": "approve", "affiliateIds": list(_create_affiliates(campaign, ann="Pending").values())}

    first = campaign.post(URL, body, Idempotency_Key="once")

    assert campaign.post(URL, body, Idempotency_Key="once").json == first.json
    assert first.json["affected"] == 1


@pytest.mark.parametrize(("action", "affected"), [("approve", "ann"), ("pause", "ben")])
def test_dashboard_action_returns_counts(campaign, action, affected):
    ids_by_slug, manager = _create_affiliates_in_every_status(campaign), campaign.person("Manager")
    ids = [*ids_by_slug.values(), str(uuid4())]

    answer = manager.post(f"/api/affiliates/bulk/{action}", {"ids": ids})

    participle = f"{action.rstrip('e')}ed"
    assert (answer.status_code, answer.json) == (200, {"affected": 1, "skipped": 5, participle: 1})
    assert [(name, affiliate_id) for name, affiliate_id, *_ in _list_audit_entries(campaign)] == [
        (f"affiliate.bulk_{participle}", ids_by_slug[affected])
    ]
    assert len(_list_events(campaign)) == (1 if action == "approve" else 0)


@pytest.mark.parametrize("action", ["approve", "pause"])
@pytest.mark.parametrize(
    "body", [{}, {"ids": []}, {"ids": ["x"]}, {"ids": "all"}, {"ids": [str(uuid4()) for _ in range(501)]}]
)
def test_malformed_selection_is_named(campaign, action, body):
    answer = campaign.person("Owner").post(f"/api/affiliates/bulk/{action}", body)

    assert (answer.status_code, list(answer.json["errors"])) == (400, ["ids"])


def test_dashboard_accepts_five_hundred_ids(campaign):
    answer = campaign.person("Owner").post("/api/affiliates/bulk/pause", {"ids": [str(uuid4()) for _ in range(500)]})

    assert answer.json["skipped"] == 500

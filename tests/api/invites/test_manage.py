"""Listing, resending and revoking invites. Source: core spec, "Affiliate invites" and section 3."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from domain import jobs
from models import db
from pipelines import schedule, work
from tests.support.api.concurrency import run_concurrently
from tests.support.api.invite_requests import (
    URL,
    accept_invite,
    create_pending_invites,
    expire_invite,
    invite,
    list_audit_entries,
    list_emails,
    list_invites,
    token_from_invite,
    unique_email,
    view_invite,
)
from tests.support.api.lists import assert_foreign_cursors_refused, count_round_trips
from tests.support.rows.link_visits import create_limiter


@pytest.fixture
def manager(campaign):
    """A manager of the brand at the dashboard."""
    return campaign.person("Manager")


def _resend(caller, invite_id):
    return caller.post(f"{URL}/{invite_id}/resend")


def _revoke(caller, invite_id):
    return caller.call("DELETE", f"{URL}/{invite_id}")


def _create_in_state(campaign, state):
    """Return an invite in a state: its id and token."""
    created = invite(campaign)
    invite_id = created.json["invite"]["id"]
    if state == "Accepted":
        assert accept_invite(campaign, token_from_invite(created)).status_code == 200
    elif state == "Revoked":
        assert _revoke(campaign.person("Manager"), invite_id).status_code == 204
    elif state == "Expired":
        expire_invite(campaign, invite_id)
    return invite_id, token_from_invite(created)


def test_list_returns_invites_newest_first(campaign, manager):
    created = [invite(campaign).json["invite"] for _ in range(3)]

    first = manager.get(f"{URL}?take=2").json
    second = manager.get(f"{URL}?take=2&cursor={first['nextCursor']}").json

    assert first["items"] + second["items"] == created[::-1]
    assert (first["hasMore"], second["hasMore"], second["nextCursor"]) == (True, False, None)


def test_accepted_invite_names_its_affiliate(campaign, manager):
    affiliate_id = accept_invite(campaign, token_from_invite(invite(campaign))).json["affiliateId"]

    (view,) = manager.get(URL).json["items"]

    assert (view["state"], view["affiliateId"]) == ("Accepted", affiliate_id)
    assert view["acceptedAt"].endswith("Z")


@pytest.mark.parametrize("is_persisted", [False, True])
def test_list_filters_by_current_state(campaign, manager, drain, is_persisted):
    id_by_state = {
        state: _create_in_state(campaign, state)[0] for state in ("Pending", "Accepted", "Revoked", "Expired")
    }
    if is_persisted:
        _run_expiry(drain)

    items_by_state = {state: manager.get(f"{URL}?state={state}").json["items"] for state in id_by_state}

    assert {state: [item["id"] for item in items] for state, items in items_by_state.items()} == {
        state: [invite_id] for state, invite_id in id_by_state.items()
    }
    assert all(item["state"] == state for state, items in items_by_state.items() for item in items)


def test_list_filters_by_program(campaign, manager, rival):
    own_program = campaign.programs[-1]
    created_id = invite(campaign).json["invite"]["id"]
    campaign.program()
    invite(campaign)
    rival_program = rival.program()
    invite(rival)

    pages = [
        manager.get(f"{URL}?programId={program_id}").json["items"]
        for program_id in (own_program, rival_program, uuid4())
    ]

    assert [[item["id"] for item in items] for items in pages] == [[created_id], [], []]


def test_list_refuses_foreign_cursors(campaign, manager, rival):
    rival.program()
    for brand in (campaign, rival):
        for _ in range(2):
            invite(brand)
    campaign.program()

    assert_foreign_cursors_refused(
        manager, URL, foreign=(rival.person("Manager"), URL), other=(campaign.person("Owner"), "/api/v1/programs")
    )


@pytest.mark.parametrize("query", ["state=pending", "state=", "programId=spring", "take=0", "take=x"])
def test_invalid_query_is_problem_details(manager, query):
    answer = manager.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [query.partition("=")[0]]


def test_page_round_trips_do_not_grow_with_its_length(campaign, manager):
    invite(campaign)
    manager.get(URL)  # the first sign-in makes the member
    trips_of_one = count_round_trips(lambda: manager.get(URL))
    create_pending_invites(campaign, 100)

    assert count_round_trips(lambda: manager.get(f"{URL}?take=100")) == trips_of_one


def test_key_cannot_list_resend_or_revoke(campaign):
    invite_id = invite(campaign).json["invite"]["id"]

    answers = [campaign.get(URL), _resend(campaign, invite_id), _revoke(campaign, invite_id)]

    assert [(answer.status_code, answer.json["error"]) for answer in answers] == [(403, "forbidden")] * 3
    assert list_invites(campaign, "state") == [("Pending",)]


def test_viewer_can_only_list(campaign):
    viewer = campaign.person("Viewer", is_email_verified=False)
    invite_id = invite(campaign).json["invite"]["id"]

    answers = [viewer.get(URL), _resend(viewer, invite_id), _revoke(viewer, invite_id)]

    assert [answer.status_code for answer in answers] == [200, 403, 403]


@pytest.mark.parametrize("role", ["Manager", "Admin", "Owner"])
def test_manager_and_above_may_resend_and_revoke(campaign, role):
    person = campaign.person(role, is_email_verified=False)
    invite_id = invite(campaign).json["invite"]["id"]

    assert (_resend(person, invite_id).status_code, _revoke(person, invite_id).status_code) == (200, 204)


@pytest.mark.parametrize("state", ["Pending", "Expired"])
def test_resent_invite_has_a_new_link_for_another_14_days(campaign, manager, state):
    invite_id, token = _create_in_state(campaign, state)

    answer = _resend(manager, invite_id)

    view = answer.json["invite"]
    assert (answer.status_code, view["id"], view["state"]) == (200, invite_id, "Pending")
    lifetime = datetime.fromisoformat(view["expiresAt"]) - datetime.fromisoformat(view["sentAt"])
    assert lifetime == timedelta(days=14)
    assert view["sentAt"] > view["createdAt"]
    assert view_invite(campaign, token).status_code == 404
    assert view_invite(campaign, token_from_invite(answer)).json["state"] == "Pending"
    assert accept_invite(campaign, token).status_code == 404
    assert accept_invite(campaign, token_from_invite(answer)).status_code == 200
    assert answer.json["acceptUrl"] in (list_emails(campaign)[-1].text or "")


@pytest.mark.parametrize("state", ["Accepted", "Revoked"])
def test_accepted_or_revoked_invite_is_neither_resent_nor_revoked(campaign, manager, state):
    invite_id, _ = _create_in_state(campaign, state)

    answers = [_resend(manager, invite_id), _revoke(manager, invite_id)]

    assert [(answer.status_code, answer.json["error"]) for answer in answers] == [(409, "invite_not_pending")] * 2
    assert list_invites(campaign, "state") == [(state,)]
    assert len(list_emails(campaign)) == 1


@pytest.mark.parametrize("state", ["Pending", "Expired"])
def test_revoked_invite_returns_410(campaign, manager, state):
    invite_id, token = _create_in_state(campaign, state)

    answer = _revoke(manager, invite_id)

    assert (answer.status_code, answer.data) == (204, b"")
    assert list_invites(campaign, "state") == [("Revoked",)]
    for refused in (view_invite(campaign, token), accept_invite(campaign, token)):
        assert (refused.status_code, refused.json["error"]) == (410, "invite_revoked")


def test_resend_and_revoke_are_audited(campaign, manager):
    first = invite(campaign).json["invite"]
    again = _resend(manager, first["id"]).json["invite"]
    _revoke(manager, first["id"])

    assert list_audit_entries(campaign)[1:] == [
        ("affiliate_invite.resent", first["id"], None, again),
        ("affiliate_invite.revoked", first["id"], again, again | {"state": "Revoked"}),
    ]


def test_resending_an_expired_invite_revokes_a_newer_one(campaign, manager):
    email = unique_email()
    older = invite(campaign, email=email)
    expire_invite(campaign, older.json["invite"]["id"])
    newer = invite(campaign, email=email)

    again = _resend(manager, older.json["invite"]["id"])

    assert again.status_code == 200
    assert list_invites(campaign, "state") == [("Pending",), ("Revoked",)]
    assert view_invite(campaign, token_from_invite(newer)).status_code == 410


def test_resending_an_expired_invite_counts_towards_the_pending_limit(campaign, manager):
    expired, _ = _create_in_state(campaign, "Expired")
    create_pending_invites(campaign, 499)
    pending, _ = _create_in_state(campaign, "Pending")

    refused, resent = _resend(manager, expired), _resend(manager, pending)

    assert (refused.status_code, refused.json["error"]) == (409, "pending_invites_limit_reached")
    assert resent.status_code == 200


def test_invite_to_an_inactive_program_is_not_resent(campaign, manager):
    invite_id, token = _create_in_state(campaign, "Pending")
    campaign.rows("update program set archived_at = now() returning id")

    answer = _resend(manager, invite_id)

    assert (answer.status_code, answer.json["error"]) == (409, "program_inactive")
    assert view_invite(campaign, token).status_code == 200


@pytest.mark.parametrize("call", [_resend, _revoke])
def test_other_tenants_invite_returns_404(manager, rival, call):
    rival.program()
    rival_invite_id = invite(rival).json["invite"]["id"]

    for invite_id in (rival_invite_id, uuid4(), "nonsense", "0" * 10_000):
        answer = call(manager, invite_id)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert list_invites(rival, "state") == [("Pending",)]


def test_resend_repeated_with_an_idempotency_key_sends_once(campaign, manager):
    invite_id, _ = _create_in_state(campaign, "Pending")

    first, again = (manager.post(f"{URL}/{invite_id}/resend", Idempotency_Key="once") for _ in range(2))

    assert again.json == first.json
    assert len(list_emails(campaign)) == 2


def test_either_accept_or_revoke_wins_a_race(campaign, manager):
    invite_id, token = _create_in_state(campaign, "Pending")

    answers = run_concurrently(lambda: _revoke(manager, invite_id), lambda: accept_invite(campaign, token))

    statuses = {answer.status_code for answer in answers}
    (state,) = list_invites(campaign, "state")
    assert (statuses, state[0]) in [({204, 410}, "Revoked"), ({200, 409}, "Accepted")]


def _run_expiry(drain):
    with db.any_org_work():
        work.enqueue(jobs.INVITES_EXPIRE, organization_id=None)
    assert drain() >= 1


def test_expiry_job_marks_unaccepted_invites_expired(campaign, rival, drain):
    rival.program()
    for state in ("Pending", "Accepted", "Revoked", "Expired"):
        _create_in_state(campaign, state)
    _create_in_state(rival, "Expired")

    for _ in range(2):
        _run_expiry(drain)

    assert list_invites(campaign, "state") == [("Pending",), ("Accepted",), ("Revoked",), ("Expired",)]
    assert list_invites(rival, "state") == [("Expired",)]


def test_expiry_job_runs_every_hour(app):
    (cron,) = [entry.cron for entry in schedule.SCHEDULE if entry.job is jobs.INVITES_EXPIRE]
    minute, *rest = cron.split()

    assert (minute.isdigit(), rest) == (True, ["*"] * 4)


@pytest.mark.parametrize("bucket", ["invite", "anonymous"])
def test_too_many_requests_return_429(campaign, monkeypatch, bucket):
    created = invite(campaign)
    monkeypatch.setitem(campaign.app.extensions, "limiter", create_limiter(**{bucket: 3}))
    calls = {
        "invite": [
            lambda: invite(campaign),
            lambda: campaign.post(f"{URL}/bulk", {}),
            lambda: _resend(campaign.person("Owner", email="owner@example.com"), created.json["invite"]["id"]),
            lambda: invite(campaign),
        ],
        "anonymous": [
            lambda: view_invite(campaign, token_from_invite(created)),
            lambda: accept_invite(campaign, "unknown"),
            lambda: campaign.app.test_client().get("/invites/unknown"),
            lambda: accept_invite(campaign, token_from_invite(created)),
        ],
    }

    answers = [call() for call in calls[bucket]]

    assert answers[-1].status_code == 429
    assert answers[-1].data == b""
    assert 429 not in {answer.status_code for answer in answers[:-1]}

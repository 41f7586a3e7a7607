"""Slugs reserved by invites, and invites that replace each other. Source: core spec, "Affiliate invites"."""

from operator import itemgetter

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.invite_requests import (
    URL,
    expire_invite,
    invite,
    list_audit_entries,
    list_invites,
    take_slug_elsewhere,
    token_from_invite,
    unique_email,
    unique_slug,
    view_invite,
)


@pytest.mark.parametrize("slug", ["api", "admin", "invites"])
def test_reserved_slug_is_refused(campaign, slug):
    answer = invite(campaign, slug=slug)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, "slug_reserved", "slug")


def test_slug_used_anywhere_in_the_service_is_taken(campaign, rival):
    free_slug, rival_slug, account_slug = unique_slug(), unique_slug(), unique_slug()
    campaign.affiliate(free_slug)
    rival.program()
    rival.affiliate(rival_slug)
    campaign.rows(
        "insert into affiliate_account (id, subject, email, slug) values (gen_random_uuid(), %s, %s, %s) returning id",
        account_slug,
        unique_email(),
        account_slug,
    )

    answers = [invite(campaign, slug=slug) for slug in (free_slug, rival_slug, account_slug)]

    for answer in answers:
        assert (answer.status_code, answer.json["error"], answer.json["field"]) == (409, "slug_already_taken", "slug")


def test_slug_reserved_by_a_pending_invite_is_taken(campaign, rival):
    slug, email = unique_slug(), unique_email()
    rival.program()
    first = invite(campaign, slug=slug, email=email)
    other_program = campaign.program()

    another_person = invite(campaign, slug=slug)
    same_person = invite(campaign, slug=slug, email=email, programId=str(other_program))
    another_brand = invite(rival, slug=slug)

    assert first.status_code == 201
    assert (another_person.status_code, another_person.json["error"]) == (409, "slug_already_taken")
    assert (same_person.status_code, another_brand.status_code) == (201, 201)


def test_reservation_ends_with_its_invite(campaign):
    revoked, expired = unique_slug(), unique_slug()
    campaign.person().call("DELETE", f"{URL}/{invite(campaign, slug=revoked).json['invite']['id']}")
    expire_invite(campaign, invite(campaign, slug=expired).json["invite"]["id"])

    assert [invite(campaign, slug=slug).status_code for slug in (revoked, expired)] == [201, 201]


def test_own_slug_and_slug_of_a_deleted_link_are_available(campaign, rival):
    own_slug, deleted_slug, email = unique_slug(), unique_slug(), unique_email()
    campaign.affiliate(own_slug, email=email)
    campaign.program()
    rival.program()
    rival.affiliate(own_slug)
    rival.affiliate(deleted_slug)
    rival.rows("update tracking_link set deleted_at = now() where slug = %s returning id", deleted_slug)

    assert invite(campaign, slug=own_slug, email=email).status_code == 201
    assert invite(campaign, slug=deleted_slug).status_code == 201


@pytest.mark.parametrize("owner", ["rival", "account"])
def test_refusal_does_not_reveal_who_owns_a_slug(campaign, rival, owner):
    slug, email = unique_slug(), unique_email()
    take_slug_elsewhere(campaign, rival, owner, slug=slug, email=email)

    by_owner, by_stranger = invite(campaign, slug=slug, email=email), invite(campaign, slug=slug, email=unique_email())

    assert (by_owner.status_code, by_owner.json["error"]) == (409, "slug_already_taken")
    assert {**by_owner.json, "requestId": None} == {**by_stranger.json, "requestId": None}


def test_second_invite_revokes_the_first(campaign):
    email, slug = unique_email(), unique_slug()
    first = invite(campaign, email=email, slug=slug)
    second = invite(campaign, email=email, slug=slug)

    assert (first.status_code, second.status_code) == (201, 201)
    assert list_invites(campaign, "state") == [("Revoked",), ("Pending",)]
    assert view_invite(campaign, token_from_invite(first)).json["error"] == "invite_revoked"
    assert view_invite(campaign, token_from_invite(second)).json["state"] == "Pending"
    before = first.json["invite"]
    entries = [
        ("affiliate_invite.created", before["id"], None, before),
        ("affiliate_invite.created", second.json["invite"]["id"], None, second.json["invite"]),
        ("affiliate_invite.revoked", before["id"], before, before | {"state": "Revoked"}),
    ]
    assert sorted(list_audit_entries(campaign), key=itemgetter(0, 1)) == sorted(entries, key=itemgetter(0, 1))


def test_replaced_expired_invite_stays_expired(campaign):
    email = unique_email()
    first = invite(campaign, email=email)
    expire_invite(campaign, first.json["invite"]["id"])
    invite(campaign, email=email)

    assert list_invites(campaign, "state") == [("Expired",), ("Pending",)]
    assert view_invite(campaign, token_from_invite(first)).json["error"] == "invite_expired"


def test_same_email_can_be_invited_to_two_programs(campaign, rival):
    email = unique_email()
    rival.program()
    invite(campaign, email=email)
    invite(campaign, email=email, programId=str(campaign.program()))
    invite(rival, email=email)

    assert list_invites(campaign, "state") == [("Pending",), ("Pending",)]


def test_equal_concurrent_invites_leave_one_pending(campaign):
    email = unique_email()

    answers = run_concurrently(*[lambda: invite(campaign, email=email)] * 3)

    assert [answer.status_code for answer in answers] == [201] * 3
    assert sorted(list_invites(campaign, "state")) == [("Pending",), ("Revoked",), ("Revoked",)]


def test_concurrent_invites_with_one_slug_leave_one_winner(campaign):
    slug = unique_slug()

    answers = run_concurrently(*[lambda: invite(campaign, slug=slug)] * 3)

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409]

"""The rules of invites. Source: core spec, "Affiliate invites"."""

from datetime import UTC, datetime, timedelta

import pytest

from domain import invites
from domain.invites import InviteRequest, RefusedSlug

_ENDS = datetime(2030, 1, 15, tzinfo=UTC)
_MOMENT = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("stored", "now", "state"),
    [
        ("Pending", _ENDS - _MOMENT, "Pending"),
        ("Pending", _ENDS, "Expired"),
        ("Expired", _ENDS - _MOMENT, "Expired"),
        ("Accepted", _ENDS, "Accepted"),
        ("Revoked", _ENDS, "Revoked"),
    ],
)
def test_a_pending_invite_expires_by_the_clock_and_no_other_does(stored, now, state):
    assert invites.state_at(stored, expires_at=_ENDS, now=now) == state


def test_a_slug_goes_to_the_first_who_can_have_it():
    wishes = [
        InviteRequest("a@x.test", "ada"),
        InviteRequest("b@x.test", "ada"),
        InviteRequest("c@x.test", "ada"),
        InviteRequest("d@x.test", None),
    ]

    granted, conflicts = invites.assign_slugs(wishes, of_others={("ada", "a@x.test")})

    assert granted == {"a@x.test": None, "b@x.test": "ada", "c@x.test": None, "d@x.test": None}
    assert conflicts == [
        RefusedSlug("a@x.test", "ada", "slug_already_taken"),
        RefusedSlug("c@x.test", "ada", "duplicate_within_batch"),
    ]


@pytest.mark.parametrize(
    ("slug", "reason"),
    [
        ("ab", "slug_invalid"),
        ("x" * 65, "slug_invalid"),
        ("-ada", "slug_invalid"),
        ("ada-", "slug_invalid"),
        ("Ada", "slug_invalid"),
        ("ada\n", "slug_invalid"),
        ("admin", "slug_reserved"),
        ("api", "slug_reserved"),
    ],
)
def test_a_slug_that_cannot_be_one_is_a_conflict(slug, reason):
    granted, conflicts = invites.assign_slugs([InviteRequest("a@x.test", slug)], of_others=set())

    assert granted == {"a@x.test": None}
    assert conflicts == [RefusedSlug("a@x.test", slug, reason)]


@pytest.mark.parametrize("slug", [None, ""])
def test_no_slug_is_no_conflict(slug):
    assert invites.assign_slugs([InviteRequest("a@x.test", slug)], of_others=set()) == ({"a@x.test": None}, [])

"""The rules of invites. Source: core spec, "Affiliate invites"."""

from datetime import UTC, datetime, timedelta

import pytest

from domain import invites
from domain.invites import InviteRequest, RefusedSlug

_ENDS = datetime(2030, 1, 15, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("stored", "now", "state"),
    [
        ("Pending", _ENDS - _MICROSECOND, "Pending"),
        ("Pending", _ENDS, "Expired"),
        ("Expired", _ENDS - _MICROSECOND, "Expired"),
        ("Accepted", _ENDS, "Accepted"),
        ("Revoked", _ENDS, "Revoked"),
    ],
)
def test_only_a_pending_invite_expires_with_time(stored, now, state):
    assert invites.state_at(stored, expires_at=_ENDS, now=now) == state


def test_slug_goes_to_the_first_eligible_invite():
    requests = [
        InviteRequest("a@x.test", "ada"),
        InviteRequest("b@x.test", "ada"),
        InviteRequest("c@x.test", "ada"),
        InviteRequest("d@x.test", None),
    ]

    granted, conflicts = invites.assign_slugs(requests, of_others={("ada", "a@x.test")})

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
def test_invalid_or_reserved_slug_is_a_conflict(slug, reason):
    granted, conflicts = invites.assign_slugs([InviteRequest("a@x.test", slug)], of_others=set())

    assert granted == {"a@x.test": None}
    assert conflicts == [RefusedSlug("a@x.test", slug, reason)]


@pytest.mark.parametrize("slug", [None, ""])
def test_invite_without_a_slug_has_no_conflict(slug):
    assert invites.assign_slugs([InviteRequest("a@x.test", slug)], of_others=set()) == ({"a@x.test": None}, [])

"""Invitations to a campaign: how long they are good for, how many there may be, and who gets which slug.

Source: core spec, "Affiliate invites" and section 8 "Limits".
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from domain import slugs

#: How long a link works after it was sent.
LIFETIME = timedelta(days=14)

#: Invites that may wait for an answer, per organization.
MOST_PENDING = 500

#: Recipients of one bulk call.
MOST_RECIPIENTS = 50


class InviteState(StrEnum):
    """Where an invite stands. Source: core spec, "Other resources"."""

    Pending = "Pending"
    Accepted = "Accepted"
    Expired = "Expired"
    Revoked = "Revoked"


def state_at(stored: str, *, expires_at: datetime, now: datetime) -> InviteState:
    """Return where an invite stands; a Pending one is Expired from the moment on at which its link ends."""
    if stored == InviteState.Pending and expires_at <= now:
        return InviteState.Expired
    return InviteState(stored)


@dataclass(frozen=True, slots=True)
class Wish:
    """A recipient of a batch and the slug that was asked for them, as it was sent (None or empty: none)."""

    email: str
    slug: str | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A slug that a recipient does not get.

    `reason` is slug_invalid, slug_reserved, slug_already_taken or duplicate_within_batch.
    """

    email: str
    requested_slug: str
    reason: str


def grant(
    wishes: Sequence[Wish], *, of_others: Collection[tuple[str, str]]
) -> tuple[dict[str, str | None], list[Conflict]]:
    """Return the slug of every email (None: a random one when they accept), and the conflicts in their order.

    `of_others` holds (slug, email) where somebody else than that person has the slug. The first one in the batch who
    can have a slug gets it.
    """
    granted: dict[str, str | None] = {}
    conflicts = []
    for wish in wishes:
        reason = _reason_against(wish, given={slug for slug in granted.values() if slug}, of_others=of_others)
        granted[wish.email] = None if reason else wish.slug or None
        if reason:
            conflicts.append(Conflict(email=wish.email, requested_slug=wish.slug or "", reason=reason))
    return granted, conflicts


def _reason_against(wish: Wish, *, given: Collection[str], of_others: Collection[tuple[str, str]]) -> str | None:
    if not wish.slug:
        return None
    if not slugs.is_valid_strict(wish.slug):
        return "slug_invalid"
    if slugs.is_reserved(wish.slug):
        return "slug_reserved"
    if (wish.slug, wish.email) in of_others:
        return "slug_already_taken"
    return "duplicate_within_batch" if wish.slug in given else None

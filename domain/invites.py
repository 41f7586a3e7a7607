"""Invites to a campaign: how long they are valid, how many there may be, and who gets which slug.

Source: core spec, "Affiliate invites" and section 8 "Limits".
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from domain import slugs

#: The time for which a link works after it was sent.
LIFETIME = timedelta(days=14)

#: Pending invites per organization.
MAX_PENDING = 500

#: Recipients of one bulk call.
MAX_RECIPIENTS = 50


class InviteState(StrEnum):
    """The state of an invite. Source: core spec, "Other resources"."""

    Pending = "Pending"
    Accepted = "Accepted"
    Expired = "Expired"
    Revoked = "Revoked"


def state_at(stored: str, *, expires_at: datetime, now: datetime) -> InviteState:
    """Return the state of an invite; a Pending one is Expired once its link has expired."""
    if stored == InviteState.Pending and expires_at <= now:
        return InviteState.Expired
    return InviteState(stored)


@dataclass(frozen=True, slots=True)
class InviteRequest:
    """A recipient of a batch and the slug requested for them, unchanged (None or empty: none)."""

    email: str
    slug: str | None


@dataclass(frozen=True, slots=True)
class RefusedSlug:
    """A requested slug that a recipient does not get.

    `reason` is slug_invalid, slug_reserved, slug_already_taken or duplicate_within_batch.
    """

    email: str
    requested_slug: str
    reason: str


def assign_slugs(
    requests: Sequence[InviteRequest], *, of_others: Collection[tuple[str, str]]
) -> tuple[dict[str, str | None], list[RefusedSlug]]:
    """Return the slug of every email (None: a random one when they accept), and the conflicts in order.

    `of_others` contains (slug, email) where the slug belongs to someone other than that recipient. Of several in the
    batch the first who can have a slug gets it.
    """
    granted: dict[str, str | None] = {}
    conflicts = []
    for request in requests:
        reason = _find_conflict(request, granted={slug for slug in granted.values() if slug}, of_others=of_others)
        granted[request.email] = None if reason else request.slug or None
        if reason:
            conflicts.append(RefusedSlug(email=request.email, requested_slug=request.slug or "", reason=reason))
    return granted, conflicts


def _find_conflict(
    request: InviteRequest, *, granted: Collection[str], of_others: Collection[tuple[str, str]]
) -> str | None:
    if not request.slug:
        return None
    if not slugs.is_valid_strict(request.slug):
        return "slug_invalid"
    if slugs.is_reserved(request.slug):
        return "slug_reserved"
    if (request.slug, request.email) in of_others:
        return "slug_already_taken"
    return "duplicate_within_batch" if request.slug in granted else None

"""Payout accounts: named by the affiliate for everywhere, or by an operator for one organization.

A payout keeps the account that it was run with; a change counts for the next run and for a retry.
Source: core spec, "Payout" (method).
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain import payout_accounts as rules
from domain.payout_accounts import PayoutAccount, Source
from domain.refused import not_found
from models import payout_accounts
from models.payout_accounts import Own


def of_person(account_id: UUID) -> Own:
    """Return what a person says themselves."""
    return payout_accounts.find(account_id)


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a person's account. `concerned` are the affiliates (organization, id) that they are."""

    before: PayoutAccount | None
    now: Own
    concerned: list[tuple[UUID, UUID]]


def any_org_say(*, account_id: UUID, wanted: PayoutAccount | None, now: datetime) -> Change:
    """Let a person say where they want to be paid; None takes it back. What is so already concerns nobody."""
    known = payout_accounts.lock(account_id)
    if known.account == wanted:
        return Change(wanted, known, [])
    payout_accounts.stage_own(account_id, wanted, at=now)
    concerned = payout_accounts.any_org_affiliates(account_id)
    return Change(known.account, Own(wanted, now if wanted else None), concerned)


@dataclass(frozen=True, slots=True)
class InForce:
    """Where an affiliate is paid and who says so; both None: nowhere yet."""

    organization_id: UUID
    account: PayoutAccount | None
    source: Source | None


def any_org_in_force(affiliate_id: UUID) -> InForce:
    """Return where an affiliate is paid. Raises Refused 404 not_found."""
    return _in_force(_named(affiliate_id))


@dataclass(frozen=True, slots=True)
class Decision:
    """What an operator's word changed: what they had said before, and what counts now, which may be another's."""

    before: PayoutAccount | None
    now: InForce


def any_org_decide(*, affiliate_id: UUID, wanted: PayoutAccount | None) -> Decision:
    """Let an operator say where an affiliate is paid who says nothing themselves; None takes it back.

    Raises Refused 404 not_found.
    """
    known = _named(affiliate_id)
    payout_accounts.stage_operators(organization_id=known.organization_id, affiliate_id=affiliate_id, wanted=wanted)
    changed = payout_accounts.Named(known.organization_id, known.own, wanted, known.wallet_email)
    return Decision(known.operators, _in_force(changed))


def _named(affiliate_id: UUID) -> payout_accounts.Named:
    found = payout_accounts.any_org_lock_named(affiliate_id)
    if found is None:
        raise not_found("affiliate", affiliate_id)
    return found


def _in_force(named: payout_accounts.Named) -> InForce:
    found = rules.in_force(own=named.own, operators=named.operators, wallet_email=named.wallet_email)
    account, source = found or (None, None)
    return InForce(named.organization_id, account, source)

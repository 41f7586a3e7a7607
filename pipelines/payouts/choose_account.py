"""Payout accounts: named by the affiliate for everywhere, or by an operator for one organization.

A payout keeps the account that it was run with; a change counts for the next run and for a retry.
Source: core spec, "Payout" (method).
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import settings
from domain.payouts import destinations
from domain.payouts.destinations import AccountSource, PayoutAccount, mask
from domain.refusals import not_found
from models.payouts import accounts
from models.payouts.accounts import Own
from pipelines import mail


def of_person(account_id: UUID) -> Own:
    """Return what a person says themselves."""
    return accounts.find(account_id)


@dataclass(frozen=True, slots=True)
class AccountChange:
    """What became of a person's account. `concerned` are the affiliates (organization, id) that they are."""

    before: PayoutAccount | None
    now: Own
    concerned: list[tuple[UUID, UUID]]


def any_org_say(*, account_id: UUID, wanted: PayoutAccount | None, now: datetime) -> AccountChange:
    """Let a person say where they want to be paid; None takes it back. What is so already concerns nobody."""
    known = accounts.lock(account_id)
    if known.account == wanted:
        return AccountChange(wanted, known, [])
    accounts.stage_own(account_id, wanted, at=now)
    concerned = accounts.any_org_affiliates(account_id)
    return AccountChange(known.account, Own(wanted, now if wanted else None), concerned)


def tell_person(change: AccountChange, *, email: str, now: datetime) -> None:
    """Stage the letter to a person whose account has just changed, so that they learn of a change that is not theirs.

    One letter, in the name of an organization that they are an affiliate of; who is nobody's affiliate gets none.
    """
    if not change.concerned:
        return
    account = change.now.account
    said = f"{account.method}, {mask(account.destination)}" if account else "nowhere: it was taken back"
    text = (
        f"Where you are paid was changed at {now:%Y-%m-%d %H:%M} UTC. Now it is {said}.\n\nIt holds for every brand,"
        " from the next payout on.\n\nIf it was not you, sign in, set it right, and sign out everywhere:"
        f"\n{settings.current().web.url}/sign-in?next=/portal/payout-account\n"
    )
    organization_id, _ = change.concerned[-1]
    subject = "Where you are paid was changed"
    mail.send(
        organization_id=organization_id, to=email, subject=subject, text=text, kind="payout_account.changed", at=now
    )


@dataclass(frozen=True, slots=True)
class InForce:
    """Where an affiliate is paid and who says so; both None: nowhere yet."""

    organization_id: UUID
    account: PayoutAccount | None
    source: AccountSource | None


def any_org_in_force(affiliate_id: UUID) -> InForce:
    """Return where an affiliate is paid. Raises Refused 404 not_found."""
    return _in_force(_named(affiliate_id))


def is_said(*, organization_id: UUID, affiliate_id: UUID) -> bool:
    """Say whether it is known where an affiliate is paid. Budget: 1 statement."""
    named = accounts.named(organization_id=organization_id, affiliate_id=affiliate_id)
    return named is not None and _in_force(named).account is not None


@dataclass(frozen=True, slots=True)
class OperatorsChange:
    """What an operator's word changed: what they had said before, and what counts now, which may be another's."""

    before: PayoutAccount | None
    now: InForce


def any_org_decide(*, affiliate_id: UUID, wanted: PayoutAccount | None) -> OperatorsChange:
    """Let an operator say where an affiliate is paid who says nothing themselves; None takes it back.

    Raises Refused 404 not_found.
    """
    known = _named(affiliate_id)
    accounts.stage_operators(organization_id=known.organization_id, affiliate_id=affiliate_id, wanted=wanted)
    changed = accounts.NamedAccounts(known.organization_id, known.own, wanted, known.wallet_email)
    return OperatorsChange(known.operators, _in_force(changed))


def _named(affiliate_id: UUID) -> accounts.NamedAccounts:
    found = accounts.any_org_lock_named(affiliate_id)
    if found is None:
        raise not_found("affiliate", affiliate_id)
    return found


def _in_force(named: accounts.NamedAccounts) -> InForce:
    found = destinations.effective_account(own=named.own, operators=named.operators, wallet_email=named.wallet_email)
    account, source = found or (None, None)
    return InForce(named.organization_id, account, source)

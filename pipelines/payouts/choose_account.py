"""Payout accounts: set by the affiliate for all organizations, or by an operator for one organization.

A payout keeps the account that its run used; a change applies to the next run and to a retry.
Source: core spec, "Payout" (method).
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import settings
from domain.payouts import destinations
from domain.payouts.destinations import METHOD_NAMES, AccountSource, PayoutAccount, mask
from domain.refusals import not_found
from domain.text import instants
from models.payouts import accounts
from models.payouts.accounts import OwnAccount
from pipelines import mail


def find_own(account_id: UUID) -> OwnAccount:
    """Return the account that a person set themselves."""
    return accounts.find(account_id)


@dataclass(frozen=True, slots=True)
class AccountChange:
    """The result of setting a person's account. `affiliates` are the affiliates (organization, id) that they are."""

    before: PayoutAccount | None
    now: OwnAccount
    affiliates: list[tuple[UUID, UUID]]


def any_org_set_own(*, account_id: UUID, account: PayoutAccount | None, now: datetime) -> AccountChange:
    """Set where a person wants to be paid; None removes it. An unchanged account affects no affiliate."""
    current = accounts.lock(account_id)
    if current.account == account:
        return AccountChange(account, current, [])
    accounts.stage_own(account_id, account, at=now)
    affiliates = accounts.any_org_list_affiliates(account_id)
    return AccountChange(current.account, OwnAccount(account, now if account else None), affiliates)


def email_person(change: AccountChange, *, email: str, now: datetime) -> None:
    """Stage an email to a person whose account has just changed, so that they notice a change by someone else.

    One email, in the name of an organization that they are an affiliate of; none for a person who is no affiliate.
    """
    if not change.affiliates:
        return
    account = change.now.account
    destination = (
        f"{METHOD_NAMES[account.method]}, {mask(account.destination)}" if account else "none, because it was removed"
    )
    text = (
        f"Your payout account was changed at {instants.format_instant(now)}."
        f" Your new payout account: {destination}.\n\n"
        "It is used for the payouts of all brands from now on.\n\nIf you did not make this change, sign in, correct the"
        f" account, and sign out everywhere:\n{settings.current().web.url}/sign-in?next=/portal/payout-account\n\n"
        "You get this email because you are an affiliate with a payout account here.\n"
    )
    organization_id, _ = change.affiliates[-1]
    subject = "Your payout account was changed"
    mail.send(
        organization_id=organization_id, to=email, subject=subject, text=text, kind="payout_account.changed", at=now
    )


@dataclass(frozen=True, slots=True)
class EffectiveAccount:
    """Where an affiliate is paid and who set it; both None: no account yet."""

    organization_id: UUID
    account: PayoutAccount | None
    source: AccountSource | None


def any_org_find_effective(affiliate_id: UUID) -> EffectiveAccount:
    """Return where an affiliate is paid. Raises Refused 404 not_found."""
    return _effective_account(_lock_accounts(affiliate_id))


def has_account(*, organization_id: UUID, affiliate_id: UUID) -> bool:
    """Return whether an affiliate has a payout account. Budget: 1 statement."""
    row = accounts.find_of_affiliate(organization_id=organization_id, affiliate_id=affiliate_id)
    return row is not None and _effective_account(row).account is not None


@dataclass(frozen=True, slots=True)
class OperatorAccountChange:
    """The account that an operator had set before, and the account that counts now: maybe the affiliate's own."""

    before: PayoutAccount | None
    now: EffectiveAccount


def any_org_set_for_affiliate(*, affiliate_id: UUID, account: PayoutAccount | None) -> OperatorAccountChange:
    """Set where an affiliate without an own account is paid, for an operator; None removes it.

    Raises Refused 404 not_found.
    """
    before = _lock_accounts(affiliate_id)
    accounts.stage_operators(organization_id=before.organization_id, affiliate_id=affiliate_id, account=account)
    after = accounts.AffiliateAccounts(before.organization_id, before.own, account, before.wallet_email)
    return OperatorAccountChange(before.operators, _effective_account(after))


def _lock_accounts(affiliate_id: UUID) -> accounts.AffiliateAccounts:
    row = accounts.any_org_lock_of_affiliate(affiliate_id)
    if row is None:
        raise not_found("affiliate", affiliate_id)
    return row


def _effective_account(row: accounts.AffiliateAccounts) -> EffectiveAccount:
    effective = destinations.effective_account(own=row.own, operators=row.operators, wallet_email=row.wallet_email)
    account, source = effective or (None, None)
    return EffectiveAccount(row.organization_id, account, source)

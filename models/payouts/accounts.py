"""Payout accounts: chosen by the person for every tenant, or by an operator or an import for one."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts.destinations import PayoutAccount
from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class OwnAccount:
    """The payout account that a person chose; both None: none chosen, or no longer."""

    account: PayoutAccount | None
    changed_at: datetime | None


_ACCOUNT = "{0}.payout_method, {0}.payout_destination"
_FIND = f"""
select {columns(OwnAccount, account=_ACCOUNT.format("k"), changed_at="k.payout_changed_at")}
from affiliate_account k where k.id = %s
"""
_LOCK = f"{_FIND} for no key update"
_own = Rows(OwnAccount)


def find(account_id: UUID) -> OwnAccount:
    """Return a person's own payout account."""
    (own,) = _own.all(_FIND, (account_id,))
    return own


def lock(account_id: UUID) -> OwnAccount:
    """Return a person's own payout account, locked until the transaction ends."""
    (own,) = _own.all(_LOCK, (account_id,))
    return own


_SET_OWN = """
update affiliate_account set payout_method = %s, payout_destination = %s, payout_changed_at = %s where id = %s
"""


def stage_own(account_id: UUID, account: PayoutAccount | None, *, at: datetime) -> None:
    """Stage a person's own payout account; None removes it."""
    db.stage(
        _SET_OWN, (account and account.method, account and account.destination, at if account else None, account_id)
    )


_AFFILIATES = "select organization_id, id from affiliate where account_id = %s order by organization_id, id"


def any_org_list_affiliates(account_id: UUID) -> list[tuple[UUID, UUID]]:
    """Return organization and id of every affiliate of a person; deleted affiliates are still paid."""
    return [(organization_id, affiliate_id) for organization_id, affiliate_id in db.run(_AFFILIATES, (account_id,))]


@dataclass(frozen=True, slots=True)
class AffiliateAccounts:
    """All payout accounts set for one affiliate."""

    organization_id: UUID
    own: PayoutAccount | None
    operators: PayoutAccount | None
    wallet_email: str | None


_OF_AFFILIATE = f"""
select {columns(AffiliateAccounts, "a", own=_ACCOUNT.format("k"), operators=_ACCOUNT.format("a"))}
from affiliate a left join affiliate_account k on k.id = a.account_id
"""
_FIND_OF_AFFILIATE = f"{_OF_AFFILIATE} where a.organization_id = %s and a.id = %s"
_LOCK_OF_AFFILIATE = f"{_OF_AFFILIATE} where a.id = %s for no key update of a"
_affiliate_accounts = Rows(AffiliateAccounts)


def find_of_affiliate(*, organization_id: UUID, affiliate_id: UUID) -> AffiliateAccounts | None:
    """Return the accounts of an affiliate. Budget: 1 statement."""
    return _affiliate_accounts.first(_FIND_OF_AFFILIATE, (organization_id, affiliate_id))


def any_org_lock_of_affiliate(affiliate_id: UUID) -> AffiliateAccounts | None:
    """Return the accounts of an affiliate, who is locked until the transaction ends."""
    return _affiliate_accounts.first(_LOCK_OF_AFFILIATE, (affiliate_id,))


_SET_OPERATORS = (
    "update affiliate set payout_method = %s, payout_destination = %s where organization_id = %s and id = %s"
)


def stage_operators(*, organization_id: UUID, affiliate_id: UUID, account: PayoutAccount | None) -> None:
    """Stage the operator's account for an affiliate; None removes it."""
    db.stage(
        _SET_OPERATORS, (account and account.method, account and account.destination, organization_id, affiliate_id)
    )

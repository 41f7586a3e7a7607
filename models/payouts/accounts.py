"""Where people want to be paid: said by themselves for every tenant, by an operator or an import for one."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts.destinations import PayoutAccount
from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class Own:
    """What a person said; both None: nothing, or nothing any more."""

    account: PayoutAccount | None
    changed_at: datetime | None


_ACCOUNT = "{0}.payout_method, {0}.payout_destination"
_FIND = f"""
select {columns(Own, account=_ACCOUNT.format("k"), changed_at="k.payout_changed_at")}
from affiliate_account k where k.id = %s
"""
_LOCK = f"{_FIND} for no key update"
_own = Rows(Own)


def find(account_id: UUID) -> Own:
    """Return where a person wants to be paid."""
    (found,) = _own.all(_FIND, (account_id,))
    return found


def lock(account_id: UUID) -> Own:
    """Return where a person wants to be paid, locked until the transaction ends."""
    (found,) = _own.all(_LOCK, (account_id,))
    return found


_SAY = """
update affiliate_account set payout_method = %s, payout_destination = %s, payout_changed_at = %s where id = %s
"""


def stage_own(account_id: UUID, wanted: PayoutAccount | None, *, at: datetime) -> None:
    """Stage where a person wants to be paid from now on; None: they say nothing any more."""
    db.stage(_SAY, (wanted and wanted.method, wanted and wanted.destination, at if wanted else None, account_id))


_AFFILIATES = "select organization_id, id from affiliate where account_id = %s order by organization_id, id"


def any_org_affiliates(account_id: UUID) -> list[tuple[UUID, UUID]]:
    """Return organization and id of every affiliate that a person is; deleted affiliates are still paid."""
    return [(organization_id, affiliate_id) for organization_id, affiliate_id in db.run(_AFFILIATES, (account_id,))]


@dataclass(frozen=True, slots=True)
class NamedAccounts:
    """Everything that was said of where one affiliate is to be paid."""

    organization_id: UUID
    own: PayoutAccount | None
    operators: PayoutAccount | None
    wallet_email: str | None


_NAMED = f"""
select {columns(NamedAccounts, "a", own=_ACCOUNT.format("k"), operators=_ACCOUNT.format("a"))}
from affiliate a left join affiliate_account k on k.id = a.account_id
"""
_FIND_NAMED = f"{_NAMED} where a.organization_id = %s and a.id = %s"
_LOCK_NAMED = f"{_NAMED} where a.id = %s for no key update of a"
_named = Rows(NamedAccounts)


def named(*, organization_id: UUID, affiliate_id: UUID) -> NamedAccounts | None:
    """Return what was said of an affiliate. Budget: 1 statement."""
    return _named.first(_FIND_NAMED, (organization_id, affiliate_id))


def any_org_lock_named(affiliate_id: UUID) -> NamedAccounts | None:
    """Return what was said of an affiliate, who is locked until the transaction ends."""
    return _named.first(_LOCK_NAMED, (affiliate_id,))


_SAY_FOR = "update affiliate set payout_method = %s, payout_destination = %s where organization_id = %s and id = %s"


def stage_operators(*, organization_id: UUID, affiliate_id: UUID, wanted: PayoutAccount | None) -> None:
    """Stage what the operator says of an affiliate; None: nothing any more."""
    db.stage(_SAY_FOR, (wanted and wanted.method, wanted and wanted.destination, organization_id, affiliate_id))

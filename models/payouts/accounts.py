"""Where people want to be paid: said by themselves for every tenant, by an operator or an import for one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts.destinations import PayoutAccount
from domain.payouts.transfers import Method
from models.db import db


@dataclass(frozen=True, slots=True)
class Own:
    """What a person said; both None: nothing, or nothing any more."""

    account: PayoutAccount | None
    changed_at: datetime | None


_OWN = "select payout_method, payout_destination, payout_changed_at from affiliate_account where id = %s"


def find(account_id: UUID) -> Own:
    """Return where a person wants to be paid."""
    return _own(db.run(_OWN, (account_id,)))


def lock(account_id: UUID) -> Own:
    """Return where a person wants to be paid, locked until the transaction ends."""
    return _own(db.run(f"{_OWN} for no key update", (account_id,)))


def _own(rows: Sequence[tuple[str | None, str | None, datetime | None]]) -> Own:
    ((method, destination, changed_at),) = rows
    return Own(_account(method, destination), changed_at)


def stage_own(account_id: UUID, wanted: PayoutAccount | None, *, at: datetime) -> None:
    """Stage where a person wants to be paid from now on; None: they say nothing any more."""
    db.stage(
        "update affiliate_account set payout_method = %s, payout_destination = %s, payout_changed_at = %s"
        " where id = %s",
        (wanted and wanted.method, wanted and wanted.destination, at if wanted else None, account_id),
    )


def any_org_affiliates(account_id: UUID) -> list[tuple[UUID, UUID]]:
    """Return organization and id of every affiliate that a person is; deleted affiliates are still paid."""
    return [
        (organization_id, affiliate_id)
        for organization_id, affiliate_id in db.run(
            "select organization_id, id from affiliate where account_id = %s order by organization_id, id",
            (account_id,),
        )
    ]


@dataclass(frozen=True, slots=True)
class NamedAccounts:
    """Everything that was said of where one affiliate is to be paid."""

    organization_id: UUID
    own: PayoutAccount | None
    operators: PayoutAccount | None
    wallet_email: str | None


def any_org_lock_named(affiliate_id: UUID) -> NamedAccounts | None:
    """Return what was said of an affiliate, who is locked until the transaction ends."""
    row = db.row(
        "select a.organization_id, k.payout_method, k.payout_destination, a.payout_method, a.payout_destination,"
        " a.wallet_email from affiliate a left join affiliate_account k on k.id = a.account_id"
        " where a.id = %s for no key update of a",
        (affiliate_id,),
    )
    if row is None:
        return None
    return NamedAccounts(row[0], _account(row[1], row[2]), _account(row[3], row[4]), row[5])


def stage_operators(*, organization_id: UUID, affiliate_id: UUID, wanted: PayoutAccount | None) -> None:
    """Stage what the operator says of an affiliate; None: nothing any more."""
    db.stage(
        "update affiliate set payout_method = %s, payout_destination = %s where organization_id = %s and id = %s",
        (wanted and wanted.method, wanted and wanted.destination, organization_id, affiliate_id),
    )


def _account(method: str | None, destination: str | None) -> PayoutAccount | None:
    if method is None or destination is None:
        return None
    return PayoutAccount(Method(method), destination)

"""Release of payouts after the database was restored: uncertain ones are looked up at their rail before sending."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog

from domain.payouts import transfers
from domain.payouts.states import PayoutStatus, ReviewStatus
from domain.refusals import Refused
from models.payouts import admin_queries, attempts, payouts
from models.payouts.payouts import Payout
from models.restores import advances
from models.upkeep import known_servers
from pipelines.payouts import decisions
from pipelines.restores import completeness

_log = structlog.get_logger(__name__)

_NO_LIMIT = 10_000_000
# No rail has these books, so a payout recorded in them is looked up and never sent.
_BOOKS_BEFORE = "before the restore"


@dataclass(frozen=True, slots=True)
class WaitingPayout:
    """A payout that waits to be sent, and its key at the rail if it was paid in the lost time. US cents."""

    payout_id: str
    organization_id: str
    affiliate_id: str
    amount_cents: int
    method: str
    key: str


def any_org_list_waiting() -> list[WaitingPayout]:
    """Return the payouts that wait to be sent, newest first."""
    return [
        WaitingPayout(
            str(payout.id),
            str(payout.organization_id),
            str(payout.affiliate_id),
            payout.amount_cents,
            payout.method,
            transfers.idempotency_key(payout_id=payout.id, attempt=payout.attempt),
        )
        for payout in _list_pending()
    ]


@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """How many payouts are looked up at their rail before they are sent, and how many were voided to be netted."""

    looked_up: int
    voided: int


def any_org_release(*, restored_to: datetime, is_compared: bool, by: str, now: datetime) -> ReleaseResult:
    """Release payouts after a restore.

    All that can be sent are from before the restore, because none are created while payouts are held. They are recorded
    as attempted at that time: the rail is asked by key whether it has paid them, and they are sent only if it surely
    has not. Payouts to an affiliate with a payment lost in the restore are voided instead, unless their brand has
    exported them to pay by hand: their amount is due again, and the next run nets it.
    `is_compared`: refuse unless everything was compared. Raises Refused 409: not_restored, not_compared.
    """
    if is_compared and not known_servers.is_known():
        _check_compared(restored_to)
    if not known_servers.insert_known(by=by, restored_to=restored_to):
        raise Refused(409, "not_restored", "This server's payment records are complete: no payouts are held.")
    pending = _list_pending()
    netted_ids = _release_to_net(pending, now)
    _stop_resending()
    waiting = [row for row in pending if row.id not in netted_ids]
    locked = [payouts.lock(organization_id=row.organization_id, payout_id=row.id) for row in waiting]
    uncertain = [row for row in locked if row is not None and _can_be_sent(row, now)]
    for payout in uncertain:
        key = transfers.idempotency_key(payout_id=payout.id, attempt=payout.attempt)
        attempts.stage_possible(payout, key=key, at=restored_to)
        payouts.stage_change(payout, status=PayoutStatus.Processing, submitted_at=restored_to)
    _log.warning(
        "payout.released_after_restore",
        restored_to=restored_to.isoformat(),
        looked_up=len(uncertain),
        let_go=len(netted_ids),
    )
    return ReleaseResult(len(uncertain), len(netted_ids))


def _check_compared(restored_to: datetime) -> None:
    cleanness = completeness.any_org_check(restored_to=restored_to)
    if cleanness.is_complete:
        return
    missing = [f"{method} was not compared since {restored_to.isoformat()}" for method in cleanness.missing]
    if cleanness.open:
        missing.append(f"{len(cleanness.open)} transfers wait for a decision")
    message = f"Payouts stay held: {', '.join(missing)}. Next: flask restore reconcile, flask restore status"
    raise Refused(409, "not_compared", message)


def _release_to_net(pending: Sequence[admin_queries.AdminPayout], now: datetime) -> set[UUID]:
    """Void Pending payouts to affiliates who have a lost payment to net; return their ids."""
    netted_ids = set()
    for row in _with_advances(pending):
        payout = decisions.lock(organization_id=row.organization_id, payout_id=row.id)
        is_listed = payout.exported_at is not None  # the brand may be paying it by hand, and voids it if not
        if payout.status == PayoutStatus.Pending and payout.milestone_id is None and not is_listed:
            decisions.void_to_net(payout, now=now)
            netted_ids.add(payout.id)
    return netted_ids


def _stop_resending() -> None:
    """Make payouts in progress to such affiliates looked up only, never sent again."""
    for row in _with_advances(_list_by_status(PayoutStatus.Processing)):
        payout = payouts.lock(organization_id=row.organization_id, payout_id=row.id)
        if payout is not None and payout.status == PayoutStatus.Processing:
            attempts.stage_books(payout, _BOOKS_BEFORE)


def _with_advances(waiting: Sequence[admin_queries.AdminPayout]) -> list[admin_queries.AdminPayout]:
    """Return the payouts whose affiliates have a lost payment to net, in the order of their ids."""
    by_organization: defaultdict[UUID, list[admin_queries.AdminPayout]] = defaultdict(list)
    for row in sorted(waiting, key=lambda row: (row.organization_id, row.id)):
        by_organization[row.organization_id].append(row)
    advanced = []
    for organization_id, rows in by_organization.items():
        affiliate_ids = [row.affiliate_id for row in rows]
        outstanding = advances.filter_outstanding(organization_id=organization_id, affiliate_ids=affiliate_ids)
        advanced += [row for row in rows if row.affiliate_id in outstanding]
    return advanced


def _list_pending() -> list[admin_queries.AdminPayout]:
    return _list_by_status(PayoutStatus.Pending)


def _list_by_status(status: PayoutStatus) -> list[admin_queries.AdminPayout]:
    return admin_queries.any_org_list_payouts(organization_id=None, run_id=None, status=status, limit=_NO_LIMIT)


def _can_be_sent(payout: Payout, now: datetime) -> bool:
    is_held_back = (
        payout.review_status in (ReviewStatus.Pending, ReviewStatus.Rejected) or payout.exported_at is not None
    )
    is_waiting = payout.hold_until is not None and payout.hold_until > now
    return payout.status == PayoutStatus.Pending and payout.amount_cents > 0 and not is_held_back and not is_waiting

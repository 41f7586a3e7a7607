"""What operators decide after the database was restored: that payouts may go on, the doubtful ones by a look-up."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog

from domain.payouts import transfers
from domain.payouts.states import PayoutStatus, ReviewStatus
from domain.refused import Refused
from models.payouts import attempts, desk, payouts
from models.payouts.payouts import Payout
from models.restores import advances
from models.upkeep import known_servers
from pipelines.payouts import decisions
from pipelines.restores import completeness

_log = structlog.get_logger(__name__)

_ALL = 10_000_000
# No rail has these books, so what is written to be in them is looked up and never sent.
_BOOKS_BEFORE = "before the restore"


@dataclass(frozen=True, slots=True)
class Unsure:
    """A payout that waits, and the key that its rail knows it by if it was paid meanwhile. US cents."""

    payout_id: str
    organization_id: str
    affiliate_id: str
    amount_cents: int
    method: str
    key: str


def any_org_unsure() -> list[Unsure]:
    """Return the payouts that wait to be sent, newest first."""
    return [
        Unsure(
            str(one.id),
            str(one.organization_id),
            str(one.affiliate_id),
            one.amount_cents,
            one.method,
            transfers.key_of(payout_id=one.id, attempt=one.attempt),
        )
        for one in _pending()
    ]


@dataclass(frozen=True, slots=True)
class Released:
    """How many payouts are looked up at their rail before they are sent, and how many were let go of to be netted."""

    looked_up: int
    let_go: int


def any_org_release(*, restored_to: datetime, is_compared: bool, by: str, now: datetime) -> Released:
    """Let payouts go on.

    Those that could be sent are from before the restore, for none are made while they are held. They are written down
    as asked at that time: the rail is asked by its key whether it has paid them, and they are sent only where it surely
    has not. Payouts to an affiliate who was paid something that was forgotten are let go of instead, unless their brand
    has listed them to pay by hand: what they were to pay is due again, and the next run nets it.
    `is_compared`: refuse where not everything was compared. Raises Refused 409: not_restored, not_compared.
    """
    if is_compared and not known_servers.is_known():
        _check_compared(restored_to)
    if not known_servers.know(by=by, restored_to=restored_to):
        raise Refused(409, "not_restored", "This server's books are known to be whole: nothing is held.")
    pending = _pending()
    netted = _let_go_to_net(pending, now)
    _never_send_again()
    waiting = [one for one in pending if one.id not in netted]
    locked = [payouts.lock(organization_id=one.organization_id, payout_id=one.id) for one in waiting]
    doubtful = [one for one in locked if one is not None and _could_be_sent(one, now)]
    for payout in doubtful:
        key = transfers.key_of(payout_id=payout.id, attempt=payout.attempt)
        attempts.stage_possible(payout, key=key, at=restored_to)
        payouts.stage_change(payout, status=PayoutStatus.Processing, submitted_at=restored_to)
    _log.warning(
        "payout.released_after_restore",
        restored_to=restored_to.isoformat(),
        looked_up=len(doubtful),
        let_go=len(netted),
    )
    return Released(len(doubtful), len(netted))


def _check_compared(restored_to: datetime) -> None:
    cleanness = completeness.any_org_check(restored_to=restored_to)
    if cleanness.is_complete:
        return
    missing = [f"{method} was not compared since {restored_to.isoformat()}" for method in cleanness.missing]
    if cleanness.open:
        missing.append(f"{len(cleanness.open)} transfers wait for a decision")
    message = f"Payouts stay held: {', '.join(missing)}. Next: flask restore reconcile, flask restore status"
    raise Refused(409, "not_compared", message)


def _let_go_to_net(pending: Sequence[desk.DeskPayout], now: datetime) -> set[UUID]:
    """Let go of Pending payouts to affiliates who have a forgotten payment to net; return which."""
    netted = set()
    for one in _of_advanced(pending):
        payout = decisions.lock(organization_id=one.organization_id, payout_id=one.id)
        is_listed = payout.exported_at is not None  # the brand may be paying it by hand, and voids it if not
        if payout.status == PayoutStatus.Pending and payout.milestone_id is None and not is_listed:
            decisions.void_to_net(payout, now=now)
            netted.add(payout.id)
    return netted


def _never_send_again() -> None:
    """Have payouts that are on their way to such affiliates looked up only, and never sent again."""
    for one in _of_advanced(_in_status(PayoutStatus.Processing)):
        payout = payouts.lock(organization_id=one.organization_id, payout_id=one.id)
        if payout is not None and payout.status == PayoutStatus.Processing:
            attempts.stage_books(payout, _BOOKS_BEFORE)


def _of_advanced(found: Sequence[desk.DeskPayout]) -> list[desk.DeskPayout]:
    """Return those of the payouts whose affiliates have a forgotten payment to net, in the order of their ids."""
    by_organization: defaultdict[UUID, list[desk.DeskPayout]] = defaultdict(list)
    for one in sorted(found, key=lambda one: (one.organization_id, one.id)):
        by_organization[one.organization_id].append(one)
    advanced = []
    for organization_id, theirs in by_organization.items():
        whose = [one.affiliate_id for one in theirs]
        outstanding = advances.outstanding(organization_id=organization_id, affiliate_ids=whose)
        advanced += [one for one in theirs if one.affiliate_id in outstanding]
    return advanced


def _pending() -> list[desk.DeskPayout]:
    return _in_status(PayoutStatus.Pending)


def _in_status(status: PayoutStatus) -> list[desk.DeskPayout]:
    return desk.any_org_payouts(organization_id=None, run_id=None, status=status, limit=_ALL)


def _could_be_sent(payout: Payout, now: datetime) -> bool:
    is_held_back = (
        payout.review_status in (ReviewStatus.Pending, ReviewStatus.Rejected) or payout.exported_at is not None
    )
    is_waiting = payout.hold_until is not None and payout.hold_until > now
    return payout.status == PayoutStatus.Pending and payout.amount_cents > 0 and not is_held_back and not is_waiting

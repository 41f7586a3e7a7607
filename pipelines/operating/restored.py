"""What operators decide after the database was restored: that payouts may go on, the doubtful ones by a look-up."""

from dataclasses import dataclass
from datetime import datetime

import structlog

from domain.payouts import transfers
from domain.payouts.states import PayoutStatus, ReviewStatus
from domain.refused import Refused
from models.payouts import attempts, desk, payouts
from models.payouts.payouts import Payout
from models.upkeep import known_servers

_log = structlog.get_logger(__name__)

_ALL = 10_000_000


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


def any_org_release(*, restored_to: datetime, by: str, now: datetime) -> int:
    """Let payouts go on, and return how many of them are looked up at their rail before they are sent.

    Those are the ones that could be sent at that moment: each is written down as asked then, so its rail is asked by
    its key whether it has paid it, and it is sent only where the rail surely has not. Raises Refused 409 not_restored.
    """
    if not known_servers.know(by=by, restored_to=restored_to):
        raise Refused(409, "not_restored", "This server's books are known to be whole: nothing is held.")
    made_before = [one for one in _pending() if one.created_at <= restored_to]
    locked = [payouts.lock(organization_id=one.organization_id, payout_id=one.id) for one in made_before]
    doubtful = [one for one in locked if one is not None and _could_be_sent(one, now)]
    for payout in doubtful:
        key = transfers.key_of(payout_id=payout.id, attempt=payout.attempt)
        attempts.stage_possible(payout, key=key, at=restored_to)
        payouts.stage_change(payout, status=PayoutStatus.Processing, submitted_at=restored_to)
    _log.warning("payout.released_after_restore", restored_to=restored_to.isoformat(), looked_up=len(doubtful))
    return len(doubtful)


def _pending() -> list[desk.DeskPayout]:
    return desk.any_org_payouts(organization_id=None, run_id=None, status=PayoutStatus.Pending, limit=_ALL)


def _could_be_sent(payout: Payout, now: datetime) -> bool:
    is_held_back = (
        payout.review_status in (ReviewStatus.Pending, ReviewStatus.Rejected) or payout.exported_at is not None
    )
    is_waiting = payout.hold_until is not None and payout.hold_until > now
    return payout.status == PayoutStatus.Pending and payout.amount_cents > 0 and not is_held_back and not is_waiting

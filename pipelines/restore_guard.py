"""Blocks payouts on a server whose database was restored or replaced, because it may miss payments."""

from datetime import datetime, timedelta

import structlog

from domain.refusals import Refused
from models.upkeep import known_servers
from pipelines.work import TryAgain

_log = structlog.get_logger(__name__)

_RETRY_AFTER = timedelta(minutes=1)
_RESTORED = "the database was restored or replaced; an operator compares what was paid first"


def check(now: datetime) -> None:
    """Raise TryAgain if the database was restored, or replaced by a replica, until an operator has compared it.

    Payments made after the time that it was restored to are missing and would be made again.
    """
    if not known_servers.is_known():
        _log.error("payout.server_unknown")
        raise TryAgain(at=now + _RETRY_AFTER, why=_RESTORED)


def check_payouts_allowed() -> None:
    """Raise Refused 409 payouts_on_hold on such a server: due amounts may have been paid before the restore."""
    if not known_servers.is_known():
        message = (
            "The service was restored from a backup, and what is due may have been paid before that."
            " Payouts go on when the operator has compared it with the payment providers."
        )
        raise Refused(409, "payouts_on_hold", message)

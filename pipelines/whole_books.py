"""Lets no money move on a server that may have forgotten what was paid."""

from datetime import datetime, timedelta

import structlog

from domain.refusals import Refused
from models.upkeep import known_servers
from pipelines.work import TryAgain

_log = structlog.get_logger(__name__)

_LOOK_AGAIN = timedelta(minutes=1)
_RESTORED = "the database was restored or replaced; an operator compares what was paid first"


def check(now: datetime) -> None:
    """Raise TryAgain where the database was restored, or replaced by a replica, until an operator has compared it.

    What was paid after the moment that it was restored to is not written here, and would be paid again.
    """
    if not known_servers.is_known():
        _log.error("payout.server_unknown")
        raise TryAgain(at=now + _LOOK_AGAIN, why=_RESTORED)


def refuse_payouts() -> None:
    """Raise Refused 409 payouts_on_hold on such a server: what is due on it may have been paid before the restore."""
    if not known_servers.is_known():
        message = (
            "The service was restored from a backup, and what is due may have been paid before that."
            " Payouts go on when the operator has compared it with the payment providers."
        )
        raise Refused(409, "payouts_on_hold", message)

"""The amounts owed to the signed-in affiliate: sums of the ledger by currency, and when more becomes payable."""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge.operations import object_of, operation
from models import db
from models.ledger import balances
from schemas.me.balance import OwnBalanceRecord

blueprint = Blueprint("own_balance", __name__)

_READ = Guard(audience="affiliate", verified_email=True)
_RECORD = OwnBalanceRecord()
_MAX_DAYS = 50


@blueprint.get("/api/me/balance")
@operation(_READ, object_of(_RECORD))
def get_own_balance() -> Mapping[str, object]:
    """Show the caller's amounts on hold, payable, on their way and paid, and the next days with more payable.

    The days come from the holds that payout runs use, and both are of the same time. Budget: 1 statement.
    """
    account, now = guards.account(), clock.now()
    with db.any_org_work():
        balance = balances.any_org_find_of_person(account_id=account.id, email=account.email, now=now, days=_MAX_DAYS)
    return _RECORD.dump(balance)

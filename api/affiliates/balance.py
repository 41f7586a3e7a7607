"""An affiliate's balance, for the brand."""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import path
from api.edge.operations import object_of, operation
from domain.organization import plans
from models import db
from models.ledger import balances
from pipelines.affiliates import management
from schemas.affiliates.balance import AffiliateBalancesRecord

blueprint = Blueprint("affiliate_balance", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RECORD = AffiliateBalancesRecord()


@blueprint.get("/api/v1/affiliates/<affiliate_id>/balance")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_affiliate_balance(affiliate_id: str) -> Mapping[str, object]:
    """Show how much an affiliate has on hold, payable, on its way and paid, by currency.

    Three round trips for any number of sales: affiliate, sums, commit.
    """
    wanted_id, organization_id = path.uuid(affiliate_id, "affiliate"), guards.organization_id()
    with db.unit_of_work(organization_id):
        management.find(organization_id=organization_id, affiliate_id=wanted_id)
        by_affiliate = balances.list_of_affiliates(
            organization_id=organization_id, affiliate_ids=[wanted_id], now=clock.now()
        )
    return _RECORD.dump({"affiliate_id": wanted_id, "balances": by_affiliate[wanted_id]})

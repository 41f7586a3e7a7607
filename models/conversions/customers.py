"""Counts the payments of customers in a program, over all sources (decision 68).

The rules stand in the functions `customer_payments` and `count_payment` of the database: a signed sale is counted in
the round trip that accepts it.
"""

from datetime import datetime
from uuid import UUID

from domain.conversions.customers import CustomerNames
from models.db import db
from models.prepared_statements import PreparedStatement

#: SQL of the names of a customer, as the functions take them; `named` has the parameters.
NAMES = "%(id_name)s::text, %(other_name)s::text, %(gateway_of_id)s::text, %(email_name)s::text, %(inbox)s::text"
_COUNT = PreparedStatement(
    f"select 1 from count_payment(%(org)s, %(program)s, {NAMES}, %(paid_at)s, null, %(ordinal)s)"
)


def named(customer: CustomerNames) -> dict[str, str | None]:
    """Return the parameters of `NAMES`."""
    return {
        "id_name": customer.id_name,
        "other_name": customer.other_name,
        "gateway_of_id": customer.gateway,
        "email_name": customer.email_name,
        "inbox": customer.inbox,
    }


def stage_count(
    customer: CustomerNames,
    *,
    organization_id: UUID,
    program_id: UUID,
    paid_at: datetime,
    ordinal: int | None = None,
) -> None:
    """Stage that a payment counts as one of its customer; nothing where nobody is known.

    With `ordinal` the transaction fails where it is not this payment of the customer by now.
    """
    if customer.is_known:
        sent = {"org": organization_id, "program": program_id, "paid_at": paid_at, "ordinal": ordinal}
        db.stage(_COUNT, sent | named(customer))

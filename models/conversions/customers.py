"""Counts the payments of a program's customers over all sources (decision 68).

The rules are in the database functions `customer_payments` and `count_payment`: a signed sale is counted in the
round trip that accepts it.
"""

from datetime import datetime
from uuid import UUID

from domain.conversions.customers import CustomerNames
from models.db import db
from models.prepared_statements import PreparedStatement

#: SQL of a customer's identifiers as the functions take them; `name_params` returns the parameters.
NAMES = "%(id_name)s::text, %(other_name)s::text, %(gateway_of_id)s::text, %(email_name)s::text, %(inbox)s::text"
_COUNT = PreparedStatement(
    f"select 1 from count_payment(%(org)s, %(program)s, {NAMES}, %(paid_at)s, null, %(ordinal)s)"
)


def name_params(customer: CustomerNames) -> dict[str, str | None]:
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
    """Stage the count of a payment of its customer; nothing if the customer is unknown.

    With `ordinal` the transaction fails if the payment is no longer the customer's payment of this number.
    """
    if customer.is_known:
        params = {"org": organization_id, "program": program_id, "paid_at": paid_at, "ordinal": ordinal}
        db.stage(_COUNT, params | name_params(customer))

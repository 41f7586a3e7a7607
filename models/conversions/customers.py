"""Counts the payments of a program's customers over all sources (decision 68).

The rules are in the database functions `customer_payments`, `paying_customer` and `count_payment`: a signed sale is
counted in the round trip that accepts it.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from domain.conversions.customers import CustomerNames
from models.db import db
from models.prepared_statements import PreparedStatement

#: SQL of a customer's identifiers as the functions take them; `name_params` returns the parameters.
NAMES = "%(id_name)s::text, %(other_name)s::text, %(gateway_of_id)s::text, %(email_name)s::text, %(inbox)s::text"
# All names first, in one order, so that two imports that count the same customers never deadlock. Locked by a separate
# statement, which sees the rows that others inserted meanwhile.
_NOTE = """
insert into program_customer (organization_id, program_id, customer_key, first_paid_at, payments)
select %(org)s, %(program)s, name, %(at)s, 0
from (select distinct unnest(%(names)s::text[]) as name) named
where name is not null order by name collate "C"
on conflict do nothing
"""
_LOCK = """
select from program_customer
where organization_id = %(org)s and program_id = %(program)s and customer_key = any(%(names)s::text[])
order by customer_key collate "C" for update
"""
_COUNT = PreparedStatement(
    f"select 1 from count_payment(%(org)s, %(program)s, {NAMES}, %(paid_at)s, null, %(ordinal)s)"
)
_COUNT_OF_SUBSCRIPTION = PreparedStatement(
    f"select 1 from count_subscription_payment(%(org)s, %(program)s, {NAMES}, %(subscription_name)s, %(paid_at)s,"
    " %(ordinal)s)"
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
    joins_subscription: bool = False,
) -> None:
    """Stage the count of a payment of its customer; nothing if the customer is unknown.

    With `ordinal` the transaction fails if the payment is no longer the customer's payment of this number.
    `joins_subscription`: the subscription leads to a customer to whom the payment's other names don't lead
    (`paying_customer` in the database); the two are counted as one.
    """
    params = {
        "org": organization_id,
        "program": program_id,
        **name_params(customer),
        "paid_at": paid_at,
        "ordinal": ordinal,
    }
    if joins_subscription:
        db.stage(_COUNT_OF_SUBSCRIPTION, params | {"subscription_name": customer.subscription_name})
    elif customer.is_known:
        db.stage(_COUNT, params)


def stage_new_names(names: Sequence[str | None], *, organization_id: UUID, program_id: UUID, at: datetime) -> None:
    """Stage that names of customers exist, those that are new without a payment, and lock them as `stage_locks`."""
    db.stage(_NOTE, {"org": organization_id, "program": program_id, "names": list(names), "at": at})
    stage_locks(names, organization_id=organization_id, program_id=program_id)


def stage_locks(names: Sequence[str | None], *, organization_id: UUID, program_id: UUID) -> None:
    """Stage the locks of customers' names until the transaction ends, in the order in which all imports lock them."""
    db.stage(_LOCK, {"org": organization_id, "program": program_id, "names": list(names)})

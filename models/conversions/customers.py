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
#: SQL of the payments of a subscription, of which imports knew nothing else, for an affiliate `a` of the program. They
#: are not counted under the customer's names until a payment of the subscription joins them.
IMPORTED_SUBSCRIPTION = """select i.payments, i.first_paid_at from program_customer i
  where i.organization_id = %(org)s and i.program_id = a.program_id and i.customer_key = %(subscription_name)s
    and i.joined_to is null and i.payments > 0"""
_LOCK = PreparedStatement("""
select from program_customer
where organization_id = %(org)s and program_id = %(program)s
  and customer_key in (%(id_name)s, %(other_name)s, %(email_name)s, %(subscription_name)s)
order by customer_key collate "C" for update
""")
_JOIN = PreparedStatement("""
with imported as (
  select customer_key, payments, first_paid_at from program_customer
  where organization_id = %(org)s and program_id = %(program)s and customer_key = %(subscription_name)s
    and joined_to is null and payments > 0
), customer as (
  select coalesce(
    customer_name(%(org)s, %(program)s, %(id_name)s, %(other_name)s, %(gateway_of_id)s, %(inbox)s),
    (select joined_to from program_customer
      where organization_id = %(org)s and program_id = %(program)s and customer_key = %(email_name)s),
    %(email_name)s) as name
), joined as (
  update program_customer c set joined_to = customer.name, payments = 0
  from imported, customer
  where c.organization_id = %(org)s and c.program_id = %(program)s and c.customer_key = imported.customer_key
), moved as (
  delete from import_customer
  where organization_id = %(org)s and program_id = %(program)s and customer_key = %(subscription_name)s returning *
), undoable as (
  insert into import_customer as i (organization_id, program_id, customer_key, import_job_id, first_paid_at, payments)
  select m.organization_id, m.program_id, customer.name, m.import_job_id, m.first_paid_at, m.payments
  from moved m, customer
  on conflict (organization_id, program_id, customer_key, import_job_id) do update
  set payments = i.payments + excluded.payments, first_paid_at = least(i.first_paid_at, excluded.first_paid_at)
)
insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, payments)
select %(org)s, %(program)s, customer.name, imported.first_paid_at, imported.payments from imported, customer
on conflict (organization_id, program_id, customer_key) do update
set payments = c.payments + excluded.payments,
  first_paid_at = case when c.payments > 0 then least(c.first_paid_at, excluded.first_paid_at)
    else excluded.first_paid_at end
""")
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
    joins_subscription: bool = False,
) -> None:
    """Stage the count of a payment of its customer; nothing if the customer is unknown.

    With `ordinal` the transaction fails if the payment is no longer the customer's payment of this number.
    `joins_subscription`: the payments of `IMPORTED_SUBSCRIPTION` are counted as the customer's first. The names are
    locked in the order in which imports lock them.
    """
    if not customer.is_known:
        return
    params = {"org": organization_id, "program": program_id, **name_params(customer)}
    if joins_subscription:
        for statement in (_LOCK, _JOIN):
            db.stage(statement, params | {"subscription_name": customer.subscription_name})
    db.stage(_COUNT, params | {"paid_at": paid_at, "ordinal": ordinal})

"""Earlier data of a brand: settled conversions with all rows that the product writes for each, inserted in bulk."""

from collections.abc import Mapping
from typing import Any

from bench.ground.brand import Brand
from bench.screen import Report

_CHUNK = 100_000

# The owner may skip foreign key checks; the rows are consistent by construction. One second apart, ending now.
_LOAD = """
create temp table numbered on commit drop as
  select uuidv7(make_interval(secs => n - %(all)s)) as id, n, now() + make_interval(secs => n - %(all)s) as at,
    (%(affiliates)s::uuid[])[1 + n %% %(of)s] as affiliate_id
  from generate_series(%(first)s::int, %(last)s::int) n;
insert into sale (id, organization_id, external_event_id, program_id, affiliate_id, amount_cents, currency, is_test,
    accepted_at, settled_at)
  select id, %(org)s, 'load-' || n, %(program)s, affiliate_id, 10000, 'USD', false, at, at from numbered;
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, rate_type, rate_value, occurred_at, hold_until, created_at)
  select id, %(org)s, %(program)s, affiliate_id, 's2s', 'load-' || n, 10000, 'USD', 2000, 'Pending', 'OneTime',
    'program', 'Percentage', 20, at, at + interval '30 days', at from numbered;
insert into conversion_event (id, organization_id, conversion_id, event_type, amount_cents, commission_cents,
    occurred_at)
  select uuidv7(at - now()), %(org)s, id, 'initial', 10000, 2000, at from numbered;
insert into ledger_entry (id, organization_id, affiliate_id, program_id, conversion_id, kind, amount_cents, currency,
    cause_id, is_test, created_at)
  select uuidv7(at - now()), %(org)s, affiliate_id, %(program)s, id, 'earn', 2000, 'USD', id, false, at from numbered;
insert into event (id, organization_id, type, body, created_at)
  select uuidv7(at - now()), %(org)s, 'conversion.created', repeat('x', 450), at from numbered;
insert into affiliate_revenue as r (organization_id, affiliate_id, day, currency, net_cents)
  select %(org)s, affiliate_id, at::date, 'USD', sum(10000) from numbered group by affiliate_id, at::date
  on conflict (organization_id, affiliate_id, day, currency) do update set net_cents = r.net_cents + excluded.net_cents
"""


def load(cursor: Any, seller: Brand, conversions: int, report: Report) -> None:
    """Insert settled sales with conversion, event line, ledger entry, event and revenue, in the product's order."""
    parameters = {
        "org": seller.id,
        "program": seller.program_id,
        "affiliates": seller.affiliate_ids,
        "of": len(seller.affiliate_ids),
        "all": conversions,
    }
    insert(cursor, _LOAD, parameters, conversions, report)


def insert(cursor: Any, statement: str, parameters: Mapping[str, object], rows: int, report: Report) -> None:
    """Run a statement in chunks, each for the numbers from `first` to `last`, until there are `rows` rows.

    Foreign keys are not checked, which only the owner may skip: the referenced rows need not exist.
    """
    for first in range(1, rows + 1, _CHUNK):
        last = min(first + _CHUNK - 1, rows)
        cursor.execute("begin; set local session_replication_role = replica")
        cursor.execute(statement, {**parameters, "first": first, "last": last})
        cursor.execute("commit")
        report(last)


def settle_down(cursor: Any) -> None:
    """Do now what autovacuum and the checkpointer would otherwise do in the middle of a measurement."""
    cursor.execute("vacuum (analyze)")
    cursor.execute("checkpoint")

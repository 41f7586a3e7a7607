"""A brand that owes a lot of money: 10,000 affiliates with accounts, conversions in five currencies that are all due.

Every affiliate has as many conversions in each currency, spread over a year. The brand is verified, its currency is
USD, and there is a rate for every weekday of the last year and a half.
"""

from typing import Any

from bench.ground import brand, history
from bench.ground.brand import Brand
from bench.screen import Screen

AFFILIATES = 10_000
_CHUNK = 100_000

_VERIFIED = "update organization set verification_state = 'verified', sandbox_rail = 'ok' where id = %(org)s"
_AFFILIATES = """
insert into affiliate (id, organization_id, program_id, email, email_normalized, status, source, approved_at,
    payout_method, payout_destination)
  select uuidv7(), %(org)s, %(program)s, 'payee-' || n || '@example.com', 'payee-' || n || '@example.com', 'Approved',
    'Direct', now(), 'ProcessorConnect', 'acct_' || n from generate_series(1, %(count)s) n returning id
"""
_RATES = """
insert into fx_rate (currency, published_on, per_usd)
  select currency, day, per_usd * (1 + extract(doy from day) * 0.000123456789)
  from generate_series(current_date - 500, current_date, interval '1 day') day,
    (values ('EUR', 0.85), ('GBP', 0.75), ('JPY', 150.5), ('CAD', 1.37)) known (currency, per_usd)
  where extract(isodow from day) < 6 or day >= current_date - 3
"""
# The affiliates are in the brand's one program; the owner may skip the check.
_CONVERSIONS = """
set local session_replication_role = replica;
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, rate_type, rate_value, occurred_at, hold_until, created_at)
  select uuidv7(at - now()), %(org)s, %(program)s, (%(affiliates)s::uuid[])[1 + n %% %(of)s], 's2s', 'load-' || n,
    10000 + n %% 50000, (array['USD', 'EUR', 'GBP', 'JPY', 'CAD'])[1 + n / %(of)s %% 5], 2000 + n %% 10007, 'Approved',
    'OneTime', 'program', 'Percentage', 20, at, at + interval '30 days', at
  from (select n, now() - interval '365 days' * (1 - n / %(all)s::float) as at
    from generate_series(%(first)s::int, %(last)s::int) n) made
"""


def create(url: str, cursor: Any, *, affiliates: int) -> tuple[Brand, list[Any]]:
    """Make the brand in a fresh database, and return it with the ids of the affiliates that are paid."""
    seller = brand.create(url)
    cursor.execute(_VERIFIED, {"org": seller.id})
    cursor.execute(_AFFILIATES, {"org": seller.id, "program": seller.program_id, "count": affiliates})
    payees = [affiliate_id for (affiliate_id,) in cursor.fetchall()]
    cursor.execute(_RATES)
    return seller, payees


def load(cursor: Any, seller: Brand, payees: list[Any], count: int, screen: Screen, *, already: int = 0) -> None:
    """Insert conversions that are due until there are `count`, and let the tables settle down."""
    facts = {
        "org": seller.id,
        "program": seller.program_id,
        "affiliates": payees,
        "of": len(payees),
        "all": count,
    }
    with screen.phase("conversions to load", total=count) as report:
        for first in range(already + 1, count + 1, _CHUNK):
            last = min(first + _CHUNK - 1, count)
            cursor.execute("begin")
            cursor.execute(_CONVERSIONS, facts | {"first": first, "last": last})
            cursor.execute("commit")
            report(last)
    history.settle_down(cursor)

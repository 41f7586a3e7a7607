"""Each rule about the money reports damaged rows: a check that cannot fail checks nothing."""

from collections.abc import Iterator
from contextlib import closing

import psycopg2
import pytest

from models.ledger import deal_rules, rules
from tests.support.installation import invariants
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

# Statements that damage rows, run as a superuser, and the beginning of the rule that must report each.
_DAMAGE = {
    "update sale set settled_at = null": "a settled sale has its conversion",
    "delete from conversion where parent_id is null": "a settled sale has its conversion",
    "delete from conversion where parent_id is null and true": "an accepted sale has its conversion",
    "delete from reversal where true": "a refund of a sale has reached its override",
    "insert into discarded_job (id, organization_id, name, args)"
    " select row_number() over (), organization_id, 'override.write',"
    " jsonb_build_object('conversion_id', parent_id, 'recruiter_id', affiliate_id, 'percent', '10')"
    " from conversion where parent_id is not null; delete from conversion where parent_id is not null":
        "work on money whose job was discarded is done",
    "delete from ledger_entry where kind = 'earn'": "the ledger earned what",
    "insert into click (id, organization_id, program_id, affiliate_id, slug, occurred_at, outcome)"
    " select gen_random_uuid(), organization_id, program_id, id, slug, now(), 'earned'"
    " from affiliate join (values ('x')) as v (slug) on true": "a row that aggregates clicks",
    "insert into reward_spend (organization_id, program_id, currency, spent_cents)"
    " select organization_id, id, 'USD', 1 from program": "rewards cost a budget",
    "update ledger_entry set kind = 'adjust', amount_cents = amount_cents + 1 where kind = 'earn'":
        "the ledger comes to what a conversion still earns",
    "insert into commission_change select organization_id, id, id, 1, 2, 'other', null, now() from conversion;"
    " insert into ledger_entry select gen_random_uuid(), organization_id, affiliate_id, program_id, id, 'adjust', 5,"
    " currency, id, is_test, now() from conversion": "a change of a commission is booked once",
    "update ledger_entry set amount_cents = amount_cents - 1 where kind = 'reverse'": "the ledger took back what",
    "update ledger_entry set currency = 'EUR'": "the ledger and the conversion name one affiliate",
    "delete from refund where cumulative_cents = 3000": "the refunds of a sale add up",
    "update refund set origin = 'gateway'": "the brand refunded of a conversion what",
    "update refund set cumulative_cents = 2999 where cumulative_cents = 3000": "the refunds of a sale add up",
    "delete from reversal": "the reversals of a row add up",
    "update conversion set status = 'Pending'": "a sale refunded in full has given everything back",
    "update conversion set commission_cents = commission_cents + 1": "a sale has at most one override",
    "delete from event where type = 'conversion.created'": "every conversion is announced once",
    "insert into event select gen_random_uuid(), organization_id, type, body, created_at from event":
        "every conversion is announced once",
    "delete from event where type = 'conversion.refunded'": "every refund of every row is announced once",
    "update event set body = replace(body, 'RefundedAmountCents\":3000', 'RefundedAmountCents\":1')":
        "every refund of every row is announced once",
    "delete from delivery": "an event has one delivery per endpoint",
    "update delivery_attempt set delivery_id = gen_random_uuid()": "an attempt belongs to a delivery",
    "update delivery set status = 'Pending'": "a delivery that is pending has a job",
    "delete from conversion_event where event_type = 'refund'": "a row's history has one first entry",
    "update affiliate_revenue set net_cents = net_cents + 1": "an affiliate's revenue is the net amount of their sales",
    "update day_change set revenue_cents = revenue_cents + 1": "an affiliate's daily totals are",
    "delete from day_change": "a program's daily totals are",
    "delete from day_change; delete from day_to_reckon;"
    " insert into owed_day (organization_id, program_id, day, currency, cents)"
    " select organization_id, id, now()::date, 'USD', 1 from program": "the owed total of a day",
    "insert into affiliate_day (organization_id, program_id, affiliate_id, day, clicks, leads, sales, refunds,"
    " revenue_cents, refunded_cents, commission_cents, override_cents, is_counted, counted_clicks)"
    " select organization_id, program_id, id, '2020-01-01', 1, 0, 0, 0, 0, 0, 0, 0, true, 2 from affiliate":
        "an affiliate's day is counted",
    "update affiliate_total set clicks = clicks + 1": "an affiliate's totals are the sums",
    "insert into affiliate_unconverted select organization_id, id, 'WST', 1, 1 from affiliate":
        "an affiliate's amounts without a rate",
    "update affiliate_day set is_counted = true; update affiliate_total set last_sale_on = '2020-01-01'":
        "an affiliate's last sale is",
    "update program_customer set payments = 1": "a customer has as many payments",
    "insert into job (organization_id, queue, name, fair_key, max_attempts) select id, '', '', '', 1 from organization":
        "no job is left",
    "update delivery set status = 'Pending' where true": "no delivery is pending",
    "delete from conversion where parent_id is not null": "every sale of a recruit has its override",
    "delete from reversal where commission_cents in (60, 200)": "every refund reversed the sale and its override",
    "update conversion set reversed_cents = 0 where parent_id is not null": "an override was reversed by the same",
}  # fmt: skip


@pytest.fixture(scope="module")
def shops() -> Iterator[list[Shop]]:
    """Return a list for the shop of this module, which the first test creates."""
    shops: list[Shop] = []
    yield shops
    for shop in shops:
        shop.close()


@pytest.mark.parametrize("damage", _DAMAGE)
def test_damaged_row_violates_its_rule(machine: Machine, shops: list[Shop], damage: str) -> None:
    # given: two sales to one customer, one refunded in part and one in full, without violations
    if not shops:
        shops.append(_create_shop_with_refunds(machine))
    shop = shops[0]
    assert invariants.list_violations(machine.rows, organization_id=shop.id) == []

    # when: the rows are damaged, in a transaction that is rolled back
    with closing(psycopg2.connect(machine.urls.database_owner_url)) as connection, connection.cursor() as cursor:
        cursor.execute("set session_replication_role = replica")
        cursor.execute(damage)
        violations = invariants.list_violations(lambda sql: _fetch_all(cursor, sql), organization_id=shop.id)

    # then
    assert [line for line in violations if line.startswith(_DAMAGE[damage])], violations


def test_every_rule_has_a_damage_case() -> None:
    # The rules about payouts and deals have their damage cases in tests/models/ledger.
    rules_here = {*invariants.ALWAYS, *invariants.WHEN_FINISHED} - set(rules.PAYOUTS) - set(deal_rules.DEALS)

    untested = {rule for rule in rules_here if not any(rule.startswith(start) for start in _DAMAGE.values())}

    # A check constraint of the table prevents damage to the first; the shop has no rows for the others.
    assert untested == {
        "nothing is refunded or taken back beyond what there was",
        "what a gateway's payment gave back is what its refunds say",
        "the conversion of a gateway's payments gave back its share of what they did",
        "a further payment of an order is added to its conversion, once",
        "what was added to a sale is not more than it comes to",
        "every restored refund of a row is announced once",
    }


def _create_shop_with_refunds(machine: Machine) -> Shop:
    shop = Shop(machine)
    shop.subscribe()
    partly_refunded, fully_refunded = shop.sell(customerId="c"), shop.sell(customerId="c")
    machine.wait_until_settled()
    shop.refund(partly_refunded, 1_000)
    shop.refund(partly_refunded, 2_000)
    shop.refund(fully_refunded)
    machine.wait_until_settled()
    return shop


def _fetch_all(cursor: psycopg2.extensions.cursor, sql: str) -> list[tuple[object, ...]]:
    cursor.execute(sql)
    return list(cursor.fetchall())

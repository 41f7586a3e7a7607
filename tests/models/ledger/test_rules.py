"""Every ledger rule about payouts detects its violation."""

from contextlib import closing

import psycopg2
import pytest

from models import db
from models.ledger import rules
from tests.support import databases
from tests.support.rows.payroll import Payroll

# Damage to the tables, as the owner could do it, and the rule that must detect it.
_TWO_HOURS_AGO = "now() - interval '2 hours'"
_DAMAGE = {
    "insert into ledger_entry select gen_random_uuid(), organization_id, affiliate_id, program_id, conversion_id,"
    " 'adjust', -1, currency, gen_random_uuid(), is_test, created_at from ledger_entry where kind = 'pay'":
        "the ledger comes to what a conversion earns less what was paid for it",
    "update payout set amount_cents = amount_cents + 1 where status = 'Paid'": "a payout is the sum of its lines",
    "insert into payout_line select gen_random_uuid(), organization_id, payout_id, conversion_id, 0, native_currency,"
    " fx_rate, fx_rate_date, 0, 0, 0, null, true, null from payout_line where is_open":
        "no conversion is in two open lines",
    "update payout_line set is_open = true where released_at is null":
        "a line is open only while its payout may still pay it",
    "update payout_line set is_open = false": "a payout that is not Paid and not voided keeps its lines open",
    "update payout_line set native_amount_cents = native_amount_cents + 1 where is_open":
        "a line that can still shrink pays no more than its conversion still earns",
    "delete from payout_attempt": "a Paid payout was paid by an attempt of its own or by the brand",
    "update payout_attempt set state = 'paid'": "nothing that a rail has paid is anything but Paid",
    "update payout_attempt set amount_cents = 1": "a rail was asked for what the payout comes to",
    "update payout_attempt set key = 'x' || key": "an attempt is asked for under its own key",
    "delete from ledger_entry where kind = 'pay'": "the ledger booked what the lines of Paid payouts say",
    "update ledger_entry set amount_cents = amount_cents + 1 where kind = 'clawback'":
        "the ledger booked what the lines of Paid payouts say",
    "update ledger_entry set cause_id = gen_random_uuid() where kind = 'pay'":
        "the ledger booked what the lines of Paid payouts say",
    "update conversion set paid_cents = paid_cents + 1":
        "a conversion was paid what the lines of Paid payouts and its former system say",
    "update conversion set status = 'Paid'": "a conversion that is Paid was paid what it earns",
    "update payout set affiliate_id = gen_random_uuid()": "a line pays its payout's affiliate",
    "update payout_line set native_currency = 'EUR'": "a line pays its payout's affiliate",
    "delete from conversion": "a line pays its payout's affiliate",
    f"update payout set submitted_at = {_TWO_HOURS_AGO} where status = 'Processing'":
        "a Processing payout has a job that asks its rail",
    f"update payout set created_at = {_TWO_HOURS_AGO} where status = 'Pending'":
        "a payout that may be sent has a job",
}  # fmt: skip


@pytest.fixture(scope="module")
def owner_url(app):
    """Yield a separate database, because the rules read every row."""
    with databases.isolated_database() as url:
        yield url


@pytest.fixture(scope="module")
def payroll(app, owner_url):
    """Return payouts in every status, one with a withheld debt, and an unpaid sale."""
    payroll = Payroll.create(app)
    for slug in ("ann", "ben", "cid", "dan"):
        payroll.affiliate(slug)
    payroll.sell("ann", externalEventId="first")
    payroll.run()
    payroll.pay()
    assert payroll.brand.refund("first", 4_000).status_code == 200
    payroll.sell("ann")
    payroll.run()
    payroll.pay()
    payroll.brand.set(sandboxRail="fail")
    payroll.sell("ben")
    payroll.run()
    payroll.pay()
    payroll.brand.set(sandboxRail="slow")
    payroll.sell("cid")
    payroll.run()
    payroll.pay()
    payroll.sell("dan")
    payroll.run()
    payroll.sell("ann")
    assert sorted(status for (status,) in payroll.payouts("status")) == [
        "Failed",
        "Paid",
        "Paid",
        "Pending",
        "Processing",
    ]
    return payroll


def _find_broken_rules(owner_url, payroll, damage=None):
    with closing(psycopg2.connect(owner_url)) as connection, connection.cursor() as cursor:
        cursor.execute("set session_replication_role = replica")
        cursor.execute("drop index payout_line_open; delete from job" if damage else "select")
        if damage:
            cursor.execute(damage)
        broken = []
        for rule, sql in rules.RULES.items():
            cursor.execute(rules.scope_to_organization(sql, payroll.brand.id))
            broken += [(rule, exception) for (exception,) in cursor.fetchall()]
        return broken


def test_undamaged_ledger_has_no_exceptions(payroll):
    with db.unit_of_work(payroll.brand.id):
        assert rules.find_exceptions(payroll.brand.id, limit=5) == []


@pytest.mark.parametrize("damage", _DAMAGE)
def test_damage_is_detected(owner_url, payroll, damage):
    broken = _find_broken_rules(owner_url, payroll, damage)

    assert [rule for rule, exception in broken if rule.startswith(_DAMAGE[damage]) and exception], broken


def test_every_payout_rule_is_broken_by_a_test_case():
    assert [rule for rule in rules.PAYOUTS if not any(map(rule.startswith, _DAMAGE.values()))] == []


def test_damage_of_another_organization_is_not_reported(owner_url, payroll, rival):
    assert _find_broken_rules(owner_url, Payroll(rival), "update payout set amount_cents = amount_cents + 1") == []

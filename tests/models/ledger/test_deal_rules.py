"""Every ledger rule about deals detects its violation."""

from contextlib import closing

import psycopg2
import pytest

from models import db
from models.ledger import deal_rules, rules
from pipelines.deals import dispute, money
from tests.support import databases
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import DealScene

# Damage to the tables, as the owner could do it, and the rule that must detect it.
_DAMAGE = {
    "delete from ledger_entry where kind = 'escrow_in'": "a deal's totals are what the ledger booked",
    "update deal set paid_cents = paid_cents - 1, returned_cents = returned_cents + 1 where paid_cents > 0":
        "a deal's totals are what the ledger booked",
    "update ledger_entry set amount_cents = amount_cents - 1 where kind = 'escrow_out'":
        "a milestone was charged, paid and given back",
    "update deal_milestone set take_cents = take_cents + 1": "a milestone was charged, paid and given back",
    "update deal_milestone set status = 'Pending', auto_release_at = null where status = 'Submitted'":
        "a milestone was charged, paid and given back",
    "update deal_request set state = 'unknown' where kind = 'charge'": "a funded deal was charged once",
    "insert into deal_request select gen_random_uuid(), organization_id, deal_id, milestone_id, kind, 2, key || 'x',"
    " amount_cents, currency, usd_cents, source, charge_reference, state, reference, detail, asked, books, created_at,"
    " sent_at, answered_at from deal_request where kind = 'charge'": "a funded deal was charged once",
    "update deal_request set amount_cents = amount_cents + 1 where kind = 'refund'":
        "what of a milestone went back was given back by one refund",
    "update payout set status = 'Pending', paid_at = null": "a milestone was paid what its Paid payout",
    "update payout set milestone_id = (select id from deal_milestone where status = 'Submitted' limit 1)":
        "a milestone was paid what its Paid payout",
    "update payout set amount_cents = amount_cents + 1": "a payout of a milestone is what its release says",
    "update deal_release set native_currency = 'EUR'": "a payout of a milestone is what its release says",
    "delete from deal_release": "a payout of a milestone is what its release says",
    "update payout set milestone_id = null": "a payout of a milestone is what its release says",
    "update payout set affiliate_id = gen_random_uuid()": "a payout of a milestone is what its release says",
    "update deal_request set state = 'unknown', created_at = now() - interval '2 hours'":
        "a charge or refund on its way",
}  # fmt: skip


@pytest.fixture(scope="module")
def owner_url(app):
    """Yield a separate database, because the rules read every row."""
    with databases.isolated_database() as url:
        yield url


@pytest.fixture(scope="module")
def dealing(app, owner_url):
    """Return a deal with a released, a submitted and a partly refunded, settled milestone."""
    dealing = DealScene.create(app)
    deal_id = dealing.create_funded(1_000, 2_000, 3_000)
    dealing.submit(deal_id, 1)
    dealing.approve(deal_id, 1)
    dealing.submit(deal_id, 2)
    dealing.dispute(deal_id, 3)
    with db.unit_of_work(dealing.brand.id):
        ((milestone_id, row_deal_id),) = db.db.run("select id, deal_id from deal_milestone where seq = 3")
        deal = money.lock_for_payment_request(organization_id=dealing.brand.id, deal_id=row_deal_id)
        dispute.settle(deal, milestone_id, to_affiliate_cents=500, now=deal.created_at)
    drain("payouts")
    assert dealing.list_statuses(deal_id) == ["Released", "Submitted", "Settled"]
    return dealing


def _find_broken_rules(owner_url, dealing, damage):
    with closing(psycopg2.connect(owner_url)) as connection, connection.cursor() as cursor:
        cursor.execute("set session_replication_role = replica")
        for index in ("deal_request_charge", "payout_milestone_open"):
            cursor.execute(f"drop index {index}")
        cursor.execute(damage)
        broken = []
        for rule, sql in deal_rules.DEALS.items():
            cursor.execute(rules.scope_to_organization(sql, dealing.brand.id))
            broken += [(rule, exception) for (exception,) in cursor.fetchall()]
        return broken


def test_undamaged_ledger_has_no_exceptions(dealing):
    with db.unit_of_work(dealing.brand.id):
        assert rules.find_exceptions(dealing.brand.id, limit=5) == []


@pytest.mark.parametrize("damage", _DAMAGE)
def test_damage_is_detected(owner_url, dealing, damage):
    broken = _find_broken_rules(owner_url, dealing, damage)

    assert [rule for rule, exception in broken if rule.startswith(_DAMAGE[damage]) and exception], broken


def test_every_deal_rule_has_a_damage():
    assert [rule for rule in deal_rules.DEALS if not any(map(rule.startswith, _DAMAGE.values()))] == []


def test_damage_of_another_organization_is_not_reported(owner_url, dealing, rival):
    assert _find_broken_rules(owner_url, DealScene.for_brand(rival), "delete from deal_release") == []


@pytest.mark.parametrize(
    "damage",
    [
        "update deal set paid_cents = paid_cents + 100000",
        "update deal set charged_cents = 0, take_cents = 1",
        "update deal set status = 'Completed', ended_at = now()",
        "update deal_milestone set paid_cents = 1 where status = 'Submitted'",
        "update deal_milestone set to_affiliate_cents = 3001 where status = 'Settled'",
        "update deal_milestone set changes_requested = 3",
        "insert into ledger_entry (id, organization_id, affiliate_id, program_id, milestone_id, kind, amount_cents,"
        " currency, cause_id, is_test, created_at) select gen_random_uuid(), organization_id, affiliate_id, program_id,"
        " milestone_id, kind, amount_cents, currency, cause_id, is_test, now() from ledger_entry"
        " where kind = 'escrow_out'",
    ],
)
def test_database_refuses_impossible_deal_values(owner_url, dealing, damage):
    with closing(psycopg2.connect(owner_url)) as connection, connection.cursor() as cursor:
        cursor.execute("set app.any_org = 'on'")
        with pytest.raises(psycopg2.IntegrityError):
            cursor.execute(damage)

"""A backlog of gateway events: what dies or fails amidst it leaves each event booked once."""

from tests.support.installation import outcome
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine

_ATTEMPTS = "select attempt, count(*)::int from job where name = 'gateway.event' and organization_id = %s group by 1"
# Every payment adds to it, after its conversion and its ledger entry and before its own row.
_MIDDLE = "lock table affiliate_revenue in exclusive mode"


def _pay(till: GatewayShop, payments: int) -> None:
    for _ in range(payments):
        customer = str(till.stage.number())
        till.deliver(till.pay(customer=customer, email=f"{customer}@x.test").notifications[0])


def _count_booked(machine: Machine, till: GatewayShop) -> tuple[int, ...]:
    """Return how many conversions, payments, buyers that were counted once, and events that are done there are."""
    (found,) = machine.rows(
        "select (select count(*)::int from conversion where organization_id = o.id and parent_id is null),"
        " (select count(*)::int from gateway_payment where organization_id = o.id and conversion_id is not null),"
        " (select count(*)::int from program_customer where organization_id = o.id and payments = 1),"
        " (select count(*)::int from gateway_event where organization_id = o.id and status = 'Processed')"
        " from organization o where o.id = %s",
        till.id,
    )
    return found


def test_kill_9_within_an_event_backlog_leaves_each_effect_once(machine: Machine, till: GatewayShop) -> None:
    # given: events whose rows are written and not committed
    till.subscribe()
    machine.lengthen_leases()
    with machine.hold_locks(_MIDDLE):
        with machine.backlog("gateways"):
            _pay(till, 60)
        machine.wait_for_table_lock("affiliate_revenue")

        # when
        machine.kill("gateways")
        machine.end_lock_waiters()

    # then: nothing is booked, only what was handed out has an attempt less, and two fleets at once do all of it
    assert _count_booked(machine, till) == (0, 0, 0, 0)
    tried = dict(machine.rows(_ATTEMPTS, till.id))
    assert tried[0] >= 60 - 8
    assert sum(tried.values()) == 60
    machine.end_leases(till.id)
    machine.start("gateways")
    outcome.check(machine, till)
    assert _count_booked(machine, till) == (60, 60, 60, 60)


def test_poison_event_becomes_the_only_dead_letter(machine: Machine, till: GatewayShop) -> None:
    # given: something that no attempt books, in the midst of the backlog
    machine.lengthen_leases()
    with machine.backlog("gateways"):
        _pay(till, 20)
        machine.insert_job(till.id, "gateway.event", queue="gateways", max_attempts=2, event_id="of nobody")
        _pay(till, 20)

    # when
    machine.wait_until_settled()

    # then: nobody paid for that but itself
    dead = machine.rows("select args ->> 'event_id', attempt from job where organization_id = %s", till.id)
    assert dead == [("of nobody", 2)]
    assert _count_booked(machine, till) == (40, 40, 40, 40)
    machine.execute("delete from job where organization_id = %s", str(till.id))
    outcome.check(machine, till)

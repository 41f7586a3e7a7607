"""A backlog of gateway events: after a kill or a failure within it, each event is booked once."""

from tests.support.installation import outcome
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine

_ATTEMPTS = "select attempt, count(*)::int from job where name = 'gateway.event' and organization_id = %s group by 1"
# Every payment updates this table after it has written its conversion and ledger entry, and before its own row.
_LOCK_IN_THE_MIDDLE = "lock table affiliate_revenue in exclusive mode"


def _pay(shop: GatewayShop, payments: int) -> None:
    for _ in range(payments):
        customer = str(shop.stage.number())
        shop.deliver(shop.pay(customer=customer, email=f"{customer}@x.test").notifications[0])


def _count_booked(machine: Machine, shop: GatewayShop) -> tuple[int, ...]:
    """Return the numbers of conversions, payments, buyers with one payment, and processed events."""
    (counts,) = machine.rows(
        "select (select count(*)::int from conversion where organization_id = o.id and parent_id is null),"
        " (select count(*)::int from gateway_payment where organization_id = o.id and conversion_id is not null),"
        " (select count(*)::int from program_customer where organization_id = o.id and payments = 1),"
        " (select count(*)::int from gateway_event where organization_id = o.id and status = 'Processed')"
        " from organization o where o.id = %s",
        shop.id,
    )
    return counts


def test_kill_9_within_an_event_backlog_leaves_each_effect_once(machine: Machine, shop: GatewayShop) -> None:
    # given: events whose rows are written and not committed
    shop.subscribe()
    machine.lengthen_leases()
    with machine.hold_locks(_LOCK_IN_THE_MIDDLE):
        with machine.backlog("gateways"):
            _pay(shop, 60)
        machine.wait_for_table_lock("affiliate_revenue")

        # when
        machine.kill("gateways")
        machine.end_lock_waiters()

    # then: nothing is booked, only dispatched jobs have used an attempt, and the next fleet books everything
    assert _count_booked(machine, shop) == (0, 0, 0, 0)
    jobs_by_attempt = dict(machine.rows(_ATTEMPTS, shop.id))
    assert jobs_by_attempt[0] >= 60 - 8
    assert sum(jobs_by_attempt.values()) == 60
    machine.end_leases(shop.id)
    machine.start("gateways")
    outcome.check(machine, shop)
    assert _count_booked(machine, shop) == (60, 60, 60, 60)


def test_poison_event_becomes_the_only_dead_letter(machine: Machine, shop: GatewayShop) -> None:
    # given: a job that no attempt can book, in the middle of the backlog
    machine.lengthen_leases()
    with machine.backlog("gateways"):
        _pay(shop, 20)
        machine.insert_job(shop.id, "gateway.event", queue="gateways", max_attempts=2, event_id="unknown")
        _pay(shop, 20)

    # when
    machine.wait_until_settled()

    # then: only this job became a dead letter
    dead_letters = machine.rows("select args ->> 'event_id', attempt from job where organization_id = %s", shop.id)
    assert dead_letters == [("unknown", 2)]
    assert _count_booked(machine, shop) == (40, 40, 40, 40)
    machine.execute("delete from job where organization_id = %s", str(shop.id))
    outcome.check(machine, shop)

"""Workers with a backlog settle sales in batches: a kill, a freeze or a failure within one changes no result."""

from tests.support.installation import outcome
from tests.support.installation.backing_servers import LONG_LEASE
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

_ATTEMPTS = "select attempt, count(*)::int from job where name = 'sale.settle' and organization_id = %s group by 1"
# Every sale updates this table after it has written its conversion and its ledger entry.
_LOCK_IN_THE_MIDDLE = "lock table affiliate_revenue in exclusive mode"


def _count_settled(machine: Machine, shop: Shop) -> int:
    ((number,),) = machine.rows(
        "select count(*)::int from conversion where organization_id = %s and parent_id is null", shop.id
    )
    return int(number)


def test_kill_9_within_a_batch_leaves_each_effect_once(machine: Machine, shop: Shop) -> None:
    # given: a batch whose rows are written and not committed
    shop.subscribe()
    machine.lengthen_leases()
    with machine.hold_locks(_LOCK_IN_THE_MIDDLE):
        with machine.backlog("sales"):
            shop.sell_many(60)
        machine.wait_for_table_lock("affiliate_revenue")

        # when
        machine.kill("workers")
        machine.end_lock_waiters()

    # then: only dispatched jobs have used an attempt, and two fleets settle all sales
    jobs_by_attempt = dict(machine.rows(_ATTEMPTS, shop.id))
    assert jobs_by_attempt[0] >= 60 - 4
    assert sum(jobs_by_attempt.values()) == 60
    machine.end_leases(shop.id)
    machine.start("workers", "workers-2")
    outcome.check(machine, shop)
    assert _count_settled(machine, shop) == 60


def test_poison_sale_in_a_batch_becomes_the_only_dead_letter(machine: Machine, shop: Shop) -> None:
    failed_attempts = ("finderfee_job_attempts_total", 'job="sale.settle"', 'outcome="failed"')
    failed_before = machine.sum_metric(*failed_attempts)
    batches_before = machine.sum_metric("finderfee_job_batches_failed_total", "sale.settle")

    # given: a job that no attempt can settle, in the middle of the backlog
    machine.stop("workers")
    machine.start("workers", variables=LONG_LEASE)
    machine.lengthen_leases()
    with machine.backlog("sales"):
        shop.sell_many(25)
        machine.insert_job(shop.id, "sale.settle", max_attempts=2, sale_id="unknown")
        shop.sell_many(25)

    # when
    machine.wait_until_settled()

    # then: its batch failed, and only this job became a dead letter
    dead_letters = machine.rows("select args ->> 'sale_id', attempt from job where organization_id = %s", shop.id)
    assert dead_letters == [("unknown", 2)]
    assert _count_settled(machine, shop) == 50
    assert machine.sum_metric("finderfee_job_batches_failed_total", "sale.settle") > batches_before
    machine.wait_until(lambda: machine.sum_metric(*failed_attempts) >= failed_before + 2, "both attempts are counted")
    assert machine.sum_metric(*failed_attempts) == failed_before + 2
    machine.execute("delete from job where organization_id = %s", str(shop.id))
    outcome.check(machine, shop)


def test_batch_of_a_frozen_worker_is_redone_after_its_lease(machine: Machine, shop: Shop) -> None:
    # given: a fleet with a batch that waits for a lock; another fleet is paused
    shop.subscribe()
    machine.start("workers-2")
    machine.pause("workers-2")
    with machine.hold_locks(_LOCK_IN_THE_MIDDLE):
        with machine.backlog("sales"):
            shop.sell_many(40)
        machine.wait_for_table_lock("affiliate_revenue")

        # when: the fleet is frozen, and gets its lock
        machine.pause("workers")
        machine.resume("workers-2")

    # then
    machine.wait_until(lambda: _count_settled(machine, shop) == 40, "all sales are settled")
    machine.resume("workers")
    outcome.check(machine, shop)

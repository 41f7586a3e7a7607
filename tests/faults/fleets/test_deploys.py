"""Fleets start and stop during a deployment, old and new ones at the same time, some with jobs that kill them."""

import time

from domain import jobs
from tests.support.installation import outcome
from tests.support.installation.actors import NEWER, POISON
from tests.support.installation.backing_servers import LEASE_S, LONG_LEASE
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

_DISPATCHED = ("finderfee_jobs_handed_out_total", 'queue="sales"')
_FAILED = ("finderfee_job_attempts_total", 'outcome="failed"')
# The most jobs that are dispatched at once: two for each of a fleet's four threads.
_MAX_DISPATCHED = 8


def test_rolling_deploy_under_load_loses_nothing_and_uses_no_attempts(machine: Machine, shop: Shop) -> None:
    # given
    shop.subscribe()
    machine.stop("workers", "webhooks")
    machine.start("workers", "webhooks", variables=LONG_LEASE)
    failed_before = machine.sum_metric(*_FAILED)

    # when
    with shop.sell_continuously():
        for old, new in (("workers", "workers-2"), ("webhooks", "webhooks-2")):
            machine.start(new, variables=LONG_LEASE)
            machine.stop(old)

    # then
    outcome.check(machine, shop)
    assert machine.sum_metric(*_FAILED) == failed_before


def test_poison_job_fails_and_other_jobs_succeed(machine: Machine, shop: Shop) -> None:
    # given
    shop.subscribe()
    machine.kill("workers")
    machine.start("workers-poisoned", modules=["tests.support.installation.actors"])
    shop.sell_many(10)
    machine.insert_job(shop.id, POISON.name, max_attempts=2)

    def has_ended() -> bool:
        return machine.processes["workers-poisoned"].has_ended

    def is_dead() -> bool:
        return bool(machine.rows("select from job where name = %s and failed_at is not null", POISON.name))

    # when: a supervisor restarts the killed fleet (a dispatch to a fleet that is killed counts as an attempt, too)
    machine.wait_until(has_ended, "the poison job kills the fleet")
    while has_ended():
        machine.start("workers-poisoned", modules=["tests.support.installation.actors"])
        machine.wait_until(lambda: has_ended() or is_dead(), "the poison job kills again or is a dead letter")
    machine.wait_until(is_dead, "the poison job is a dead letter")
    # The last fleet's master process may end later than the lease, so a new fleet is started.
    machine.kill("workers-poisoned")
    machine.start("workers-poisoned", modules=["tests.support.installation.actors"])
    shop.sell_many(10)

    # then
    dead_letters = machine.rows("delete from job where failed_at is not null returning name, attempt, last_error")
    assert dead_letters == [
        (POISON.name, 2, "every attempt was handed out and none came back: the worker died each time"),
    ]
    outcome.check(machine, shop)


def test_unknown_job_waits_for_a_newer_worker(machine: Machine, shop: Shop) -> None:
    # given: no lease ends meanwhile, because that would count as an attempt
    machine.lengthen_leases()
    machine.insert_job(shop.id, NEWER.name, max_attempts=2)
    waiting = (
        "select from job where name = %s and deadline is null and failed_at is null and max_attempts - attempt = 2"
    )
    machine.wait_until(
        lambda: f'"job":"{NEWER.name}"' in machine.read_output("workers"),
        "the old fleet gets the job and logs its name",
    )
    machine.wait_until(lambda: bool(machine.rows(waiting, NEWER.name)), "the job waits again, with every attempt left")
    shop.sell()

    # when
    machine.start("workers-newer", modules=["tests.support.installation.actors"])
    machine.kill("workers")

    # then
    outcome.check(machine, shop)


def test_backlog_without_workers_is_dispatched_once(machine: Machine, shop: Shop) -> None:
    # given
    machine.kill("workers")
    machine.forget_killed_fleets()
    dispatched_before = machine.sum_metric(*_DISPATCHED)
    shop.sell_many(250)
    posted_at = machine.rows("select clock_timestamp()")[0][0]

    # when: several leases pass
    late = f"select clock_timestamp() > %s + interval '{2 * LEASE_S} seconds'"
    machine.wait_until(lambda: machine.rows(late, posted_at)[0][0], "leases pass")

    # then
    untouched = "select count(*) from job where organization_id = %s and attempt = 0 and deadline is null"
    assert machine.rows(untouched, shop.id) == [(250,)]
    assert machine.sum_metric(*_DISPATCHED) == dispatched_before
    started_s = time.monotonic()
    machine.start("workers")
    outcome.check(machine, shop)
    # A sale and its override are dispatched once each, or taken along in a batch. Jobs for which the new workers are
    # too slow are dispatched again when their lease ends, never more than _MAX_DISPATCHED at once.
    leases = (time.monotonic() - started_s) / LEASE_S
    batch_size = jobs.SALE_SETTLE.batch_size
    assert 500 // batch_size <= machine.sum_metric(*_DISPATCHED) - dispatched_before <= 500 + _MAX_DISPATCHED * leases


def test_hanging_endpoint_does_not_delay_others(machine: Machine, shop: Shop) -> None:
    # given: hundreds of deliveries for one endpoint, then dozens for three others, and no fleet to send them yet
    machine.kill("webhooks")
    machine.forget_killed_fleets()
    slow = shop.subscribe("/slow")
    for path in ("/one", "/two", "/three"):
        shop.subscribe(path, events=["conversion.refunded"])
    shop.gate.shut("/slow")
    orders = shop.sell_many(100)
    for order in orders[:20]:
        shop.refund(order)
    waiting = "select count(*) from job where organization_id = %s and name = 'webhook.deliver'"
    machine.wait_until(lambda: machine.rows(waiting, shop.id) == [(240 + 3 * 40,)], "every delivery has its job")

    # when: a call to the slow endpoint takes longer than all other calls
    machine.lengthen_leases()
    machine.execute("update job set lease_s = 3600 where organization_id = %s", str(shop.id))
    machine.start("relay-2", "webhooks", variables={"WEBHOOK_TIMEOUT_S": "60"})

    # then: the others get all their deliveries while most of the slow endpoint's backlog waits
    delivered = (
        "select count(*) from delivery d join webhook_endpoint w on w.id = d.endpoint_id"
        " where d.organization_id = %s and d.status = 'Delivered' and w.url not like '%%/slow'"
    )
    in_flight = "select count(*) from job where fair_key = %s and deadline > now() and taken_with is null"
    max_in_flight = 0

    def are_delivered() -> bool:
        nonlocal max_in_flight
        max_in_flight = max(max_in_flight, machine.rows(in_flight, str(slow))[0][0])
        return machine.rows(delivered, shop.id) == [(120,)]

    machine.wait_until(are_delivered, "the healthy endpoints have all deliveries")
    assert max_in_flight == 4
    not_attempted = (
        "select count(*) from delivery where organization_id = %s and status = 'Pending' and attempt_count = 0"
    )
    assert machine.rows(not_attempted, shop.id)[0][0] > 100
    shop.gate.open()
    outcome.check(machine, shop)

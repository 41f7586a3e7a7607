"""The web server or the relay is killed between two steps that belong together."""

from concurrent.futures import ThreadPoolExecutor

from tests.support.installation import outcome, servers
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop


def test_web_killed_between_commit_and_answer_leaves_a_sale_that_settles(machine: Machine, shop: Shop) -> None:
    # given: a request whose whole transaction was sent to the database, which commits it by itself
    shop.subscribe()
    shop.sell_many(16, customerId="regular")
    with ThreadPoolExecutor(1) as pool:
        with machine.hold_locks(f"select from program_customer where organization_id = '{shop.id}' for update"):
            posting = pool.submit(shop.sell, "order-cut-off", customerId="regular")
            machine.wait_for_lock_waiters(1, about="order-cut-off")

            # when
            machine.kill("web")
        machine.start("web")
        posting.result()

    # then: the client has not received the id, and its repeated request is recognized
    assert shop.statuses["no response"] > 0
    assert shop.sold["order-cut-off"] is None
    outcome.check(machine, shop)


def test_web_kill_under_load_duplicates_no_sale(machine: Machine, shop: Shop) -> None:
    shop.subscribe()

    with shop.sell_continuously():
        shop.wait_until_sold(10)
        machine.kill("web")
        machine.start("web")

    outcome.check(machine, shop)


def test_relay_kill_between_claim_and_push_is_recovered_after_the_lease(machine: Machine, shop: Shop) -> None:
    # given: a committed claim whose push gets no response; and no dead fleets, because the relay would ask the broker
    # for their messages before it claims jobs
    machine.forget_killed_fleets()
    shop.subscribe()
    machine.pause("relay")
    shop.sell()
    machine.freeze_valkey()
    machine.resume("relay")
    claimed = "select from job where organization_id = %s and attempt > 0 and deadline is not null"
    machine.wait_until(lambda: bool(machine.rows(claimed, shop.id)), "the sale is claimed")

    # when
    machine.kill("relay")
    servers.kill_valkey(machine.home)
    machine.start_valkey()
    machine.start("relay")

    # then
    outcome.check(machine, shop)


def test_repeated_relay_kills_under_load_lose_nothing(machine: Machine, shop: Shop) -> None:
    shop.subscribe()

    with shop.sell_continuously():
        for _ in range(3):
            shop.wait_until_sold(10)
            machine.kill("relay")
            machine.start("relay")

    outcome.check(machine, shop)

"""Refunds race each other and overtake the settlement of their sales: the totals are those of the usual order."""

from concurrent.futures import ThreadPoolExecutor

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop


def test_50_concurrent_refunds_reverse_at_most_the_amount(machine: Machine, shop: Shop) -> None:
    # given
    shop.subscribe()
    order = shop.sell(amount_cents=1_000)

    # when: 50 times 30 of 1000
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: shop.refund(order, 30), range(50)))

    # then
    assert sorted(answer.status for answer in answers) == [200] * 33 + [422] * 17
    assert {answer.body["error"] for answer in answers if answer.status == 422} == {"amount_exceeds_original"}
    outcome.check(machine, shop)
    assert _read_totals(machine, shop, order) == [(20, 20, 990), (200, 198, 990)]


def test_refund_order_does_not_change_the_totals(machine: Machine, shop: Shop) -> None:
    # given: a sale with its override, one whose override is not written yet, one that is not settled
    shop.subscribe()
    settled = shop.sell(amount_cents=9_999)
    machine.wait_until_settled()
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        without_override = shop.sell(amount_cents=9_999)
        machine.wait_for_lock_waiters(1)
        machine.kill("workers")
    unsettled = shop.sell(amount_cents=9_999)

    # when: each is refunded in the same two steps
    for order in (settled, without_override, unsettled):
        shop.refund(order, 3_333)
        shop.refund(order, 1_111)
    machine.start("workers")

    # then
    outcome.check(machine, shop)
    totals = [_read_totals(machine, shop, order) for order in (settled, without_override, unsettled)]
    assert totals == [[(200, 89, 4_444), (2_000, 889, 4_444)]] * 3


def _read_totals(machine: Machine, shop: Shop, order: str) -> list[tuple[int, int, int]]:
    """Return commission and reversed cents of the override and of the sale, each with the sale's refunded cents."""
    return machine.rows(
        "select c.commission_cents, c.reversed_cents, p.refunded_cents from conversion c"
        " join conversion p on p.id = coalesce(c.parent_id, c.id) where p.id = %s order by c.parent_id nulls last",
        shop.sold[order],
    )

from tests.faults import outcome
from tests.faults.machine import Machine
from tests.faults.shop import Shop
import time


def test_nothing_happens(machine: Machine, shop: Shop) -> None:
    with shop.selling():
        time.sleep(2)
    outcome.check(machine, shop)
    print(machine.notes, shop.statuses, len(shop.receiver.received))

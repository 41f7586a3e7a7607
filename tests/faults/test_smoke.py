from tests.faults import outcome
from tests.faults.machine import Machine
from tests.faults.shop import Shop
import time


def test_nothing_happens(machine: Machine, shop: Shop) -> None:
    log = []
    orig = shop.post
    def post(path, body, **h):
        a = orig(path, body, **h)
        log.append((path, body, h, a))
        return a
    shop.post = post
    with shop.selling():
        time.sleep(3)
    try:
        outcome.check(machine, shop)
    except AssertionError:
        db = dict(machine.rows("select external_event_id, refunded_cents from conversion where organization_id=%s and parent_id is null", shop.id))
        for e, c in shop.refunded_cents.items():
            if db[e] != c:
                for l in log:
                    if l[1]["externalEventId"] == e: print(l)
                print(machine.rows("select r.* from refund r join conversion c on c.id=r.conversion_id where c.external_event_id=%s", e))
                print(machine.rows("select scope,key,status,created_at,convert_from(body,'utf8') from stored_answer where organization_id=%s", shop.id))
        raise

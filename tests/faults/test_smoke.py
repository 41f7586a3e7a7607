from tests.faults import outcome
from tests.faults.machine import Machine
from tests.faults.shop import Shop
import time


def test_nothing_happens(machine: Machine, shop: Shop) -> None:
    with shop.selling():
        time.sleep(2)
    t=time.monotonic()
    while machine.left():
        print(round(time.monotonic()-t,2), machine.rows("select name, attempt, deadline is null, run_at>now(), count(*) from job group by 1,2,3,4"))
        time.sleep(.25)
    outcome.check(machine, shop)
    print(machine.notes)
    print(machine.rows("select attempt_count, failure_reason, count(*) from delivery group by 1,2"))
    import http.client
    c=http.client.HTTPConnection("127.0.0.1",machine.port); c.request("GET","/metrics"); 
    for l in c.getresponse().read().decode().splitlines():
        if "bucket" not in l and not l.startswith("#"): print(l)

"""Whatever is done to a recruit's sale, in whatever order, the ledger comes to what the columns say.

Source: core spec, "States"; tracking spec, section 3 "States and transitions" and "Refund body".
"""

from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import books
from tests.support.job_queues import drain
from tests.support.recruits import Recruits
from tests.support.rows.brands import Brand

_EARNS_NOTHING = ("Denied", "Invalidated")
_ORDERS = count(1)
# Refunds (numbers) leave something over most of the time, and what is invalidated often comes back.
_STEPS = st.one_of(
    st.integers(1, 1_500),
    st.sampled_from(["work", "invalidate", "validate", 9_999]),
    st.sampled_from(["invalidate", "validate", "approve", "deny", "override:validate", "override:invalidate"]),
)


def _kept(row):
    status, commission_cents, reversed_cents = row
    return 0 if status in _EARNS_NOTHING else commission_cents - reversed_cents


def _take(recruits, manager, sale_id, order, step):
    """Take one step, which the service may refuse with a reason of its own."""
    if isinstance(step, int):
        answer = recruits.brand.refund(order, step)
    elif step == "work":
        drain()
        return
    else:
        target, _, action = step.rpartition(":")
        ids = recruits.overrides("id") if target else [(sale_id,)]
        if not ids:
            return
        prefix = "/api/conversions" if action in ("approve", "deny") else "/api/v1/conversions"
        answer = manager.post(f"{prefix}/{ids[0][0]}/{action}")
    assert answer.status_code in (200, 409, 422), answer.get_data(as_text=True)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(amount_cents=st.integers(3_000, 9_999), steps=st.lists(_STEPS, min_size=5, max_size=12))
def test_the_money_adds_up_whatever_is_decided(app, amount_cents, steps):
    brand = Brand.create(app)
    recruits = Recruits.create(brand, percent="33.3333")
    order = f"order-{next(_ORDERS)}"
    sale_id = recruits.sell(externalEventId=order, amountCents=amount_cents)
    manager = brand.person("Manager")

    for step in steps:
        _take(recruits, manager, sale_id, order, step)
        assert books.list_violations(brand.id, is_finished=False) == []
    drain()

    assert books.list_violations(brand.id) == []
    own = recruits.parents("status, commission_cents, reversed_cents")
    above = recruits.overrides("status, commission_cents, reversed_cents")
    assert recruits.balance(recruits.ben) == sum(_kept(row) for row in own)
    assert recruits.balance(recruits.ann) == sum(_kept(row) for row in above)
    if own[0][0] in _EARNS_NOTHING:
        assert [_kept(row) for row in above] in ([], [0])

"""After any sequence of actions on a recruit's sale the ledger matches the columns.

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
# Refunds (numbers) are usually partial, and invalidated sales are often validated again.
_STEPS = st.one_of(
    st.integers(1, 1_500),
    st.sampled_from(["work", "invalidate", "validate", 9_999]),
    st.sampled_from(["invalidate", "validate", "approve", "deny", "override:validate", "override:invalidate"]),
)


def _net_commission(row):
    status, commission_cents, reversed_cents = row
    return 0 if status in _EARNS_NOTHING else commission_cents - reversed_cents


def _perform(recruits, manager, sale_id, order, step):
    """Perform one step, which the service may refuse."""
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
def test_ledger_matches_after_any_sequence_of_decisions(app, amount_cents, steps):
    brand = Brand.create(app)
    recruits = Recruits.create(brand, percent="33.3333")
    order = f"order-{next(_ORDERS)}"
    sale_id = recruits.sell(externalEventId=order, amountCents=amount_cents)
    manager = brand.person("Manager")

    for step in steps:
        _perform(recruits, manager, sale_id, order, step)
        assert books.list_violations(brand.id, is_finished=False) == []
    drain()

    assert books.list_violations(brand.id) == []
    sale_rows = recruits.parents("status, commission_cents, reversed_cents")
    override_rows = recruits.overrides("status, commission_cents, reversed_cents")
    assert recruits.balance(recruits.ben) == sum(_net_commission(row) for row in sale_rows)
    assert recruits.balance(recruits.ann) == sum(_net_commission(row) for row in override_rows)
    if sale_rows[0][0] in _EARNS_NOTHING:
        assert [_net_commission(row) for row in override_rows] in ([], [0])

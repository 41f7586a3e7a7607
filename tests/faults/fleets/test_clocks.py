"""Every process has a clock that is hours ahead or behind: what they write, and when they act, follows the database.

No interval of the service is as long as the shift, so a time that is off by it comes from the clock of a process.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.clicks import serialization
from adapters.clicks.stream import FIELD, KEY
from pipelines.schedule import SCHEDULE
from tests.adapters.rails.fake_processor import FakeProcessor
from tests.faults.test_deals import Deals
from tests.support.installation import outcome, shifted_clock
from tests.support.installation.machine import COMMANDS, Machine
from tests.support.installation.shop import Shop
from tests.support.outside.receiver import Handler, status
from tests.support.rows.click_rows import build_click
from tests.support.rows.link_visits import BROWSER, CLICK
from tests.support.rows.payroll import Payroll

_SHIFT = timedelta(hours=3, minutes=25)
_WIDTH = timedelta(minutes=10)
_COLUMNS = """
select c.relname, a.attname, a.atttypid = 'uuid'::regtype,
  exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'organization_id' and not o.attisdropped)
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and a.attnum > 0 and not a.attisdropped
  and (a.atttypid = 'timestamptz'::regtype or a.attname = 'id' and a.atttypid = 'uuid'::regtype)
order by 1, 2
"""


@dataclass(frozen=True, slots=True)
class Shift:
    """How far the clocks of the processes are ahead, and the length of their logs before they started."""

    ahead: timedelta
    log_lengths: Mapping[str, int]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of a process with such a clock."""
        (folder,) = shifted_clock.__path__
        return {"PYTHONPATH": folder, "CLOCK_SHIFT_S": str(int(self.ahead.total_seconds()))}


@pytest.fixture(params=[_SHIFT, -_SHIFT], ids=["ahead", "behind"])
def shift(request: pytest.FixtureRequest, machine: Machine) -> Shift:
    """Restart every process with a shifted clock."""
    machine.kill(*list(machine.processes))
    machine.forget_killed_fleets()
    shift = Shift(request.param, {name: len(machine.read_output(name)) for name in COMMANDS})
    machine.start(*COMMANDS, variables=shift.environment)
    return shift


def _list_shifted_times(machine: Machine, shop: Shop, shift: Shift) -> list[tuple[str, str, int]]:
    """Return table, column and row count of all times that are off by the shift."""
    ((now,),) = machine.rows("select clock_timestamp()")
    shifted = []
    for table, column, is_id, is_tenants in machine.rows(_COLUMNS):
        value = f"uuid_extract_timestamp({column})" if is_id else column
        where, params = f"{value} between %s and %s", [now + shift.ahead - _WIDTH, now + shift.ahead + _WIDTH]
        if is_tenants:
            where, params = f"{where} and organization_id = %s", [*params, str(shop.id)]
        if table != "tick":  # its times come from the schedule
            ((count,),) = machine.rows(f"select count(*) from {table} where {where}", *params)
            shifted += [(table, column, count)] if count else []
    return shifted


def _click_twice(machine: Machine, shop: Shop) -> None:
    """Click twice: once at the web server, and once as a web server with a correct clock adds it to the stream."""
    body = json.dumps({"slug": "ben", "programId": str(shop.brand.programs[0])}).encode()
    answer = shop.send_once(CLICK, body, {"User-Agent": BROWSER})
    assert answer is not None
    assert answer[0] == 200
    machine.valkey().xadd(KEY, {FIELD: serialization.to_bytes(build_click(shop.brand, shop.ben, at=datetime.now(UTC)))})
    machine.wait_until(lambda: machine.valkey().xlen(KEY) == 0, "the clicks are written")


def test_rows_carry_database_time_under_clock_skew(machine: Machine, shop: Shop, shift: Shift) -> None:
    # given: a receiver that fails the first attempt
    shop.subscribe()
    shop.receiver.answers = [status(500), status(200)]

    # when
    orders = [shop.sell(customerId="c1") for _ in range(2)]
    shop.refund(orders[0])
    _click_twice(machine, shop)

    # then
    outcome.check(machine, shop)
    assert machine.rows("select count(*) from click where organization_id = %s", shop.id) == [(2,)]
    assert _list_shifted_times(machine, shop, shift) == []


def test_unanswered_payouts_are_polled_at_the_usual_pace_under_clock_skew(
    machine: Machine, shop: Shop, processor: FakeProcessor, shift: Shift
) -> None:
    # given: a payout that the rail executes and does not confirm
    with machine.use_models():
        payroll = Payroll(shop.brand)
        payroll.execute("update organization set verification_state = 'verified', payout_grace_days = 0")
        payroll.affiliate("ann")
    shop.sell(affiliateSlug="ann")
    machine.wait_until_settled()
    processor.set_faults("500_after", "500_before")

    # when
    with machine.use_models():
        payroll.run(2_000)
    machine.wait_until_settled()

    # then
    assert machine.rows("select status from payout where organization_id = %s", shop.id) == [("Paid",)]
    assert _list_shifted_times(machine, shop, shift) == []


def test_unanswered_deal_charges_are_polled_at_the_usual_pace_under_clock_skew(
    machine: Machine, shop: Shop, processor: FakeProcessor, shift: Shift
) -> None:
    deals = Deals(machine, shop)
    processor.set_faults("500_after")

    deals.fund()
    machine.wait_until_settled()

    assert machine.rows("select distinct status from deal where organization_id = %s", shop.id) == [("Funded",)]
    assert _list_shifted_times(machine, shop, shift) == []


def test_refused_deliveries_are_retried_at_the_usual_pace_under_clock_skew(
    machine: Machine, shop: Shop, shift: Shift
) -> None:
    # given
    attempted_at: list[float] = []

    def refuse(handler: Handler) -> None:
        attempted_at.append(time.time())
        status(500)(handler)

    shop.subscribe(events=("conversion.created",))
    shop.receiver.answers = [refuse] * 4 + [status(200)]

    # when
    sold_at = time.time()
    shop.sell(affiliateSlug="rita")  # she has no recruiter, so there is one event
    machine.wait_until_settled()

    # then: no attempt is too early; how late it is depends on the machine
    schedule = [float(part) for part in machine.environment()["WEBHOOK_ATTEMPTS_AT_S"].split(",")]
    assert len(attempted_at) == 4
    assert [at for at, due in zip(attempted_at, schedule, strict=False) if at < sold_at + due] == []


def test_sale_of_a_killed_worker_is_settled_under_clock_skew(machine: Machine, shop: Shop, shift: Shift) -> None:
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        shop.sell()
        machine.wait_for_lock_waiters(1)
        machine.kill("workers")
    machine.end_lock_waiters()

    machine.start("workers", variables=shift.environment)

    outcome.check(machine, shop)


def test_tick_fires_once_when_due_under_clock_skew(machine: Machine, shop: Shop, shift: Shift) -> None:
    name = next(entry.job.name for entry in SCHEDULE if entry.job.name == "deals.release")
    ((before,),) = machine.rows("select clock_timestamp()")

    machine.execute("delete from tick where name = %s", name)
    machine.wait_until(lambda: bool(_list_ticks(machine, name)), "the tick fires")

    ((after,),) = machine.rows("select clock_timestamp()")
    assert all(before - timedelta(hours=1) < at <= after for (at,) in _list_ticks(machine, name))


def _list_ticks(machine: Machine, name: str) -> list[tuple[Any, ...]]:
    return machine.rows("select scheduled_for from tick where name = %s", name)


def test_every_process_reports_its_clock_skew_once(machine: Machine, shop: Shop, shift: Shift) -> None:
    shop.sell()
    machine.wait_until_settled()

    machine.wait_until(
        lambda: all(_list_skew_reports(machine, shift, name) for name in COMMANDS),
        "every process reports its clock skew",
    )
    reports = {name: _list_skew_reports(machine, shift, name) for name in COMMANDS}
    ahead_by_s = {report["ahead_s"] for lines in reports.values() for report in lines}
    assert {round(ahead_s / 60) for ahead_s in ahead_by_s} == {shift.ahead.total_seconds() / 60}
    assert {name: len(lines) for name, lines in reports.items()} == dict.fromkeys(COMMANDS, 1)


def _list_skew_reports(machine: Machine, shift: Shift, name: str) -> list[dict[str, Any]]:
    """Return the reports about clock skew in the log of a running process."""
    lines = machine.read_output(name)[shift.log_lengths[name] :].splitlines()
    return [json.loads(line) for line in lines if '"clock.differs"' in line]

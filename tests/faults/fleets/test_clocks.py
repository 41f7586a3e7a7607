"""Every process has a clock that is hours ahead or behind: what they write and when they act follows the database's.

No rule of the service has this shift, so a time in the database that is off by as much was made by a process.
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
    """By how much the clocks of the processes are ahead, and the length of their logs before they started."""

    ahead: timedelta
    log_lengths: Mapping[str, int]

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a process with such a clock."""
        (folder,) = shifted_clock.__path__
        return {"PYTHONPATH": folder, "CLOCK_SHIFT_S": str(int(self.ahead.total_seconds()))}


@pytest.fixture(params=[_SHIFT, -_SHIFT], ids=["ahead", "behind"])
def shift(request: pytest.FixtureRequest, machine: Machine) -> Shift:
    """Restart every process of the machine with a clock that is off."""
    machine.kill(*list(machine.processes))
    machine.forget_killed_fleets()
    shift = Shift(request.param, {name: len(machine.read_output(name)) for name in COMMANDS})
    machine.start(*COMMANDS, variables=shift.environment)
    return shift


def _shifted_values(machine: Machine, shop: Shop, shift: Shift) -> list[tuple[str, str, int]]:
    """Return table, column and number of rows of each time that is off by the shift."""
    ((now,),) = machine.rows("select clock_timestamp()")
    off = []
    for table, column, is_id, is_tenants in machine.rows(_COLUMNS):
        value = f"uuid_extract_timestamp({column})" if is_id else column
        where, params = f"{value} between %s and %s", [now + shift.ahead - _WIDTH, now + shift.ahead + _WIDTH]
        if is_tenants:
            where, params = f"{where} and organization_id = %s", [*params, str(shop.id)]
        if table != "tick":  # its times are those of the schedule
            ((count,),) = machine.rows(f"select count(*) from {table} where {where}", *params)
            off += [(table, column, count)] if count else []
    return off


def _click(machine: Machine, shop: Shop) -> None:
    """Click twice: once at the web server, once as another web server, whose clock is right, puts it on the stream."""
    body = json.dumps({"slug": "ben", "programId": str(shop.brand.programs[0])}).encode()
    answer = shop.send_once(CLICK, body, {"User-Agent": BROWSER})
    assert answer is not None
    assert answer[0] == 200
    machine.valkey().xadd(KEY, {FIELD: serialization.to_bytes(build_click(shop.brand, shop.ben, at=datetime.now(UTC)))})
    machine.wait_until(lambda: machine.valkey().xlen(KEY) == 0, "the clicks are written")


def test_rows_carry_database_time_under_clock_skew(machine: Machine, shop: Shop, shift: Shift) -> None:
    # given: a receiver that refuses the first attempt
    shop.subscribe()
    shop.receiver.answers = [status(500), status(200)]

    # when
    orders = [shop.sell(customerId="c1") for _ in range(2)]
    shop.refund(orders[0])
    _click(machine, shop)

    # then
    outcome.check(machine, shop)
    assert machine.rows("select count(*) from click where organization_id = %s", shop.id) == [(2,)]
    assert _shifted_values(machine, shop, shift) == []


def test_unanswered_payouts_are_polled_at_the_usual_pace_under_clock_skew(
    machine: Machine, shop: Shop, service: FakeProcessor, shift: Shift
) -> None:
    # given: a payout that the rail carries out and does not confirm
    with machine.use_models():
        payroll = Payroll(shop.brand)
        payroll.execute("update organization set verification_state = 'verified', payout_grace_days = 0")
        payroll.affiliate("ann")
    shop.sell(affiliateSlug="ann")
    machine.wait_until_settled()
    service.set_faults("500_after", "500_before")

    # when
    with machine.use_models():
        payroll.run(2_000)
    machine.wait_until_settled()

    # then
    assert machine.rows("select status from payout where organization_id = %s", shop.id) == [("Paid",)]
    assert _shifted_values(machine, shop, shift) == []


def test_unanswered_deal_charges_are_polled_at_the_usual_pace_under_clock_skew(
    machine: Machine, shop: Shop, service: FakeProcessor, shift: Shift
) -> None:
    deals = Deals(machine, shop)
    service.set_faults("500_after")

    deals.fund()
    machine.wait_until_settled()

    assert machine.rows("select distinct status from deal where organization_id = %s", shop.id) == [("Funded",)]
    assert _shifted_values(machine, shop, shift) == []


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
    shop.sell(affiliateSlug="rita")  # who was recruited by no one, so there is one event
    machine.wait_until_settled()

    # then: none came before its time; how much later is the machine's affair
    schedule = [float(part) for part in machine.environment()["WEBHOOK_ATTEMPTS_AT_S"].split(",")]
    assert len(attempted_at) == 4
    assert [at for at, due in zip(attempted_at, schedule, strict=False) if at < sold_at + due] == []


def test_sale_of_a_killed_worker_is_settled_under_clock_skew(machine: Machine, shop: Shop, shift: Shift) -> None:
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        shop.sell()
        machine.wait_for_lock_waiters(1)
        machine.kill("workers")
    machine.end_waiting()

    machine.start("workers", variables=shift.environment)

    outcome.check(machine, shop)


def test_tick_fires_once_when_due_under_clock_skew(machine: Machine, shop: Shop, shift: Shift) -> None:
    name = next(entry.job.name for entry in SCHEDULE if entry.job.name == "deals.release")
    ((before,),) = machine.rows("select clock_timestamp()")

    machine.execute("delete from tick where name = %s", name)
    machine.wait_until(lambda: bool(_ticks(machine, name)), "the tick is fired")

    ((after,),) = machine.rows("select clock_timestamp()")
    assert all(before - timedelta(hours=1) < at <= after for (at,) in _ticks(machine, name))


def _ticks(machine: Machine, name: str) -> list[tuple[Any, ...]]:
    return machine.rows("select scheduled_for from tick where name = %s", name)


def test_every_process_reports_its_clock_skew_once(machine: Machine, shop: Shop, shift: Shift) -> None:
    shop.sell()
    machine.wait_until_settled()

    machine.wait_until(lambda: all(_reports(machine, shift, name) for name in COMMANDS), "every process reports it")
    reports = {name: _reports(machine, shift, name) for name in COMMANDS}
    seconds = {report["ahead_s"] for lines in reports.values() for report in lines}
    assert {round(ahead_s / 60) for ahead_s in seconds} == {shift.ahead.total_seconds() / 60}
    assert {name: len(lines) for name, lines in reports.items()} == dict.fromkeys(COMMANDS, 1)


def _reports(machine: Machine, shift: Shift, name: str) -> list[dict[str, Any]]:
    """Return what the running process has reported of its clock."""
    lines = machine.read_output(name)[shift.log_lengths[name] :].splitlines()
    return [json.loads(line) for line in lines if '"clock.differs"' in line]

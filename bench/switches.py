"""Rows per second that a switch brings from a played source without limits, compared with a COPY of the same rows.

Included: the requests, storing, judging and writing of 10,000 affiliates, 100,000 customers and 1,000,000 commissions
by one worker process of 4 threads with one relay, from the first request to Completed. The confirmation comes at once.
The source is played by this process (`commands.demo.played`), which shares the two cores. The anchor copies the rows as
the source sent them into a table like the one where they are staged, with its key.
"""

import os
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from subprocess import Popen
from typing import IO, Any

import settings
from bench.figure import Figure, Target
from bench.ground import brand, memory
from bench.ground.machine import BenchFailed, owner
from bench.plan import Plan
from commands.demo.played import rewardful
from commands.demo.played.sample import Sample
from commands.demo.played.server import playing
from domain.switches.states import SwitchState
from models import db
from models.switches import switches
from models.switches.switches import Switch
from pipelines.switches import changes, connecting, running

_AFFILIATES, _CUSTOMERS, _COMMISSIONS = 10_000, 100_000, 1_000_000
_WORKER = ("python", "-m", "workers", "-Q", "imports", "-p", "1", "-t", "4")
_POLL_S = 0.5
_ENDED = (SwitchState.Ready, SwitchState.Completed, SwitchState.Paused)


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the figure."""
    url = plan.machine.create_database("switch_1m")
    seller = brand.create(url)
    sample = Sample(plan.size(_AFFILIATES), plan.size(_CUSTOMERS), plan.size(_COMMISSIONS))
    rows = sample.affiliates + sample.customers + sample.commissions
    with ExitStack() as stack:
        cursor = stack.enter_context(owner(url))
        account = rewardful.build_account(sample)
        played = stack.enter_context(playing(rewardful.build_source(account)))
        variables = {"SWITCH_REWARDFUL_BASE_URL": played.url, "SWITCH_REQUESTS_PER_S": "0"}
        os.environ |= variables
        settings.current.cache_clear()
        relay = stack.enter_context(plan.machine.running("relay", "flask", "relay"))
        worker = stack.enter_context(plan.machine.running("imports", *_WORKER, **variables))
        switch = connecting.connect(
            organization_id=seller.id, member_id=None, source="rewardful", credentials=account.credentials, now=_now()
        )
        started = time.monotonic()
        _read(seller, switch)
        _wait_for(plan, cursor, switch, rows, relay, worker)
        read_at = time.monotonic()
        _run(seller, switch)
        _wait_for(plan, cursor, switch, rows, relay, worker)
        ended = time.monotonic()
        copied = rows / _copy_s(cursor)
        plan.screen.note(
            f"switch_1m: read and judged in {read_at - started:.0f} s, written in {ended - read_at:.0f} s;"
            f" the worker used {memory.find_peak_mb(worker.pid)} MB at most, staging takes {_staging_mb(cursor)} MB"
        )
    return [Figure("switch_1m", rows / (ended - started), "rows/s", Target(0.01), copied)]


def _read(seller: brand.Brand, switch: Switch) -> None:
    key = {"organization_id": seller.id, "switch_id": switch.id}
    with db.unit_of_work(seller.id):
        campaigns = switches.list_campaigns(**key)
    mapping = [{"source_id": campaign.source_id, "program_id": seller.program_id} for campaign in campaigns]
    with db.unit_of_work(seller.id):
        changes.change(**key, body={"campaigns": mapping}, proved=None, now=_now())
        changes.start_reading(**key, now=_now())


def _run(seller: brand.Brand, switch: Switch) -> None:
    key = {"organization_id": seller.id, "switch_id": switch.id}
    with db.unit_of_work(seller.id):
        ready = switches.find(**key)
        assert ready is not None
        assert ready.preview is not None
        running.start(**key, member_id=None, confirm=ready.preview["to_confirm"], now=_now())


def _wait_for(plan: Plan, cursor: Any, switch: Switch, rows: int, *watched: "Popen[bytes]") -> None:
    """Wait until the switch is Ready or Completed."""
    find = """select state, last_error_message, (select coalesce(sum(read), 0) from switch_collection
      where switch_id = switch.id) from switch where id = %s"""
    with plan.screen.phase("rows of a switch", total=rows) as report:
        while True:
            cursor.execute(find, (switch.id,))
            state, error, read = cursor.fetchone()
            report(min(int(read), rows))
            if state == SwitchState.Paused:
                raise BenchFailed(f"the switch paused: {error}")
            if state in _ENDED:
                return
            plan.machine.check(*watched)
            time.sleep(_POLL_S)


def _staging_mb(cursor: Any) -> int:
    cursor.execute("select (pg_total_relation_size('switch_row') + pg_total_relation_size('switch_item')) / 1048576")
    ((size,),) = cursor.fetchall()
    return int(size)


def _copy_s(cursor: Any) -> float:
    """Return the seconds that a COPY of all staged rows takes."""
    cursor.execute("create table copied (like switch_row including defaults including constraints including indexes)")
    with tempfile.TemporaryFile() as file:
        _copy_out(cursor, file)
        file.seek(0)
        started = time.monotonic()
        cursor.copy_expert("copy copied from stdin", file)
        return time.monotonic() - started


def _copy_out(cursor: Any, file: IO[bytes]) -> None:
    cursor.copy_expert("copy switch_row to stdout", file)


def _now() -> datetime:
    return datetime.now(UTC)

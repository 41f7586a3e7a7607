"""Connects and reads a switch as people and workers do, without judging it."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from domain import jobs
from models import db
from models.jobs import processes
from models.switches import switches
from models.switches.switches import Switch
from pipelines.switches import changes, connecting
from tests.support.job_queues import dispatch_pointers, run_pointer
from tests.support.rows.brands import Brand
from tests.support.running import row_ids
from tests.support.switches.small_source import CAMPAIGN, KEY

_MAX_PAGES = 500


def connect(brand: Brand, *, source: str = "rewardful", **credentials: str) -> Switch:
    """Connect an account; its credentials are those of the small source unless others are given."""
    return connecting.connect(
        organization_id=brand.id,
        member_id=None,
        source=source,
        credentials=credentials or {"apiKey": KEY},
        now=datetime.now(UTC),
    )


def change(brand: Brand, switch: Switch, **body: Any) -> Switch:
    """Change a switch by the loaded body of PATCH."""
    key: dict[str, Any] = {"organization_id": brand.id, "switch_id": switch.id, "body": body, "now": datetime.now(UTC)}
    proved = changes.prove_credentials(**key)
    with db.unit_of_work(brand.id):
        return changes.change(**key, proved=proved)


def map_campaign(brand: Brand, switch: Switch, source_id: str = CAMPAIGN) -> Switch:
    """Map a campaign to a program of the brand."""
    program_id = brand.programs[-1] if brand.programs else brand.program()
    return change(brand, switch, campaigns=[{"source_id": source_id, "program_id": program_id}])


def act(brand: Brand, switch: Switch, name: str) -> Switch:
    """Start reading, resume or cancel: a function of `pipelines.switches.changes`."""
    with db.unit_of_work(brand.id):
        acted: Switch = getattr(changes, name)(organization_id=brand.id, switch_id=switch.id, now=datetime.now(UTC))
    return acted


def start(brand: Brand) -> Switch:
    """Connect the small source, map its campaign and start reading."""
    return act(brand, map_campaign(brand, connect(brand)), "start_reading")


def read(brand: Brand, switch: Switch, *, max_pages: int = _MAX_PAGES) -> Switch:
    """Run the due jobs that read, at most so many, and return the switch."""
    for _ in range(max_pages):
        pointers = dispatch_reads()
        if not pointers:
            break
        for pointer in pointers:
            run_pointer(pointer)
    return reload(brand, switch)


def dispatch_reads() -> list[Any]:
    """Dispatch the due jobs that read, and return their pointers."""
    with db.any_org_work():
        processes.announce(process_id=row_ids.new_id(), queues=jobs.QUEUES, threads=8)
    return [pointer for pointer in dispatch_pointers(["imports"]) if pointer.name == jobs.SWITCH_READ.name]


def let_time_pass(brand: Brand, switch: Switch) -> None:
    """Make the waiting job and the switch due now, as after the time until which it waits."""
    with db.unit_of_work(brand.id):
        db.db.run("update job set run_at = now() where name = 'switch.read' returning 1")
        switches.update(_lock(brand, switch.id), {"waiting_until": None})


def reload(brand: Brand, switch: Switch) -> Switch:
    """Return the switch as it is now."""
    with db.unit_of_work(brand.id):
        return _lock(brand, switch.id)


def ids(brand: Brand, switch: Switch, collection: str) -> list[str]:
    """Return the source ids of the stored rows of a collection that lists brought, by number."""
    rows = brand.rows(
        "select source_id from switch_row where switch_id = %s and collection = %s and not is_mention",
        switch.id,
        collection,
    )
    return sorted((source_id for (source_id,) in rows), key=lambda source_id: int(source_id[1:]))


def jobs_of(brand: Brand) -> list[tuple[str, datetime]]:
    """Return the names and due times of the brand's waiting jobs."""
    return brand.rows("select name, run_at from job where failed_at is null order by id")


def _lock(brand: Brand, switch_id: UUID) -> Switch:
    switch = switches.lock(organization_id=brand.id, switch_id=switch_id)
    assert switch is not None
    return switch

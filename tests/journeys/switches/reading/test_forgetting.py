"""Cancel and forget: keys and staging are erased (switch-over rules, "Secrets and people's data")."""

from datetime import UTC, datetime, timedelta

import pytest

from models import db
from models.switches import switches
from pipelines.switches import forgetting
from tests.support.switches import reading_runs as runs
from tests.support.switches.small_source import create_account, play_small


@pytest.fixture
def server(app, monkeypatch):
    with play_small(monkeypatch, create_account()) as server:
        yield server


def _set(brand, switch, **columns):
    with db.unit_of_work(brand.id):
        locked = switches.lock(organization_id=brand.id, switch_id=switch.id)
        return switches.update(locked, columns)


def _make_ready(brand):
    switch = runs.read(brand, runs.start(brand))
    with db.unit_of_work(brand.id):
        db.db.run("delete from job returning 1")
    return _set(brand, switch, state="Ready", stage=None)


def _staging(brand):
    tables = ("switch_row", "switch_list", "switch_figure", "switch_item")
    return {table: brand.rows(f"select count(*) from {table}")[0][0] for table in tables}


def test_cancelled_switch_has_neither_key_nor_staging(brand, server):
    switch = _make_ready(brand)
    assert _staging(brand)["switch_row"] > 20

    cancelled = runs.act(brand, switch, "cancel")
    assert (cancelled.state, cancelled.credentials_sealed, cancelled.preview) == ("Cancelled", None, None)
    assert set(_staging(brand).values()) == {0}
    assert runs.reload(brand, switch).is_forgotten


def test_large_staging_is_erased_by_jobs(brand, server, monkeypatch, drain):
    switch = _make_ready(brand)
    monkeypatch.setattr(forgetting, "_MAX_ROWS", 5)

    runs.act(brand, switch, "cancel")
    assert _staging(brand)["switch_row"] > 0
    drain("upkeep")
    assert set(_staging(brand).values()) == {0}
    assert runs.reload(brand, switch).is_forgotten


def _forget(at):
    """Forget several times: each time it looks at some switches, and those of other tests may be due too."""
    for _ in range(10):
        with db.any_org_work():
            forgetting.any_org_forget(now=at)


@pytest.mark.parametrize(
    "columns",
    [
        {"state": "Connected", "stage": None},
        {"state": "Ready", "stage": None},
        {"state": "Paused", "paused_in": "Reading"},
    ],
)
def test_switch_left_alone_for_30_days_is_cancelled(brand, server, columns):
    switch = _set(brand, _make_ready(brand), **columns)

    _forget(switch.touched_at + timedelta(days=29, hours=23))
    assert runs.reload(brand, switch).state == columns["state"]
    _forget(switch.touched_at + timedelta(days=30, minutes=1))
    after = runs.reload(brand, switch)
    assert (after.state, after.credentials_sealed, after.is_forgotten) == ("Cancelled", None, True)
    assert set(_staging(brand).values()) == {0}
    assert brand.rows("select action, actor_type from audit_entry where entity_type = 'switch'") == [
        ("switch.cancelled", "system")
    ]


def test_half_written_switch_left_alone_loses_only_its_key(brand, server):
    switch = _set(brand, _make_ready(brand), state="Paused", paused_in="Writing", stage="links")

    _forget(switch.touched_at + timedelta(days=31))
    after = runs.reload(brand, switch)
    assert (after.state, after.credentials_sealed, after.is_forgotten) == ("Paused", None, False)
    assert _staging(brand)["switch_row"] > 0


def test_completed_switch_loses_its_key_at_once_and_its_staging_after_the_undo_time(brand, server):
    until = datetime.now(UTC) + timedelta(days=14)
    switch = _set(brand, _make_ready(brand), state="Completed", undo_until=until)

    _forget(until - timedelta(minutes=1))
    after = runs.reload(brand, switch)
    assert (after.state, after.credentials_sealed, after.is_forgotten) == ("Completed", None, False)
    assert _staging(brand)["switch_row"] > 0
    _forget(until)
    assert runs.reload(brand, switch).is_forgotten
    assert set(_staging(brand).values()) == {0}


def test_other_organizations_keep_their_staging(brand, rival, server):
    switch, theirs = _make_ready(brand), _make_ready(rival)

    runs.act(brand, switch, "cancel")
    assert _staging(rival)["switch_row"] > 20
    assert runs.reload(rival, theirs).state == "Ready"

"""All campaigns of an account can lead to programs, whenever one is chosen for them (switch-over rules, "Routes")."""

import pytest

from adapters import clock
from commands.demo.played.sample import Sample
from domain.refusals import Refused
from models import db
from models.switches import switches
from pipelines.switches import changes
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.switches.played_switch import switching

_MANY = {"rewardful": ("campaigns", 100), "firstpromoter": ("campaigns", 100), "tapfiliate": ("programs", 25)}


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


def _add_campaigns(switch, count):
    """Add copies of the first campaign until the account has so many."""
    name, _ = _MANY[switch.name]
    rows = switch.account[name]
    for number in range(len(rows), count):
        new_id = 10_000 + number if switch.name == "firstpromoter" else f"added-{number}"
        rows.append({**rows[0], "id": new_id})


def _list_campaigns(switch):
    with db.unit_of_work(switch.brand.id):
        return switches.list_campaigns(organization_id=switch.brand.id, switch_id=switch.id)


def _map(switch, mapping):
    body = {"campaigns": [{"source_id": name, "program_id": program_id} for name, program_id in mapping.items()]}
    with db.unit_of_work(switch.brand.id):
        key = {"organization_id": switch.brand.id, "switch_id": switch.id}
        changes.change(**key, body=body, proved=None, now=clock.now())


@pytest.mark.parametrize("name", list(_MANY))
@pytest.mark.parametrize("more", [0, 1])
def test_campaigns_of_all_pages_are_listed(brand, monkeypatch, name, more):
    count = 2 * _MANY[name][1] + more
    with switching(brand, monkeypatch, name, Sample(campaigns=1)) as switch:
        _add_campaigns(switch, count)
        switch.connect()

    assert len(_list_campaigns(switch)) == count
    assert switch.find().requests == len(switch.server.requests("/"))


@pytest.mark.parametrize("name", list(_MANY))
def test_more_campaigns_than_a_switch_can_bring_are_refused(brand, monkeypatch, name):
    with switching(brand, monkeypatch, name, Sample(campaigns=1)) as switch:
        _add_campaigns(switch, 501)
        with pytest.raises(Refused) as refused:
            switch.connect()

    assert (refused.value.status, refused.value.code) == (422, "switch_credentials_refused")
    assert "more than 500 campaigns" in refused.value.message


@pytest.mark.parametrize("name", ["rewardful", "firstpromoter", "tapfiliate"])
def test_campaign_that_gets_its_program_in_ready_comes_over(brand, monkeypatch, name):
    with switching(brand, monkeypatch, name, Sample(campaigns=2)) as switch:
        switch.connect()
        second = max(row.source_id for row in _list_campaigns(switch))
        _map(switch, {second: None})
        switch.read()
        before = switch.find().preview["counts"]
        _map(switch, {second: switch.program_id})
        drain()
        after = switch.find().preview["counts"]

    for collection in ("affiliates", "customers", "commissions"):
        assert before[collection]["left_out"] > 0
        assert after[collection]["new"] > before[collection]["new"]
    assert after["commissions"]["left_out"] == 0


def test_campaign_that_was_created_after_reading_is_refused_until_the_account_is_read_again(brand, monkeypatch):
    with switching(brand, monkeypatch, "tapfiliate", Sample(campaigns=1)) as switch:
        switch.connect()
        switch.read()
        _add_campaigns(switch, 2)
        key = {"organization_id": brand.id, "switch_id": switch.id}
        body = {"credentials": dict(switch.account.credentials)}
        proved = changes.prove_credentials(**key, body=body, now=clock.now())
        with db.unit_of_work(brand.id):
            changes.change(**key, body=body, proved=proved, now=clock.now())
        with pytest.raises(Refused) as refused:
            _map(switch, {"added-1": switch.program_id})
        switch.read()
        _map(switch, {"added-1": switch.program_id})
        drain()

    assert (refused.value.status, refused.value.code) == (409, "switch_not_changeable")
    assert {row.source_id: row.program_id for row in _list_campaigns(switch)}["added-1"] == switch.program_id

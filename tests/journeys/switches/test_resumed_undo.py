"""An undo that stopped with an error is resumed. Source: the switch-over rules, "Undo" and "Jobs"."""

from datetime import UTC, datetime

import pytest

from domain.refusals import Refused
from models import db
from pipelines.switches import changes
from tests.support.rows.brands import Brand
from tests.support.switches import undoing
from tests.support.switches.judged_rows import JudgedSwitch
from workers import dead_letters


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


def test_undo_that_stopped_with_an_error_goes_on_when_it_is_resumed(brand):
    # given: the attempts of a slice are used up
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.commission(ben)
    switch.run()
    undoing.start(switch)
    with db.any_org_work():
        ((job_id,),) = db.db.run("update job set failed_at = now() where name = 'switch.undo' returning id")
        dead_letters.any_org_react([job_id])
    assert switch.find().last_error_code == "internal_error"

    # when
    with db.unit_of_work(brand.id):
        changes.resume(organization_id=brand.id, switch_id=switch.id, now=datetime.now(UTC))
    switch.run_jobs()

    # then
    undone = switch.find()
    assert (undone.state, undone.last_error_code) == ("Undone", None)
    assert brand.rows("select count(*) from conversion") == [(0,)]


def test_undo_that_is_under_way_is_not_resumed(brand):
    switch = JudgedSwitch(brand)
    switch.affiliate("ben@example.com")
    switch.run()
    undoing.start(switch)

    with pytest.raises(Refused, match="not paused"), db.unit_of_work(brand.id):
        changes.resume(organization_id=brand.id, switch_id=switch.id, now=datetime.now(UTC))

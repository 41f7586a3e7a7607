"""The parameters that links of a source name work here after Run (switch-over rules, "Links")."""

import pytest

from commands.demo.played.sample import Sample
from domain.switches.records import AffiliateRef, SourceLink
from tests.support.rows.brands import Brand
from tests.support.switches import undoing
from tests.support.switches.played_switch import switching
from tests.support.switches.scene import SwitchScene
from tests.support.switches.source_records import build_affiliate

_SAMPLE = Sample(campaigns=1)


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


def _name_parameter(switch, name):
    """Make the account's links name a parameter."""
    if switch.name == "tolt":
        rows = switch.account["links"]
        for place in range(len(rows)):
            rows.update(place, param=name)
        return
    rows = switch.account["promoters"]
    for place in range(len(rows)):
        memberships = [
            {**row, "ref_link": f"https://shop.example.com/?{name}={row['ref_token']}"}
            for row in rows[place]["promoter_campaigns"]
        ]
        rows.update(place, promoter_campaigns=memberships)


def _list_custom(brand):
    return brand.rows("select attribution_params from organization where id = %s", brand.id)[0][0]


@pytest.mark.parametrize("name", ["tolt", "firstpromoter"])
def test_parameter_of_the_links_is_added_at_run_and_removed_by_undo(brand, monkeypatch, name):
    with switching(brand, monkeypatch, name, _SAMPLE) as switch:
        _name_parameter(switch, "ourpartner")
        switch.connect()
        switch.read()
        assert _list_custom(brand) is None
        switch.run()

    assert _list_custom(brand) == "ourpartner"
    assert switch.find().parameters_added == ("ourpartner",)
    undoing.undo(switch)
    assert _list_custom(brand) is None


def test_parameter_of_links_that_does_not_fit_is_a_warning(brand, monkeypatch):
    with switching(brand, monkeypatch, "tolt", _SAMPLE) as switch:
        _name_parameter(switch, "x" * 40)
        switch.connect()
        switch.read()

    warnings = {row["code"]: row for row in switch.find().preview["warnings"]}
    assert warnings["parameter_not_added"] == {"code": "parameter_not_added", "count": 1, "example": "x" * 40}


def test_parameters_of_links_that_stay_there_are_not_added(brand, monkeypatch):
    scene = SwitchScene.create(brand, monkeypatch, campaigns={"main": brand.programs[-1], "off": None})
    scene.read("affiliates", [build_affiliate("ann"), build_affiliate("ben", campaign="off")])
    links = [
        SourceLink("l1", AffiliateRef(id="ann"), "ann-x", parameter="p" * 40),
        SourceLink("l2", AffiliateRef(id="ben"), "ben-x", parameter="q" * 40),
    ]
    scene.read("links", links)

    warnings = scene.judge()["warnings"]
    assert [(row["code"], row["count"], row["example"]) for row in warnings] == [("parameter_not_added", 1, "p" * 40)]

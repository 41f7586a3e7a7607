"""The imports of a switch: shown with the words of the switch, and undone with it alone."""

import pytest

from tests.support.switches.judged_rows import JudgedSwitch


@pytest.fixture
def switch(brand):
    brand.program()
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.commission(ben)
    switch.run()
    reasons = "update import_job set reasons = '{\"affiliate_unknown\": 48}' where switch_id is not null returning id"
    brand.rows(reasons)
    return switch


@pytest.mark.parametrize("kind", ["Affiliates", "Conversions"])
def test_import_of_a_switch_leads_to_it(brand, people, switch, kind):
    ((job_id,),) = brand.rows("select id from import_job where kind = %s", kind)
    browser = people()

    page = browser.open(f"/dashboard/imports/{job_id}").get_data(as_text=True)
    undo = browser.open(f"/dashboard/imports/{job_id}/undo")

    assert "Their affiliate is left out or unknown" in page
    assert f"/dashboard/switch/{switch.id}" in page
    assert f"/dashboard/imports/{job_id}/undo" not in page
    assert undo.status_code == 200
    assert "part of a switch" in undo.get_data(as_text=True)
    assert "<form" not in undo.get_data(as_text=True).partition("<main")[2].partition("</main")[0]

"""Affiliates discover programs of every brand on the portal and apply."""

import pytest

from tests.support.outside.console import Console
from tests.support.rows.brands import Brand


@pytest.fixture
def shop(app):
    """A brand without affiliates that may list programs in the network."""
    brand = Brand.create(app, name="Shop & <co>")
    brand.set(bankBalanceCents="1", currency="TOP")
    return brand


def test_discovered_program_takes_applications_while_the_plan_allows(rita, shop):
    program_id = shop.program(
        network_visibility="Networked", name="Tea <b>", category="Food", description="Two\nlines <i>of it</i>"
    )
    assert "Tea &lt;b&gt;" not in rita.open_page("/portal/discover?currency=TOP")
    assert Console(shop.app).post(f"network/{program_id}/approve", {}).status_code == 200

    list_html = rita.open_page("/portal/discover?currency=TOP&category=Food&commissionModel=Cps")
    assert f'<a href="/portal/discover/{program_id}">Tea &lt;b&gt;</a>' in list_html
    assert "20 % of each payment." in list_html
    html = rita.open_page(f"/portal/discover/{program_id}")
    assert "Two\nlines &lt;i&gt;of it&lt;/i&gt;" in html
    refused = rita.send(f"/portal/discover/{program_id}/apply", fullName="x" * 201, audience="cats")
    assert (refused.status_code, "cats" in refused.text, 'aria-invalid="true"' in refused.text) == (422, True, True)

    assert rita.send(f"/portal/discover/{program_id}/apply", fullName="Rita", audience="cats").status_code == 303
    assert "You have applied" in rita.open_page(f"/portal/discover/{program_id}")
    assert rita.send(f"/portal/discover/{program_id}/apply").status_code == 303
    assert shop.rows("select full_name, source, status, application_data from affiliate") == [
        ("Rita", "Network", "Pending", {"audience": "cats"})
    ]
    assert '<span class="chip wait">Pending</span>' in rita.open_page("/portal/programs")

    shop.set(status="Canceled")
    assert rita.visitor.open(f"/portal/discover/{program_id}").status_code == 404
    assert "No programs match this filter" in rita.open_page("/portal/discover?currency=TOP")
    shop.set(status="Active")
    assert "Tea &lt;b&gt;" in rita.open_page("/portal/discover?currency=TOP")


def test_invalid_filter_shows_an_error(rita):
    for query in ("currency=EURO", "category=x", "cursor=x"):
        answer = rita.visitor.open(f"/portal/discover?{query}")
        assert (answer.status_code, 'role="alert"' in answer.text) == (400, True), query

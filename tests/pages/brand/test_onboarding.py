"""The list of steps on the overview, until all are done."""

import re

import pytest

from tests.support.rows.program_rows import insert_click


@pytest.fixture
def owner(visitor, links):
    visitor.open(links("owner"))
    return visitor


def _links(html):
    steps = re.search(r'<ol class="todo">.*?</ol>', html, re.S)[0]
    return re.findall(r'href="([^"]+)"', steps)


def test_each_open_step_has_one_link_that_opens(owner, brand):
    links = _links(owner.open("/dashboard").text)

    assert links[0] == "/dashboard/programs/new"
    assert len(links) == len(set(links)) + 1  # without a program the tag's step leads to creating one too
    assert [owner.open(link).status_code for link in links] == [200] * len(links)


def test_steps_disappear_once_all_are_done(owner, brand, drain):
    program_id = brand.program()
    brand.affiliate("ben")
    brand.endpoint("https://localhost/hook")
    brand.app.test_client().get(f"/api/v1/r/c.gif?programId={program_id}")
    assert "6 of 7 done" in owner.open("/dashboard").text
    brand.sale()
    drain("sales")

    assert "Get started" not in owner.open("/dashboard").text
    assert "Get started" not in owner.open("/dashboard/onboarding").text


def test_part_shows_the_first_sale_as_it_comes(owner, brand, drain):
    brand.program()
    ben = brand.affiliate("ben")
    address = re.search(r'hx-get="(/dashboard/onboarding[^"]*)"', owner.open("/dashboard").text)[1]
    address = address.replace("&amp;", "&")
    assert owner.open(address).status_code == 204
    insert_click(brand, ben)
    assert "We have received your first click." in owner.open(address).text
    brand.sale()
    drain("sales")

    assert "We have received your first sale." in owner.open(address).text


def test_viewer_sees_the_steps_without_links(visitor, links):
    visitor.open(links("owner", "--role", "Viewer", "--email", "vera@x.test"))
    html = visitor.open("/dashboard").text

    assert "Get started" in html
    assert _links(html) == []

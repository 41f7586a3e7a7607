"""The organization switcher, for people who belong to several organizations."""

import pytest

from api.access.persons import Person
from tests.support.outside.visitor import Visitor

_OTHER_ID = "0190f3a2-6c1b-7c0e-9a57-3f0c5f1f7a11"


@pytest.fixture
def member(app, links):
    """Return a signed-in browser of a brand's Owner."""
    visitor = Visitor(app)
    visitor.open(links("owner"))
    return visitor


@pytest.fixture
def belong_to(monkeypatch):
    """Return a function that makes every person a member of these organizations."""
    return lambda *organizations: monkeypatch.setattr(
        Person, "organizations", property(lambda _: list(organizations)), raising=False
    )


def test_member_of_several_organizations_can_switch(member, belong_to, brand):
    belong_to(
        {"id": brand.id, "name": "Acme <b>", "role": "Owner"},
        {"id": _OTHER_ID, "name": "Other brand", "role": "Viewer"},
    )
    html = member.open("/dashboard").text
    form = html.partition('<form method="post" action="/switch-organization"')[2].partition("</form>")[0]

    assert f'<button name="organizationId" value="{brand.id}" aria-current="true"><b>Acme &lt;b&gt;</b>' in form
    assert f'<button name="organizationId" value="{_OTHER_ID}"><b>Other brand</b>' in form
    assert 'name="_key"' in form


def test_member_of_one_organization_sees_no_switcher(member, belong_to, brand):
    assert "/switch-organization" not in member.open("/dashboard").text

    belong_to({"id": brand.id, "name": "Acme", "role": "Owner"})
    assert "/switch-organization" not in member.open("/dashboard").text

"""The organization switcher, for people who belong to several organizations."""

import uuid

import pytest

from models import db
from tests.pages.sign_in.test_member_links import add_member
from tests.support.outside.visitor import Visitor


@pytest.fixture
def email():
    return f"ada-{uuid.uuid4().hex}@example.com"


@pytest.fixture
def member(app, links, email):
    """Return a signed-in browser of a brand's Owner."""
    visitor = Visitor(app)
    visitor.open(links("owner", "--email", email))
    return visitor


def test_member_of_several_organizations_can_switch(member, brand, rival, email):
    add_member(rival, "Viewer", email)
    brand.rows("update organization set name = 'Acme <b>' returning 1")
    rival.rows("update organization set name = 'Other brand' returning 1")
    assert "<b>Acme &lt;b&gt;</b>" in member.open("/dashboard").text
    html = member.open("/switch-organization").text
    form = html.partition('<form method="post" action="/switch-organization"')[2].partition("</form>")[0]

    assert f'name="organizationId" value="{brand.id}" aria-current="true"><b>Acme &lt;b&gt;</b>' in form
    assert f'<button class="organization" name="organizationId" value="{rival.id}"><b>Other brand</b>' in form
    assert 'name="_key"' in form


def test_member_of_one_organization_sees_no_switcher(member, brand):
    assert "/switch-organization" not in member.open("/dashboard").text


def test_person_of_many_organizations_sees_twenty_with_the_present_one(member, brand, email):
    with db.any_org_work():
        ids = [
            row[0]
            for row in db.db.run(
                "insert into organization (id, name, slug, plan_tier, subscription_status)"
                " select gen_random_uuid(), 'Many', gen_random_uuid()::text, 'Free', 'Active'"
                " from generate_series(1, 30) returning id"
            )
        ]
        db.db.run(
            "insert into member (id, organization_id, email, role)"
            " select gen_random_uuid(), id, %s, 'Viewer' from unnest(%s::uuid[]) id returning 1",
            (email, ids),
        )
    html = member.open("/switch-organization").text

    assert html.count('name="organizationId"') == 20
    assert f'value="{brand.id}" aria-current="true"' in html

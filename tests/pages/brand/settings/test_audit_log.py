"""The audit log on the dashboard: actor, action, and the values before and after."""

import pytest

from tests.support.api.audit_entries import insert_entry

_HERE = "/dashboard/audit-log"


@pytest.fixture
def owner(people, brand):
    """An Owner of a brand with two entries in its audit log."""
    brand.person("Owner").call("PATCH", "/api/organizations/me", {"name": "Acme <b>", "billingEmail": "b@example.com"})
    brand.person("Admin").post(
        "/api/v1/programs", {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 10}
    )
    return people("Owner")


def test_entry_shows_actor_and_changed_values(owner):
    html = owner.open(_HERE).text

    assert ">Org profile changed<" in html
    assert "action=org.profile_changed" in html
    assert "owner@example.com" in html
    assert '<b>Name</b>: Brand <span aria-hidden="true">→</span>' in html
    assert "</span> Acme &lt;b&gt;</li>" in html
    assert "<b>Billing email</b>: –" in html
    assert "action=program.created" in html


def test_entries_of_an_agent_are_marked(owner, brand):
    insert_entry(brand, actor_type="oauth", via="mcp", client="helper <b>")
    insert_entry(brand, via="mcp")
    html = owner.open(_HERE).text

    assert html.count("by an AI agent") == 2
    assert "by an AI agent: helper &lt;b&gt;</span>" in html


def test_filter_is_kept_in_the_address(owner, brand):
    html = owner.open(f"{_HERE}?action=program.created").text
    assert "action=program.created" in html
    assert "org.profile_changed" not in html
    assert 'value="program.created"' in html
    assert "action=program.created" in html.partition("export.csv")[2][:60]

    ((admin_id,),) = brand.rows("select id from member where email = 'admin@example.com'")
    assert "org.profile_changed" not in owner.open(f"{_HERE}?actorUserId={admin_id}").text
    assert "No entry matches this filter." in owner.open(f"{_HERE}?action=nothing").text


@pytest.mark.parametrize(
    "query", ["since=yesterday", "actorUserId=x", "action=" + "x" * 201, "cursor=-1", "cursor=x%00"]
)
def test_invalid_filter_shows_an_error_and_invalid_cursor_the_list(owner, query):
    answer = owner.open(f"{_HERE}?{query}")

    assert answer.status_code == (200 if "cursor" in query else 400)
    assert ('role="alert"' in answer.text) is ("cursor" not in query)


def test_older_entries_are_on_the_next_page(owner, brand):
    for number in range(51):
        brand.person("Owner").call("PATCH", "/api/organizations/me", {"name": f"Acme {number}"})
    html = owner.open(f"{_HERE}?entityType=org").text
    assert "52 entries" in html
    assert "entityType=org&amp;cursor=2" in html or "cursor=2&amp;entityType=org" in html

    assert "Acme &lt;b&gt;" in owner.open(f"{_HERE}?entityType=org&cursor=2").text


def test_export_matches_the_api(owner):
    answer = owner.open(f"{_HERE}/export.csv?action=program.created")

    assert answer.mimetype == "text/csv"
    assert answer.text.splitlines()[0].startswith("id,action,")
    assert len(answer.text.splitlines()) == 2
    assert owner.open(f"{_HERE}/export.csv?since=x").headers["Location"] == _HERE


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
def test_audit_log_requires_owner(people, role):
    visitor = people(role)

    assert visitor.open(_HERE).status_code == 403
    assert visitor.open(f"{_HERE}/export.csv").status_code == 403
    assert f'href="{_HERE}"' not in visitor.open("/dashboard").text

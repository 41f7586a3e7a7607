"""Programs on the console: listed, suspended with a reason, resumed."""

from tests.support.api.payouts import UNKNOWN_ID
from tests.support.outside.console import list_audit_entries


def test_program_is_listed_suspended_and_resumed(operator, brand, page_text):
    program_id = brand.program(name="Knives & <forks>")
    address = f"/console/programs/{program_id}"
    list_html = operator.open(f"/console/programs?organizationId={brand.id}").text
    html = operator.open(address).text
    answer = operator.send(f"{address}/suspend", {"why": "stolen cards", "_key": "a"})
    suspended = operator.open(address)

    assert f'<a href="{address}">Knives &amp; &lt;forks&gt;</a>' in list_html
    assert f'href="/console/programs?organizationId={brand.id}"' in operator.open(f"/console/tenants/{brand.id}").text
    assert "<h1>Knives &amp; &lt;forks&gt;</h1>" in html
    assert (answer.status_code, answer.headers["Location"]) == (303, address)
    assert "Resume Knives" in page_text(suspended)
    assert brand.rows("select suspended_at is not null from program") == [(True,)]
    assert f'href="{address}"' in operator.open("/console/programs?status=Suspended").text
    assert operator.send(f"{address}/resume", {"why": "paid back", "_key": "b"}).status_code == 303
    assert brand.rows("select suspended_at from program") == [(None,)]
    assert [entry[1] for entry in list_audit_entries("program.suspended", program_id)] == ["operator@example.com"]
    assert list_audit_entries("program.resumed", program_id)[0][3]["why"] == "paid back"


def test_missing_reason_changes_nothing_and_keeps_the_form(operator, brand):
    address = f"/console/programs/{brand.program()}"
    for number, why in enumerate((" ", "x" * 10_000, "a\x00b")):
        answer = operator.send(f"{address}/suspend", {"why": why, "_key": f"k{number}"})

        assert answer.status_code == 422, why[:10]
        assert 'aria-invalid="true"' in answer.text
    assert "x" * 10_000 in operator.send(f"{address}/suspend", {"why": "x" * 10_000, "_key": "k"}).text
    assert brand.rows("select suspended_at from program") == [(None,)]


def test_archived_or_unknown_program_has_no_decision(operator, brand):
    archived = brand.program(archived_at="2026-01-01T00:00:00Z")

    assert "No action available" in operator.open(f"/console/programs/{archived}").text
    for path in (f"/console/programs/{UNKNOWN_ID}", "/console/programs/none"):
        assert operator.open(path).status_code == 404
        assert operator.send(f"{path}/suspend", {"why": "w", "_key": "a"}).status_code == 404


def test_invalid_and_empty_filters_show_their_messages(operator):
    assert 'role="alert"' in operator.open("/console/programs?organizationId=x").text
    assert "No programs match this filter" in operator.open("/console/programs?q=no-such-program-of-anybody").text

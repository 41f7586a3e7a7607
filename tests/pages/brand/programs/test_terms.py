"""Changes of a program's terms on the dashboard, its archiving, and the rate for recruiting."""

import re
from datetime import UTC, datetime

import pytest


@pytest.fixture
def page_path(brand):
    program = brand.program(name="Knives", slug="knives", budget_cents=500_000, budget_currency="USD")
    return f"/dashboard/programs/{program}"


def _form(html):
    """Return the form of the page's main part as a browser would send it."""
    main = html.partition("<main")[2]
    fields = dict(re.findall(r'<input id="[^"]*" name="([^"]+)" type="text" value="([^"]*)"', main))
    fields |= dict(re.findall(r'<textarea id="[^"]*" name="([^"]+)"[^>]*>\n(.*?)</textarea>', main, re.DOTALL))
    for name, options in re.findall(r'<select id="[^"]*" name="([^"]+)".*?>(.*?)</select>', main, re.DOTALL):
        fields[name] = re.search(r'<option value="([^"]*)" selected', options)[1]
    fields |= dict.fromkeys(re.findall(r'<input type="checkbox" id="[^"]*" name="([^"]+)"[^>]* checked', main), "on")
    return fields


def _program(brand):
    program = brand.get(f"/api/v1/programs/{brand.programs[0]}").json
    program.pop("updatedAt")
    return program


def test_unchanged_form_changes_nothing(brand, people, page_path):
    before = _program(brand)
    visitor = people("Manager")
    answer = visitor.send(f"{page_path}/change", _form(visitor.open(f"{page_path}/change").text))

    assert (answer.status_code, answer.headers["Location"]) == (303, page_path)
    assert _program(brand) == before
    assert brand.rows("select count(*) from audit_entry where action = 'program.updated'") == [(0,)]


def test_only_typed_values_are_changed(brand, people, page_path):
    before = _program(brand)
    visitor = people("Manager")
    form = _form(visitor.open(f"{page_path}/change").text)
    typed = {
        "name": "Spoons",
        "defaultCommissionValue": "12,5",
        "recurringMonths": "6",
        "budgetCents": "1,234.50",
        "description": "One\r\nTwo",
    }
    form.pop("autoApprove", None)

    assert visitor.send(f"{page_path}/change", form | typed).status_code == 303

    after = _program(brand)
    assert {name: after[name] for name in after if after[name] != before[name]} == {
        "name": "Spoons",
        "defaultCommissionValue": 12.5,
        "recurringMonths": 6,
        "budgetCents": 123_450,
        "description": "One\nTwo",
    } | ({"autoApprove": False} if before["autoApprove"] else {})
    visitor.send(
        f"{page_path}/change",
        _form(visitor.open(f"{page_path}/change").text) | {"recurringMonths": "", "budgetCents": ""},
    )
    assert (_program(brand)["recurringMonths"], _program(brand)["budgetCents"]) == (None, None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("name", ""),
        ("slug", "A B"),
        ("termsUrl", "here"),
        ("defaultCommissionValue", "much"),
        ("cookieWindowDays", "0"),
        ("cookieWindowDays", "1.5"),
        ("recurringMonths", "-2"),
        ("budgetCents", "0.001"),
        ("budgetCents", "-5"),
        ("minPayoutCents", "9" * 25),
    ],
)
def test_error_is_shown_at_its_field(brand, people, page_path, name, text):
    before = _program(brand)
    visitor = people()
    answer = visitor.send(
        f"{page_path}/change", _form(visitor.open(f"{page_path}/change").text) | {name: text, "isActive": ""}
    )

    assert answer.status_code == 400
    assert re.findall(r'<input id="([^"]+)"[^>]*aria-invalid="true"', answer.text) == [name]
    assert _program(brand) == before


def test_amount_in_a_former_currency_stays_until_retyped(brand, people, page_path):
    brand.rows("update program set budget_currency = 'EUR' returning id")
    visitor = people()
    form = _form(visitor.open(f"{page_path}/change").text)
    visitor.send(f"{page_path}/change", form | {"name": "Spoons"})
    unchanged = _program(brand)
    visitor.send(f"{page_path}/change", form | {"name": "Spoons", "budgetCents": "70"})
    typed = _program(brand)

    assert (unchanged["budgetCents"], unchanged["budgetCurrency"]) == (500_000, "EUR")
    assert (typed["budgetCents"], typed["budgetCurrency"]) == (7_000, "USD")


def test_owner_archives_a_program_after_confirmation(brand, people, page_path):
    visitor = people("Owner")
    confirmation = visitor.open(f"{page_path}/archive").text
    answer = visitor.send(f"{page_path}/archive")

    assert "Archive Knives permanently" in confirmation
    assert (answer.status_code, answer.headers["Location"]) == (303, page_path)
    html = visitor.open(page_path).text
    assert '<span class="chip off">Archived</span>' in html
    assert f"{page_path}/change" not in html
    post = '<form method="post"'
    assert visitor.open(f"{page_path}/archive").text.count(post) == visitor.open(page_path).text.count(post)


def test_archived_program_cannot_be_changed(brand, people, page_path):
    visitor = people()
    form = _form(visitor.open(f"{page_path}/change").text)
    brand.rows("update program set archived_at = %s returning id", datetime.now(UTC))

    answer = visitor.send(f"{page_path}/change", form | {"name": "Spoons"})

    assert answer.status_code == 409
    assert 'role="alert"' in answer.text


@pytest.mark.parametrize(("role", "page"), [("Viewer", "change"), ("Viewer", "archive"), ("Manager", "archive")])
def test_member_without_permission_gets_a_403(brand, people, page_path, role, page):
    visitor = people(role)

    assert visitor.open(f"{page_path}/{page}").status_code == 403
    assert visitor.send(f"{page_path}/{page}", {"name": "Mine"}).status_code == 403
    assert (_program(brand)["name"], _program(brand)["archivedAt"]) == ("Knives", None)


def test_recruiting_is_enabled_with_its_rate(brand, people, page_path):
    visitor = people("Owner")
    page = f"{page_path}/recruiting"

    answer = visitor.send(page, {"enabled": "on", "percent": "12,5"})

    assert (answer.status_code, answer.headers["Location"]) == (303, page)
    assert _form(visitor.open(page).text) == {"enabled": "on", "percent": "12.5"}
    assert "Recruiters earn 12.5" in visitor.open(page_path).text
    visitor.send(page, {"percent": "12.5"})
    assert "Recruiters earn 12.5" not in visitor.open(page_path).text


@pytest.mark.parametrize("percent", ["", "much", "-1", "101"])
def test_invalid_percentage_keeps_the_typed_text(people, page_path, percent):
    answer = people("Owner").send(f"{page_path}/recruiting", {"enabled": "on", "percent": percent})

    assert answer.status_code == 400
    assert re.findall(r'<input id="([^"]+)"[^>]*aria-invalid="true"', answer.text) == ["percent"]
    assert _form(answer.text) == {"enabled": "on", "percent": percent}


def test_manager_reads_the_recruiting_rate(people, page_path):
    visitor = people("Manager")

    assert "An Owner can turn it on." in visitor.open(f"{page_path}/recruiting").text
    assert visitor.send(f"{page_path}/recruiting", {"percent": "5"}).status_code == 403

"""Terms of a program that are changed at the dashboard; its end; what recruiting pays."""

import re
from datetime import UTC, datetime

import pytest


@pytest.fixture
def here(brand):
    program = brand.program(name="Knives", slug="knives", budget_cents=500_000, budget_currency="USD")
    return f"/dashboard/programs/{program}"


def _form(shown):
    """Return the form of the page's main part as a browser would send it."""
    main = shown.partition("<main")[2]
    found = dict(re.findall(r'<input id="[^"]*" name="([^"]+)" type="text" value="([^"]*)"', main))
    found |= dict(re.findall(r'<textarea id="[^"]*" name="([^"]+)"[^>]*>\n(.*?)</textarea>', main, re.DOTALL))
    for name, options in re.findall(r'<select id="[^"]*" name="([^"]+)".*?>(.*?)</select>', main, re.DOTALL):
        found[name] = re.search(r'<option value="([^"]*)" selected', options)[1]
    found |= dict.fromkeys(re.findall(r'<input type="checkbox" id="[^"]*" name="([^"]+)"[^>]* checked', main), "on")
    return found


def _program(brand):
    shown = brand.get(f"/api/v1/programs/{brand.programs[0]}").json
    shown.pop("updatedAt")
    return shown


def test_unchanged_form_changes_nothing(brand, people, here):
    before = _program(brand)
    visitor = people("Manager")
    answer = visitor.send(f"{here}/change", _form(visitor.open(f"{here}/change").text))

    assert (answer.status_code, answer.headers["Location"]) == (303, here)
    assert _program(brand) == before
    assert brand.rows("select count(*) from audit_entry where action = 'program.updated'") == [(0,)]


def test_only_typed_values_are_changed(brand, people, here):
    before = _program(brand)
    visitor = people("Manager")
    form = _form(visitor.open(f"{here}/change").text)
    typed = {
        "name": "Spoons",
        "defaultCommissionValue": "12,5",
        "recurringMonths": "6",
        "budgetCents": "1,234.50",
        "description": "One\r\nTwo",
    }
    form.pop("autoApprove", None)

    assert visitor.send(f"{here}/change", form | typed).status_code == 303

    after = _program(brand)
    assert {name: after[name] for name in after if after[name] != before[name]} == {
        "name": "Spoons",
        "defaultCommissionValue": 12.5,
        "recurringMonths": 6,
        "budgetCents": 123_450,
        "description": "One\nTwo",
    } | ({"autoApprove": False} if before["autoApprove"] else {})
    visitor.send(
        f"{here}/change", _form(visitor.open(f"{here}/change").text) | {"recurringMonths": "", "budgetCents": ""}
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
def test_error_is_shown_at_its_field(brand, people, here, name, text):
    before = _program(brand)
    visitor = people()
    answer = visitor.send(f"{here}/change", _form(visitor.open(f"{here}/change").text) | {name: text, "isActive": ""})

    assert answer.status_code == 400
    assert re.findall(r'<input id="([^"]+)"[^>]*aria-invalid="true"', answer.text) == [name]
    assert _program(brand) == before


def test_an_amount_of_a_former_home_currency_keeps_it_until_it_is_typed_anew(brand, people, here):
    brand.rows("update program set budget_currency = 'EUR' returning id")
    visitor = people()
    form = _form(visitor.open(f"{here}/change").text)
    visitor.send(f"{here}/change", form | {"name": "Spoons"})
    kept = _program(brand)
    visitor.send(f"{here}/change", form | {"name": "Spoons", "budgetCents": "70"})
    typed = _program(brand)

    assert (kept["budgetCents"], kept["budgetCurrency"]) == (500_000, "EUR")
    assert (typed["budgetCents"], typed["budgetCurrency"]) == (7_000, "USD")


def test_an_owner_archives_a_program_after_being_asked(brand, people, here):
    visitor = people("Owner")
    asked = visitor.open(f"{here}/archive").text
    answer = visitor.send(f"{here}/archive")

    assert "Archive Knives for ever" in asked
    assert (answer.status_code, answer.headers["Location"]) == (303, here)
    html = visitor.open(here).text
    assert '<span class="chip off">Archived</span>' in html
    assert f"{here}/change" not in html
    assert visitor.open(f"{here}/archive").text.count("<form") == visitor.open(here).text.count("<form")


def test_archived_program_cannot_be_changed(brand, people, here):
    visitor = people()
    form = _form(visitor.open(f"{here}/change").text)
    brand.rows("update program set archived_at = %s returning id", datetime.now(UTC))

    answer = visitor.send(f"{here}/change", form | {"name": "Spoons"})

    assert answer.status_code == 409
    assert 'role="alert"' in answer.text


@pytest.mark.parametrize(("role", "page"), [("Viewer", "change"), ("Viewer", "archive"), ("Manager", "archive")])
def test_member_without_permission_gets_a_403(brand, people, here, role, page):
    visitor = people(role)

    assert visitor.open(f"{here}/{page}").status_code == 403
    assert visitor.send(f"{here}/{page}", {"name": "Mine"}).status_code == 403
    assert (_program(brand)["name"], _program(brand)["archivedAt"]) == ("Knives", None)


def test_recruiting_is_switched_on_with_what_it_pays(brand, people, here):
    visitor = people("Owner")
    page = f"{here}/recruiting"

    answer = visitor.send(page, {"enabled": "on", "percent": "12,5"})

    assert (answer.status_code, answer.headers["Location"]) == (303, page)
    assert _form(visitor.open(page).text) == {"enabled": "on", "percent": "12.5"}
    assert "earns 12.5" in visitor.open(here).text
    visitor.send(page, {"percent": "12.5"})
    assert "earns 12.5" not in visitor.open(here).text


@pytest.mark.parametrize("percent", ["", "much", "-1", "101"])
def test_invalid_percentage_keeps_the_typed_text(people, here, percent):
    answer = people("Owner").send(f"{here}/recruiting", {"enabled": "on", "percent": percent})

    assert answer.status_code == 400
    assert re.findall(r'<input id="([^"]+)"[^>]*aria-invalid="true"', answer.text) == ["percent"]
    assert _form(answer.text) == {"enabled": "on", "percent": percent}


def test_a_manager_reads_what_recruiting_pays(people, here):
    visitor = people("Manager")

    assert "An Owner can switch it on." in visitor.open(f"{here}/recruiting").text
    assert visitor.send(f"{here}/recruiting", {"percent": "5"}).status_code == 403

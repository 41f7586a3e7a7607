"""Partner groups and performance tiers of a program on the dashboard."""

import re

import pytest


@pytest.fixture
def page_path(brand):
    return f"/dashboard/programs/{brand.program(name='Knives')}"


def _create_group(brand, name="Gold", value=25):
    body = {"name": name, "commissionType": "Percentage", "commissionValue": value}
    return brand.post(f"/api/v1/programs/{brand.programs[0]}/partner-groups", body).json["id"]


def _list_groups(brand):
    groups = brand.get(f"/api/v1/programs/{brand.programs[0]}/partner-groups").json
    return [(group["name"], group["commissionType"], group["commissionValue"]) for group in groups]


def _list_tiers(brand):
    tiers = brand.get(f"/api/v1/programs/{brand.programs[0]}/performance-tiers").json
    return [(tier["minRevenueCents"], tier["commissionType"], tier["commissionValue"]) for tier in tiers]


def _invalid_fields(answer):
    return re.findall(r'<(?:input|select|textarea) id="([^"]+)"[^>]*aria-invalid="true"', answer.text)


def test_group_is_created_changed_and_deleted(brand, people, page_path):
    visitor = people("Manager")
    visitor.send(f"{page_path}/groups", {"name": "Gold", "commissionType": "Percentage", "commissionValue": "25"})
    list_html = visitor.open(f"{page_path}/groups").text
    group_page = re.search(rf'href="({page_path}/groups/[^"]+)"', list_html)[1]
    assert _list_groups(brand) == [("Gold", "Percentage", 25)]

    visitor.send(group_page, {"name": "Silver", "commissionType": "Fixed", "commissionValue": "5"})
    assert _list_groups(brand) == [("Silver", "Fixed", 5)]
    assert "5 in the sale&#39;s currency" in visitor.open(f"{page_path}/groups").text

    assert "Delete Silver" in visitor.open(group_page).text
    assert visitor.send(f"{group_page}/delete").status_code == 303
    assert _list_groups(brand) == []
    assert visitor.open(group_page).status_code == 404


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"name": ""}, "name"), ({"name": "Gold"}, "name"), ({"commissionValue": "x"}, "commissionValue")],
)
def test_invalid_group_keeps_the_typed_values(brand, people, page_path, wrong, field):
    _create_group(brand)
    form = {"name": "Silver", "commissionType": "Percentage", "commissionValue": "25"} | wrong
    answer = people().send(f"{page_path}/groups", form)

    assert answer.status_code in (400, 409)
    assert _invalid_fields(answer) == [field]
    assert len(_list_groups(brand)) == 1


def test_viewer_reads_groups_and_tiers(brand, people, page_path):
    group = _create_group(brand)
    visitor = people("Viewer")

    assert "Gold" in visitor.open(f"{page_path}/groups").text
    assert visitor.open(f"{page_path}/groups/{group}").status_code == 403
    assert visitor.send(f"{page_path}/groups/{group}/delete").status_code == 403
    assert visitor.send(f"{page_path}/tiers", {}).status_code == 403
    assert len(_list_groups(brand)) == 1


def test_tiers_are_replaced_and_removed_together(brand, people, page_path):
    visitor = people("Manager")
    first = {"from-0": "1000", "type-0": "Percentage", "value-0": "20"}
    third = {"from-2": "5,000.50", "type-2": "Fixed", "value-2": "7.5"}

    assert (
        visitor.send(
            f"{page_path}/tiers", {**first, "from-1": "", "type-1": "Fixed", "value-1": "", **third}
        ).status_code
        == 303
    )
    assert _list_tiers(brand) == [(100_000, "Percentage", 20), (500_050, "Fixed", 7.5)]
    html = visitor.open(f"{page_path}/tiers").text
    assert 'name="from-1" type="text" value="5000.50"' in html
    assert "5,000.50 USD" in html

    visitor.send(f"{page_path}/tiers", {"from-0": "", "type-0": "Percentage", "value-0": ""})
    assert _list_tiers(brand) == []


def test_invalid_tier_shows_an_error_at_its_row(brand, people, page_path):
    form = {"from-0": "10", "type-0": "Percentage", "value-0": "20", "from-3": "20", "type-3": "Percentage"}

    answer = people().send(f"{page_path}/tiers", {**form, "value-3": "400"})

    assert answer.status_code == 400
    assert _invalid_fields(answer) == ["value-3"]
    assert 'value="400"' in answer.text
    assert _list_tiers(brand) == []


@pytest.mark.parametrize("tiers", [{"from-0": "20", "value-0": ""}, {"from-0": "20", "from-1": "20"}, {"from-0": "x"}])
def test_impossible_tiers_show_an_error(brand, people, page_path, tiers):
    rates = {f"{part}-{row}": value for row in (0, 1) for part, value in (("type", "Percentage"), ("value", "5"))}
    answer = people().send(f"{page_path}/tiers", rates | tiers)

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert _list_tiers(brand) == []


def test_tier_in_a_former_currency_needs_its_revenue_again(brand, people, page_path):
    visitor = people()
    visitor.send(f"{page_path}/tiers", {"from-0": "1000", "type-0": "Percentage", "value-0": "20"})
    brand.rows("update performance_tier set currency = 'EUR' returning 1")
    html = visitor.open(f"{page_path}/tiers").text

    assert "1,000.00 EUR" in html
    assert 'name="from-0" type="text" value=""' in html

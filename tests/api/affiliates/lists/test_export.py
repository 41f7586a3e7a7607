"""Affiliates and payouts as CSV files, through HTTP."""

import csv
import io

import pytest

from tests.support import owed_totals
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_click, insert_conversion

URL = "/api/v1/affiliates/export.csv"


def _read(brand, path):
    answer = brand.get(path)
    assert answer.status_code == 200, answer.data
    assert answer.content_type == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.get_data(as_text=True))))


@pytest.fixture
def team(brand):
    """Return a brand with two affiliates with counted totals, and their ids."""
    brand.program(name="Main, program")
    ids = {}
    for slug, sales in (("ann", 1), ("ben", 3)):
        ids[slug] = str(brand.affiliate(slug, full_name=f"={slug}", tags=["vip", "new"]))
        for _ in range(sales):
            insert_conversion(brand, ids[slug])
        insert_click(brand, ids[slug])
    owed_totals.fold_changes(brand)
    owed_totals.compute_owed_days(brand)
    return brand, ids


def test_file_has_the_totals_in_the_order_of_the_list(team):
    brand, ids = team

    rows = _read(brand, f"{URL}?sort=-revenue")

    assert [row["id"] for row in rows] == [ids["ben"], ids["ann"]]
    assert {name: rows[0][name] for name in ("clicks", "sales", "currency", "revenue_cents", "commission_cents")} == {
        "clicks": "1",
        "sales": "3",
        "currency": "USD",
        "revenue_cents": "30000",
        "commission_cents": "3000",
    }
    assert (rows[0]["full_name"], rows[0]["program_name"], rows[0]["tags"]) == ("'=ben", "Main, program", "vip, new")


@pytest.mark.parametrize(
    ("query", "slugs"),
    [("q=ann", ["ann"]), ("status=Pending", []), ("sort=oldest", ["ann", "ben"]), ("sort=name", ["ann", "ben"])],
)
def test_file_has_the_rows_of_the_filter(team, query, slugs):
    brand, ids = team

    assert [row["id"] for row in _read(brand, f"{URL}?{query}")] == [ids[slug] for slug in slugs]


def test_chosen_affiliates_are_exported(team, rival):
    brand, ids = team
    rival.program()
    theirs = rival.affiliate("rob")

    assert [row["id"] for row in _read(brand, f"{URL}?affiliateIds={ids['ann']},{theirs}")] == [ids["ann"]]
    for wrong in ("x", f"{ids['ann']},", ",".join([ids["ann"]] * 201)):
        answer = brand.get(f"{URL}?affiliateIds={wrong}")
        assert (answer.status_code, list(answer.json["errors"])) == (400, ["affiliateIds"])


def test_pieces_continue_where_the_last_one_ended(team, monkeypatch):
    brand, _ids = team
    for number in range(5):
        brand.affiliate(f"more-{number}")
    monkeypatch.setattr("api.edge.replica.csv_files._PIECE_ROWS", 2)

    for sort in ("newest", "-revenue", "lastSale", "-name"):
        rows = [row["id"] for row in _read(brand, f"{URL}?sort={sort}")]
        assert len(rows) == len(set(rows)) == 7, sort


def test_file_has_no_last_sale_of_an_affiliate_without_sales(team):
    brand, ids = team
    ids["cleo"] = str(brand.affiliate("cleo"))
    insert_click(brand, ids["cleo"])
    owed_totals.fold_changes(brand)
    owed_totals.compute_owed_days(brand)

    for rows in (_read(brand, URL), _read(brand, f"{URL}?affiliateIds={','.join(ids.values())}")):
        last_sales = {row["id"]: row["last_sale_on"] for row in rows}
        assert last_sales.pop(ids["cleo"]) == ""
        assert all(day.startswith("20") for day in last_sales.values())


def test_export_is_audited(team):
    brand, _ = team
    _read(brand, f"{URL}?status=Approved")

    assert brand.rows("select after from audit_entry where action = 'affiliates.exported'") == [
        ({"filters": {"status": "Approved"}},)
    ]


def test_payouts_are_listed_and_exported_by_amount_and_day(app):
    payroll = Payroll.create(app)
    for slug, cents in (("ann", 10_000), ("ben", 30_000), ("cleo", 20_000)):
        payroll.affiliate(slug)
        payroll.sell(slug, cents)
    payroll.run()
    brand = payroll.brand

    largest = [row["amount_cents"] for row in _read(brand, "/api/v1/payouts/export.csv?sort=largest")]
    assert largest == sorted(largest, key=int, reverse=True)
    listed, cursor = [], ""
    while cursor is not None:
        page = brand.get(f"/api/v1/payouts?sort=smallest&take=1&lineItems=false&cursor={cursor}").json
        listed += [row["amountCents"] for row in page["items"]]
        cursor = page["nextCursor"]
    assert listed == sorted(listed)
    assert len(listed) == len(largest) == 3
    for query, number in (
        ("since=2020-01-01T00:00:00Z", 3),
        ("until=2020-01-01T00:00:00Z", 0),
        (f"programId={brand.programs[-1]}", 3),
        (f"affiliateId={payroll.affiliates['ann']}", 1),
        ("status=Failed", 0),
    ):
        assert len(_read(brand, f"/api/v1/payouts/export.csv?{query}")) == number, query
        assert len(brand.get(f"/api/v1/payouts?lineItems=false&{query}").json["items"]) == number, query

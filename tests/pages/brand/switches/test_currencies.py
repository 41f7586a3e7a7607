"""A currency that Finderfee does not know, on every page of a switch. Source: the switch-over rules, "Preview"."""

import pytest

from tests.support.switches.switch_states import PREVIEW, insert_rows, insert_switch

_MONEY = {
    "sales": 1,
    "gross_cents": 123456,
    "refunded_cents": 0,
    "commission_cents": 4000,
    "paid_cents": -4000,
    "owed_cents": 0,
    "pending_cents": 0,
    "lost_cents": 0,
}
_STRANGE = PREVIEW | {
    "money": [{"currency": code, **_MONEY} for code in ("", "USD", "XXX")],
    "figures": [
        {"name": name, "of": None, "currency": "XXX", "theirs": 9000, "read": 9000 - by, "difference": by}
        | {"explained": []}
        for name, by in (("paid_commission", 5), ("sale_amount", 0))
    ],
    "left_out": [
        {
            "collection": "commissions",
            "reason": "unsupported_currency",
            "count": 1,
            "commission": [{"currency": "XXX", "cents": 4000}],
        }
    ],
    "terms": [
        {
            "campaign": "Friends",
            "theirs": {
                "commission_type": "Fixed",
                "commission_value": "5",
                "commission_currency": "XXX",
                "minimum_payout_cents": 700,
            },
            "ours": {"commission_type": "Percentage", "commission_value": "20"},
            "differ": ["commission_type", "commission_value", "commission_currency", "minimum_payout_cents"],
        }
    ],
}


def test_preview_with_unknown_currency_shows_its_numbers_and_can_be_cancelled(brand, people, read_text):
    switch_id, browser = insert_switch(brand, "Ready", preview=_STRANGE), people()

    answer = browser.open(f"/dashboard/switch/{switch_id}")
    cancelled = browser.send(f"/dashboard/switch/{switch_id}/cancel")

    text = read_text(answer)
    assert answer.status_code == 200, text
    assert "Sales 123,456 1,234.56 USD 123,456 XXX" in text
    assert "\N{MINUS SIGN}4,000 XXX" in text
    assert "Not supported here: XXX." in text
    assert "700 XXX" in text
    assert "8,995 XXX" in text
    assert (cancelled.status_code, brand.rows("select state from switch")) == (303, [("Cancelled",)])


@pytest.mark.parametrize("state", ["Ready", "Completed", "Undone"])
def test_rows_with_unknown_currency_are_listed_and_downloaded(brand, people, read_text, state):
    switch_id, browser = insert_switch(brand, state, preview=_STRANGE), people()
    insert_rows(brand, switch_id, currency="XXX")

    answer = browser.open(f"/dashboard/switch/{switch_id}/rows")
    file = browser.open(f"/dashboard/switch/{switch_id}/rows.csv?collection=commissions")

    assert answer.status_code == 200
    assert "4,900 XXX" in read_text(answer)
    assert "Not supported here: XXX." in read_text(answer)
    assert ",XXX,4900,980," in file.text


@pytest.mark.parametrize("unpaid", ["history", "payable"])
@pytest.mark.parametrize("address", ["", "/undo"])
def test_result_and_undo_with_unknown_currency_have_pages(brand, people, unpaid, address):
    switch_id = insert_switch(brand, "Completed", preview=_STRANGE, options={"unpaid": unpaid})
    insert_rows(brand, switch_id, currency="XXX")

    assert people().open(f"/dashboard/switch/{switch_id}{address}").status_code == 200


def test_api_reports_unknown_currency_as_it_is(brand):
    switch_id, owner = insert_switch(brand, "Ready", preview=_STRANGE), brand.person("Owner")
    insert_rows(brand, switch_id, currency="XXX")

    money = owner.get(f"/api/v1/switches/{switch_id}/preview").json["money"]
    rows = owner.get(f"/api/v1/switches/{switch_id}/rows?collection=commissions").json["items"]

    assert [(row["currency"], row["grossCents"]) for row in money][-1] == ("XXX", 123456)
    assert {(row["currency"], row["amountCents"]) for row in rows} == {("XXX", 4900)}

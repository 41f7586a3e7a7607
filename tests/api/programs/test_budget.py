"""A program's budget and its spend on clicks and leads."""

import pytest

from tests.support.rows.program_rows import insert_conversion, store_rate, time_ago


def _read_status(brand):
    answer = brand.get(f"/api/v1/programs/{brand.programs[-1]}/budget-status")
    assert answer.status_code == 200, answer.json
    return answer.json


@pytest.fixture
def ben(brand):
    brand.program(budget_cents=5_000)
    return brand.affiliate("ben")


def test_program_without_a_budget_is_unlimited(brand):
    brand.program()
    insert_conversion(brand, brand.affiliate("ben"), type="LeadReward", amount_cents=0, commission_cents=300)

    assert _read_status(brand) == {
        "budgetCents": None,
        "budgetUnconvertible": False,
        "spentCents": 300,
        "remainingCents": None,
        "unlimited": True,
        "currency": "USD",
        "fxUnconvertibleByCurrency": None,
        "fxUnconvertibleCents": 0,
    }


def test_spend_includes_clicks_and_leads_but_not_sales(brand, ben):
    for kind, cents in (("ClickReward", 100), ("LeadReward", 250), ("OneTime", 1_000), ("Recurring", 1), ("Bonus", 1)):
        insert_conversion(brand, ben, type=kind, commission_cents=cents)

    status = _read_status(brand)

    assert (status["budgetCents"], status["spentCents"], status["remainingCents"]) == (5_000, 350, 4_650)
    assert status["unlimited"] is False


@pytest.mark.parametrize(
    ("columns", "spent"),
    [
        ({"status": "Approved"}, 1_000),
        ({"status": "Paid"}, 1_000),
        ({"reversed_cents": 400}, 600),
        ({"status": "Refunded", "reversed_cents": 1_000}, 0),
        ({"status": "Denied"}, 0),
        ({"status": "Invalidated"}, 0),
        ({"is_test": True}, 0),
        ({"occurred_at": time_ago(days=500)}, 1_000),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_refunded_and_denied_conversions_are_not_spent(brand, ben, columns, spent):
    insert_conversion(brand, ben, type="ClickReward", **columns)

    assert _read_status(brand)["spentCents"] == spent


def test_overspent_budget_has_zero_remaining(brand, ben):
    insert_conversion(brand, ben, type="LeadReward", commission_cents=10**12)

    assert (_read_status(brand)["spentCents"], _read_status(brand)["remainingCents"]) == (10**12, 0)


def test_zero_budget_is_a_limit(brand):
    brand.program(budget_cents=0)

    assert (_read_status(brand)["remainingCents"], _read_status(brand)["unlimited"]) == (0, False)


def test_other_programs_spend_is_not_counted(brand, ben):
    insert_conversion(brand, ben, type="ClickReward")
    brand.program(budget_cents=100)

    assert _read_status(brand)["spentCents"] == 0


def test_spend_in_another_currency_is_converted_by_its_date_or_excluded(brand, ben):
    store_rate("MVR", "2", time_ago(days=300))
    insert_conversion(
        brand, ben, type="ClickReward", currency="MVR", commission_cents=101, occurred_at=time_ago(days=299)
    )
    insert_conversion(
        brand, ben, type="ClickReward", currency="MVR", commission_cents=70, occurred_at=time_ago(days=290)
    )
    insert_conversion(brand, ben, type="LeadReward", currency="AWG", commission_cents=5)
    insert_conversion(brand, ben, type="LeadReward", commission_cents=1)

    status = _read_status(brand)

    assert (status["spentCents"], status["remainingCents"]) == (50 + 1, 4_949)
    assert status["fxUnconvertibleByCurrency"] == {"MVR": 70, "AWG": 5}
    assert status["fxUnconvertibleCents"] == 75


def test_amounts_are_in_the_home_currency(brand, ben):
    store_rate("BHD", "0.5", time_ago(days=1))
    insert_conversion(brand, ben, type="ClickReward", commission_cents=100)
    brand.set(currency="BHD")

    status = _read_status(brand)

    assert (status["currency"], status["spentCents"]) == ("BHD", 500)
    assert (status["budgetCents"], status["remainingCents"]) == (25_000, 24_500)


@pytest.mark.parametrize(("budget", "converted"), [(25, 2), (35, 4), (26, 3), (0, 0), (10**10, 10**9)])
def test_budget_in_a_former_home_currency_is_converted_half_to_even(brand, budget, converted):
    store_rate("KMF", "3", time_ago(days=900))
    store_rate("KMF", "10", time_ago(days=800))  # a currency without minor units: 25 cents are 2.5
    brand.program(budget_cents=budget)
    brand.set(currency="KMF")

    assert (_read_status(brand)["budgetCents"], _read_status(brand)["budgetUnconvertible"]) == (converted, False)


@pytest.mark.parametrize("home", ["GYD", "XPF"])
def test_budget_without_a_rate_is_marked_unconvertible(brand, ben, home):
    insert_conversion(brand, ben, type="ClickReward", commission_cents=100)
    brand.set(currency=home)

    assert _read_status(brand) == {
        "budgetCents": None,
        "budgetUnconvertible": True,
        "spentCents": 0,
        "remainingCents": None,
        "unlimited": False,
        "currency": home,
        "fxUnconvertibleByCurrency": {"USD": 100},
        "fxUnconvertibleCents": 100,
    }

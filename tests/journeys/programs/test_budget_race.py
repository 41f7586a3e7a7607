"""A budget with concurrent spenders, and a spent total that every change of a conversion updates.

Source: core spec, "Program" (budgetCents).
"""

from decimal import Decimal
from uuid import UUID

import pytest

from domain.programs.fees import Fee
from models import db
from pipelines.programs import rewards
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.program_rows import insert_conversion, store_rate, time_ago

_FEE = Fee(300, "USD")


def _read_spent(brand) -> dict[str, int]:
    rows = brand.rows(
        "select currency, sum(spent_cents)::bigint from reward_spend where organization_id = %s group by currency",
        brand.id,
    )
    return {currency: cents for currency, cents in rows if cents}


def _buy(brand, affiliate_id: UUID, requested: int = 1, fee: Fee = _FEE) -> int:
    """Pay for up to `requested` clicks, like the click writer, and return how many fit the budget."""
    with db.unit_of_work(brand.id):
        purse = rewards.lock_purse(organization_id=brand.id, program_id=brand.programs[-1])
        number = purse.reserve(fee, requested)
        for _ in range(number):
            _stage(brand, affiliate_id, fee)
    return number


def _stage(brand, affiliate_id: UUID, fee: Fee) -> None:
    db.db.stage(
        "insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id,"
        " amount_cents, currency, commission_cents, status, type, rate_source, occurred_at, hold_until, created_at)"
        " select i, %s, %s, %s, 'cpc', i::text, 0, %s, %s, 'Pending', 'ClickReward', 'program', now(), now(), now()"
        " from gen_random_uuid() i",
        (brand.id, brand.programs[-1], affiliate_id, fee.currency, fee.cents),
    )


@pytest.fixture
def affiliate_id(brand):
    """Return an affiliate of a program whose budget has room for seven fees."""
    brand.program(budget_cents=2_300)
    return brand.affiliate("ben")


def test_concurrent_spenders_spend_exactly_the_budget(brand, affiliate_id):
    fitted = run_concurrently(*[lambda: _buy(brand, affiliate_id) for _ in range(16)])

    assert sorted(fitted) == [0] * 9 + [1] * 7
    assert _read_spent(brand) == {"USD": 2_100}


def test_concurrent_batches_share_the_budget(brand, affiliate_id):
    assert sum(run_concurrently(*[lambda: _buy(brand, affiliate_id, 5) for _ in range(8)])) == 7


def test_second_spend_in_a_transaction_sees_the_first(brand, affiliate_id):
    with db.unit_of_work(brand.id):
        for expected in (4, 3):
            purse = rewards.lock_purse(organization_id=brand.id, program_id=brand.programs[-1])
            assert purse.reserve(_FEE, 4) == expected
            for _ in range(expected):
                _stage(brand, affiliate_id, _FEE)


def test_rolled_back_spend_is_not_counted(brand, affiliate_id):
    with pytest.raises(ZeroDivisionError):
        _buy_and_fail(brand, affiliate_id)

    assert _read_spent(brand) == {}
    assert _buy(brand, affiliate_id, 9) == 7


def _buy_and_fail(brand, affiliate_id: UUID) -> None:
    with db.unit_of_work(brand.id):
        rewards.lock_purse(organization_id=brand.id, program_id=brand.programs[-1]).reserve(_FEE, 9)
        _stage(brand, affiliate_id, _FEE)
        db.db.run("select 1")
        raise ZeroDivisionError


def test_program_without_a_budget_pays_without_limit(brand):
    brand.program()

    assert _buy(brand, brand.affiliate("ben"), 50) == 50


def test_other_program_has_its_own_budget(brand, affiliate_id):
    _buy(brand, affiliate_id, 9)
    brand.program(budget_cents=300)

    assert _buy(brand, brand.affiliate("cleo"), 9) == 1


def test_many_spend_rows_are_compacted_without_loss(brand, affiliate_id):
    brand.rows("update program set budget_cents = 30000 where organization_id = %s returning 1", brand.id)
    for _ in range(7):
        assert _buy(brand, affiliate_id, 12) == 12

    assert _buy(brand, affiliate_id, 99) == 16
    assert _read_spent(brand) == {"USD": 30_000}
    assert brand.rows("select count(*) < 60 from reward_spend where organization_id = %s", brand.id) == [(True,)]


@pytest.mark.parametrize("kind", ["ClickReward", "LeadReward"])
@pytest.mark.parametrize("status", ["Pending", "Approved", "Paid"])
def test_payable_reward_is_spent(brand, affiliate_id, kind, status):
    insert_conversion(brand, affiliate_id, type=kind, status=status, commission_cents=300, amount_cents=0)

    assert _read_spent(brand) == {"USD": 300}


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "Denied"},
        {"status": "Invalidated"},
        {"status": "Refunded", "reversed_cents": 300},
        {"is_test": True},
        {"type": "OneTime"},
        {"type": "Recurring"},
        {"type": "Bonus"},
        {"commission_cents": 0},
    ],
)
def test_unpayable_row_is_not_spent(brand, affiliate_id, columns):
    insert_conversion(
        brand, affiliate_id, **{"type": "LeadReward", "commission_cents": 300, "amount_cents": 0} | columns
    )

    assert _read_spent(brand) == {}


def test_every_change_of_a_reward_updates_the_spent_total(brand, affiliate_id):
    conversion_id = str(
        insert_conversion(brand, affiliate_id, type="ClickReward", commission_cents=300, amount_cents=0)
    )

    def spent_after(change: str) -> dict[str, int]:
        brand.rows(f"update conversion set {change} where id = %s returning 1", conversion_id)
        return _read_spent(brand)

    assert spent_after("commission_cents = 900") == {"USD": 900}
    assert spent_after("status = 'Denied'") == {}
    assert spent_after("status = 'Approved', reversed_cents = 400") == {"USD": 500}
    assert spent_after("status = 'Refunded', reversed_cents = 900") == {}
    assert spent_after("status = 'Paid', reversed_cents = 0") == {"USD": 900}
    brand.rows("delete from conversion where id = %s returning 1", conversion_id)
    assert _read_spent(brand) == {}


def test_denial_does_not_wait_for_a_spender(brand, affiliate_id):
    conversion_id = insert_conversion(brand, affiliate_id, type="ClickReward", commission_cents=300, amount_cents=0)

    with db.unit_of_work(brand.id):
        rewards.lock_purse(organization_id=brand.id, program_id=brand.programs[-1])
        _stage(brand, affiliate_id, _FEE)
        db.db.run("select 1")
        (answer,) = run_concurrently(lambda: brand.person().post(f"/api/conversions/{conversion_id}/deny", {}))

    assert answer.status_code == 200
    assert _read_spent(brand) == {"USD": 300}


def test_reward_in_another_currency_uses_the_newest_rate(brand, affiliate_id):
    store_rate("PGK", "1000", time_ago(days=800))
    store_rate("PGK", "2000", time_ago(days=700))
    insert_conversion(
        brand, affiliate_id, type="LeadReward", commission_cents=4_000_000, currency="PGK", amount_cents=0
    )

    assert _buy(brand, affiliate_id, 9) == 1  # 2000 of 2300 cents are spent


def test_reward_without_a_rate_blocks_the_budget_until_there_is_one(brand, affiliate_id):
    insert_conversion(brand, affiliate_id, type="LeadReward", commission_cents=100, currency="SOS", amount_cents=0)
    assert _buy(brand, affiliate_id, 9) == 0

    store_rate("SOS", "500", time_ago(days=900))

    assert _buy(brand, affiliate_id, 9) == 7


def test_affiliate_fee_takes_precedence_over_program_fee(brand):
    columns = {"default_commission_model": "Cpc", "default_commission_type": "Fixed"}
    program_id = brand.program(**columns, default_commission_value=Decimal("0.25"))
    ben = brand.affiliate("ben")
    cleo = brand.affiliate(
        "cleo",
        custom_commission_type="Fixed",
        custom_commission_value=Decimal(2),
        custom_commission_currency="JPY",
    )

    def fee(affiliate_id: UUID, kind: str) -> object:
        with db.unit_of_work(brand.id):
            reward = rewards.find_fee(
                organization_id=brand.id, program_id=program_id, affiliate_id=affiliate_id, kind=kind
            )
        return reward and (reward.fee.cents, reward.fee.currency, reward.source)

    assert [fee(ben, "click"), fee(cleo, "click"), fee(cleo, "lead")] == [
        (25, "USD", "program"),
        (2, "JPY", "affiliate"),
        None,
    ]

    tiers = [{"minRevenueCents": 0, "commissionType": "Fixed", "commissionValue": 0.5}]
    assert brand.call("PUT", f"/api/v1/programs/{program_id}/performance-tiers", tiers).status_code == 200
    assert [fee(ben, "click"), fee(cleo, "click")] == [(50, "USD", "tier"), (2, "JPY", "affiliate")]

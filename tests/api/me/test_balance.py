"""Balance of an affiliate: sums of the ledger, and payable days as the payout run applies them."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from tests.support.job_queues import drain
from tests.support.rows.brands import Partner
from tests.support.rows.deal_scene import DealScene

URL = "/api/me/balance"


def _sum_ledgers(person):
    """Return the sums owed and paid by the ledgers of both brands, in US dollars."""
    sql = (
        "select coalesce(sum(amount_cents), 0)::bigint,"
        " coalesce(-sum(amount_cents) filter (where kind in ('pay', 'clawback')), 0)::bigint"
        " from ledger_entry where affiliate_id = %s and currency = 'USD'"
    )
    sums = [payroll.brand.rows(sql, payroll.affiliates["rita"])[0] for payroll in (person.first, person.second)]
    return tuple(map(sum, zip(*sums, strict=True)))


def test_affiliate_without_earnings_has_an_empty_balance(rita):
    assert rita.get(URL) == {"balances": [], "coming": []}


def test_commission_is_payable_after_its_hold(rita):
    rita.hold(30)
    rita.first.sell("rita", 4_900)

    assert rita.balance() == (980, 0, 0, 0)
    (day,) = rita.get(URL)["coming"]
    ((hold_until,),) = rita.first.brand.rows("select hold_until from conversion")
    assert (day["day"], day["amountCents"], day["currency"]) == (hold_until.date().isoformat(), 980, "USD")
    assert datetime.fromisoformat(day["payableAt"]) == hold_until.replace(
        microsecond=hold_until.microsecond // 1000 * 1000
    )
    assert rita.first.preview().planned.confirm_total_cents == 0

    rita.first.execute("update conversion set hold_until = now() - interval '1 second'")
    assert rita.balance() == (0, 980, 0, 0)
    assert rita.get(URL)["coming"] == []
    assert rita.first.preview().planned.confirm_total_cents == 980


def test_payout_moves_money_on_its_way_and_then_to_paid(rita):
    rita.first.sell("rita")
    rita.second.sell("rita", 20_000)
    assert rita.balance() == (0, 6_000, 0, 0)

    rita.first.run()
    assert rita.balance() == (0, 4_000, 2_000, 0)

    rita.first.pay()
    assert rita.balance() == (0, 4_000, 0, 2_000)
    assert _sum_ledgers(rita) == (4_000, 2_000)


def test_refund_after_payment_makes_the_balance_negative(rita):
    rita.first.sell("rita", externalEventId="back-1")
    rita.first.run()
    rita.first.pay()
    rita.first.brand.refund("back-1", 5_000)
    drain("sales")

    assert rita.balance() == (0, -1_000, 0, 2_000)
    assert _sum_ledgers(rita) == (-1_000, 2_000)


def test_refund_during_a_payout_keeps_the_sum_equal_to_the_ledger(rita):
    rita.first.sell("rita", externalEventId="back-2")
    rita.first.run()
    rita.first.brand.refund("back-2", 5_000)
    drain("sales")

    on_hold, payable, on_its_way, paid = rita.balance()
    assert on_hold + payable + on_its_way == _sum_ledgers(rita)[0] == 1_000
    assert paid == 0


def test_balances_are_separate_per_currency(rita):
    rita.hold(10)
    rita.first.sell("rita", 4_900, "EUR")
    rita.second.sell("rita", 1_000, "JPY")

    assert [item["currency"] for item in rita.get(URL)["balances"]] == ["EUR", "JPY"]
    assert (rita.balance("EUR"), rita.balance("JPY")) == ((980, 0, 0, 0), (200, 0, 0, 0))
    assert [(item["currency"], item["amountCents"]) for item in rita.get(URL)["coming"]] == [("EUR", 980), ("JPY", 200)]


def test_coming_days_are_ordered_and_summed(rita):
    rita.hold(10)
    rita.first.sell("rita", 4_900)
    rita.second.sell("rita", 10_000)
    rita.hold(3)
    rita.second.sell("rita", 1_000)
    today = datetime.now(UTC)

    coming = rita.get(URL)["coming"]
    assert [day["amountCents"] for day in coming] == [200, 2_980]
    assert coming[0]["day"] in {(today + timedelta(days=3, minutes=-minutes)).date().isoformat() for minutes in (0, 5)}


def test_denied_and_test_conversions_are_not_owed(rita):
    conversion_id = rita.first.sell("rita")
    rita.decide(conversion_id, "deny")
    test_key = rita.first.brand.other_key(is_test=True)
    assert test_key.sale(affiliateSlug="rita").status_code == 200
    drain("sales")

    assert rita.balance() == (0, 0, 0, 0)


def test_disputed_commission_is_on_hold_without_a_day(rita):
    conversion_id = rita.first.sell("rita")
    rita.first.execute("update conversion set disputed_at = now() where id = %s", conversion_id)

    assert rita.balance() == (2_000, 0, 0, 0)
    assert rita.get(URL)["coming"] == []
    assert rita.first.preview().planned.confirm_total_cents == 0


def test_imported_history_is_not_owed(rita):
    program_id = rita.first.brand.programs[-1]
    row = {
        "affiliateEmail": rita.email,
        "amountCents": 10_000,
        "commissionCents": 2_000,
        "currency": "USD",
        "occurredAt": "2025-11-01T00:00:00Z",
        "externalEventId": f"old-{uuid4()}",
        "status": "Paid",
    }
    answer = rita.first.brand.person("Owner").post(
        "/api/v1/conversions/import", {"programId": str(program_id), "source": "elsewhere", "conversions": [row]}
    )
    assert answer.status_code in (200, 201), answer.get_data(as_text=True)
    assert rita.first.brand.rows("select payout_locked from conversion") == [(True,)]

    assert rita.balance() == (0, 0, 0, 0)


def test_deal_payment_is_on_its_way_and_then_paid(app):
    scene = DealScene.create(app)
    deal_id = scene.create_funded(50_000)
    scene.submit(deal_id)
    scene.approve(deal_id)

    (balance_before,) = scene.creator.get(URL).json["balances"]
    assert (balance_before["onItsWayCents"], balance_before["payableCents"], balance_before["paidCents"]) == (
        50_000,
        0,
        0,
    )
    drain("payouts")
    (balance_after,) = scene.creator.get(URL).json["balances"]
    assert (balance_after["onItsWayCents"], balance_after["payableCents"], balance_after["paidCents"]) == (0, 0, 50_000)


def test_deleted_affiliate_keeps_their_balance(rita):
    rita.balance()  # signing in links their affiliate rows to the account
    rita.first.sell("rita")
    rita.first.execute("update affiliate set deleted_at = now() where id = %s", rita.first.affiliates["rita"])

    assert rita.balance() == (0, 2_000, 0, 0)


def test_affiliate_sees_only_their_own_money(rita, app, stranger):
    rita.first.sell("rita")
    rita.first.sell("ben")
    ben = Partner(app, "ben@example.com")

    assert rita.balance() == (0, 2_000, 0, 0)
    assert stranger.get(URL).json == {"balances": [], "coming": []}
    assert ben.get(URL).status_code == 200
    assert Partner(app, rita.email, is_email_verified=False).get(URL).status_code == 403

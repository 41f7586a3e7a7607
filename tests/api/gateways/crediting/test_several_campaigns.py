"""One affiliate account in several campaigns, the first of which pays only for leads.

Source: tracking spec, section 8 "Lead attribution order"; core spec, "Conversion" (payability).
"""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.fraud import human_check
from tests.support.api.doors import PAY, list_door_visits, submit_door_form
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows.leads import post_browser_lead

_ANN = "ann@example.com"
_COLUMNS = "program_id, commission_cents, payability, attribution_method"
_LEAD_CAMPAIGN = (
    "default_commission_model = 'Cpl', default_commission_type = 'Fixed', default_commission_value = 5,"
    " fee_currency = 'USD'"
)


@pytest.fixture
def first_campaign(shop, monkeypatch):
    """Return the id of the first campaign, which pays for leads; jane is in it."""
    monkeypatch.setattr(human_check, "MIN_FILLING_S", 0)
    shop.change(
        f"update program set {_LEAD_CAMPAIGN}, hosted_checkout_door_enabled = true,"
        " hosted_checkout_door_mode = 'email', referral_destination_url = %s",
        PAY,
    )
    return shop.brand.programs[-1]


@pytest.fixture
def second_campaign(first_campaign, shop):
    """Return the id of a younger campaign, which pays 20 % of sales; jane is in it by the same slug."""
    program_id = shop.brand.program()
    shop.brand.affiliate("jane")
    return program_id


def _move_clock_past_now(shop):
    """Set the gateway's clock a second ahead of now, so that payments are later than everything done so far."""
    shop.stage.now = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)


def _post_lead(shop, program_id, *, slug="jane", email=_ANN, age=timedelta()):
    assert post_browser_lead(shop.brand, slug=slug, email=email, programId=str(program_id)).status_code == 200
    drain()
    ((lead_id,),) = shop.brand.rows("select id from lead order by id desc limit 1")
    shop.change("update lead set occurred_at = occurred_at - %s where id = %s", age, lead_id)
    _move_clock_past_now(shop)
    return lead_id


def _mint_code_of_first(shop, **fields):
    ((jane,),) = shop.brand.rows("select id from affiliate where program_id = %s", shop.brand.programs[0])
    mint_code(shop.brand, jane, create_coupon(shop.brand, **fields)["id"], "JANE-10")


def _sell_by_slug(shop, first_campaign):
    shop.sell(cents=10_000)


def _sell_by_overriding_code(shop, first_campaign):
    _mint_code_of_first(shop)
    shop.sell(slug=None, code="JANE-10", cents=10_000)


def _sell_by_code(shop, first_campaign):
    _mint_code_of_first(shop, overridesClickAttribution=False)
    shop.sell(slug=None, code="JANE-10", cents=10_000)


def _sell_by_lead(shop, first_campaign):
    _post_lead(shop, first_campaign)
    shop.sell(slug=None, cents=10_000)


_SALES_BY_METHOD = {
    "metadata_or_customer": _sell_by_slug,
    "coupon": _sell_by_overriding_code,
    "coupon without override": _sell_by_code,
    "email_lead_match": _sell_by_lead,
}


@pytest.mark.parametrize("name", _SALES_BY_METHOD)
def test_sale_is_credited_in_the_campaign_that_pays_for_sales(shop, first_campaign, second_campaign, name):
    _SALES_BY_METHOD[name](shop, first_campaign)

    method = name.partition(" ")[0]
    assert shop.conversions(_COLUMNS) == [(second_campaign, 2_000, "payable", method)]
    assert shop.events()[-2:][0][1:] == ("Processed", None)


def test_code_and_slug_of_one_account_credit_the_same_campaign(shop, first_campaign, second_campaign):
    _mint_code_of_first(shop, overridesClickAttribution=False)
    shop.sell(code="JANE-10", cents=10_000)

    assert shop.conversions(_COLUMNS) == [(second_campaign, 2_000, "payable", "coupon_with_metadata")]


@pytest.mark.parametrize("is_by_account", [True, False], ids=["account", "email"])
def test_account_is_matched_by_id_and_before_sign_in_by_email(shop, first_campaign, second_campaign, is_by_account):
    if is_by_account:
        shop.change(
            "with account as (insert into affiliate_account (id, subject, email) values (%s, %s, 'jane@example.com')"
            " returning id) update affiliate set account_id = account.id from account",
            first_campaign,
            f"subject-{first_campaign.hex}",
        )
        shop.change("update affiliate set email = 'other@example.com' where program_id = %s", second_campaign)
    _post_lead(shop, first_campaign)
    shop.sell(slug=None, cents=10_000)

    assert shop.conversions(_COLUMNS) == [(second_campaign, 2_000, "payable", "email_lead_match")]


def test_campaign_of_another_person_is_not_credited_by_a_lead(shop, first_campaign):
    shop.brand.program()
    shop.brand.affiliate("rob")
    _post_lead(shop, first_campaign)
    shop.sell(slug=None)

    assert shop.conversions(_COLUMNS) == [(first_campaign, 0, "not_paid_on_campaign", "email_lead_match")]


def test_sale_in_the_second_campaign_converts_the_firsts_lead(shop, first_campaign, second_campaign):
    lead_id = _post_lead(shop, first_campaign)
    shop.sell()

    ((conversion_id,),) = shop.conversions("id")
    assert shop.brand.rows("select state, converted_by_conversion_id from lead where id = %s", lead_id) == [
        ("Converted", conversion_id)
    ]


def test_older_of_two_campaigns_that_pay_for_sales_is_credited(shop, first_campaign, second_campaign):
    shop.brand.program()
    shop.brand.affiliate("jane")
    shop.sell()

    assert shop.conversions("program_id") == [(second_campaign,)]


def test_slug_visited_at_a_checkout_door_credits_its_campaign(shop, first_campaign, second_campaign):
    third_campaign = shop.brand.program(
        hosted_checkout_door_enabled=True, hosted_checkout_door_mode="email", referral_destination_url=PAY
    )
    shop.brand.affiliate("jane")
    assert submit_door_form(shop.brand, "jane", "somebody@example.com").status_code == 303
    _move_clock_past_now(shop)
    shop.sell()

    assert shop.conversions("program_id, attribution_method") == [(third_campaign, "checkout_door")]


def test_checkout_door_stays_with_its_campaign(shop, first_campaign):
    assert submit_door_form(shop.brand, "jane", _ANN).status_code == 303
    shop.brand.program()
    shop.brand.affiliate("jane")
    _move_clock_past_now(shop)
    shop.sell(slug=None)

    assert shop.conversions(_COLUMNS) == [(first_campaign, 0, "not_paid_on_campaign", "checkout_door")]


def test_newer_door_visit_of_a_lead_campaign_is_skipped(shop, first_campaign):
    second_campaign = shop.brand.program(
        hosted_checkout_door_enabled=True, hosted_checkout_door_mode="email", referral_destination_url=PAY
    )
    shop.brand.affiliate("rob")
    assert submit_door_form(shop.brand, "rob", _ANN).status_code == 303
    shop.brand.programs.append(first_campaign)
    assert submit_door_form(shop.brand, "jane", _ANN).status_code == 303
    assert list_door_visits(shop.brand, "slug") == [("rob",), ("jane",)]
    _move_clock_past_now(shop)
    shop.sell(slug=None)

    assert shop.conversions("program_id, payability") == [(second_campaign, "payable")]


@pytest.mark.parametrize("status", ["Paused", "Pending", "Banned"])
def test_inactive_affiliate_of_the_paying_campaign_is_listed_as_uncredited(
    shop, first_campaign, second_campaign, status
):
    shop.change("update affiliate set status = %s where program_id = %s", status, second_campaign)
    sale = shop.sell()

    assert shop.conversions() == []
    assert shop.events()[0][2] == "affiliate_not_active"
    assert shop.brand.rows("select program_id, external_event_id from uncredited_conversion") == [
        (second_campaign, sale.id)
    ]


def test_sale_without_a_paying_campaign_is_attributed_without_commission(shop, first_campaign):
    sale = shop.sell(cents=10_000)

    assert shop.conversions(f"external_event_id, amount_cents, type, status, {_COLUMNS}") == [
        (sale.id, 10_000, "OneTime", "Pending", first_campaign, 0, "not_paid_on_campaign", "metadata_or_customer")
    ]
    ((conversion_id,),) = shop.conversions("id")
    assert shop.events("status, reason, conversion_ids")[0] == ("Processed", "not_a_sale_campaign", [conversion_id])
    assert shop.brand.rows("select reason, conversion_id from gateway_payment") == [
        ("not_a_sale_campaign", conversion_id)
    ]
    assert [
        (data["amountCents"], data["commissionCents"]) for data in shop.list_webhook_data("conversion.created")
    ] == [(10_000, 0)]
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []
    conversion = shop.brand.get(f"/api/v1/conversions/{conversion_id}").json
    assert (conversion["payability"], conversion["commissionCents"]) == ("not_paid_on_campaign", 0)


def test_sale_without_commission_counts_in_the_funnel_and_in_no_payout(shop, first_campaign):
    lead_id = _post_lead(shop, first_campaign)
    shop.sell(cents=10_000)

    (stats,) = shop.brand.get("/api/v1/programs/stats").json
    assert (stats["leads30d"], stats["sales30d"]) == (1, 1)
    assert shop.brand.rows("select state from lead where id = %s", lead_id) == [("Converted",)]
    assert shop.brand.rows("select count(*) from ledger_entry") == [(0,)]
    shop.change("update conversion set hold_until = now() - interval '1 day'")
    assert shop.brand.post("/api/v1/payouts/preview", {}).json["totalEligibleCents"] == 0


def test_sale_without_commission_is_booked_once_and_refunded(shop, first_campaign):
    sale = shop.sell(cents=10_000)
    shop.receive(*sale.notifications)
    shop.receive(*shop.stage.refund(sale, 10_000))

    assert shop.conversions("status, refunded_cents, reversed_cents, commission_cents") == [("Refunded", 10_000, 0, 0)]


def test_renewal_of_a_sale_without_commission_is_attributed_like_it(shop, first_campaign):
    sale = shop.sell()
    shop.sell(slug=None, renews=sale)

    assert shop.conversions("type, commission_cents, payability, attribution_method") == [
        ("OneTime", 0, "not_paid_on_campaign", "metadata_or_customer"),
        ("Recurring", 0, "not_paid_on_campaign", "stripe_customer_history"),
    ]


@pytest.mark.parametrize("status", ["Paused", "Pending", "Rejected", "Banned"])
def test_sale_of_inactive_affiliate_in_a_lead_campaign_leaves_no_conversion(shop, first_campaign, status):
    shop.change("update affiliate set status = %s", status)
    shop.sell()

    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "not_a_sale_campaign")
    assert shop.brand.rows("select reason from gateway_payment") == [("not_a_sale_campaign",)]
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


def test_trial_is_a_lead_of_a_campaign_that_pays_for_leads(shop, first_campaign):
    shop.receive(*shop.stage.start_trial(Purchase(cents=0)))

    assert shop.brand.rows("select program_id, state from lead") == [(first_campaign, "Open")]
    assert shop.events()[-1][1:] == ("Processed", None)


def test_open_campaign_that_does_not_pay_precedes_a_closed_one(shop, first_campaign, second_campaign):
    shop.change("update program set archived_at = now() where id = %s", second_campaign)
    shop.sell()

    assert shop.conversions(_COLUMNS) == [(first_campaign, 0, "not_paid_on_campaign", "metadata_or_customer")]

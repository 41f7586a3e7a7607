"""Account of an affiliate, their programs and those offered to them."""

from datetime import timedelta

import pytest

from tests.support.rows.brands import Partner


def test_account_lists_its_brands(rita, stranger):
    account = rita.get("/api/me")

    assert account["email"] == rita.email
    assert {brand["organizationId"] for brand in account["brands"]} == {
        str(rita.first.brand.id),
        str(rita.second.brand.id),
    }
    assert account["brands"][0] | {"organizationId": ""} == {
        "organizationId": "",
        "name": "Brand",
        "primaryBrandColor": None,
        "logoUrl": None,
        "timezone": "UTC",
        "payoutCadence": "Manual",
        "nextPayoutOn": None,
        "minPayouts": [],
    }
    assert stranger.get("/api/me").json["brands"] == []


def test_brand_names_the_minimum_payouts_of_ones_programs(rita):
    rita.first.execute("update organization set min_payout_cents = 5000, min_payout_currency = 'EUR'")

    def read():
        brands = {brand["organizationId"]: brand["minPayouts"] for brand in rita.get("/api/me")["brands"]}
        return brands[str(rita.first.brand.id)]

    assert read() == [{"amountCents": 5_000, "currency": "EUR"}]
    rita.first.execute("update program set min_payout_cents = 700, min_payout_currency = 'USD'")
    assert read() == [{"amountCents": 700, "currency": "USD"}]
    rita.first.execute("update program set min_payout_cents = 0")
    assert read() == []


def test_program_shows_status_and_terms(rita):
    rita.first.execute(
        "update affiliate set custom_commission_type = 'Percentage', custom_commission_value = 12.5 where id = %s",
        rita.first.affiliates["rita"],
    )
    rita.first.execute("update program set recurring_months = 12, recurring_delay_invoices = 2")

    by_organization = {program["organizationId"]: program for program in rita.get("/api/me/programs")}
    first, second = by_organization[str(rita.first.brand.id)], by_organization[str(rita.second.brand.id)]
    assert (first["status"], first["slug"], first["isOpen"]) == ("Approved", "rita", True)
    assert (first["commissionValue"], first["rateSource"]) == (12.5, "affiliate")
    assert first["terms"] == (
        "12.5 % of each payment in a customer's first 12 months, nothing for the first 2 invoices."
    )
    assert (second["terms"], second["rateSource"]) == ("20 % of each payment.", "program")
    assert second["recruitingPercent"] is None


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ("recurring_months = 0", "20 % of a customer's first payment."),
        ("recurring_months = 1", "20 % of each payment in a customer's first month."),
        (
            "default_commission_type = 'Fixed', default_commission_value = 7",
            "7 in the sale's currency for each payment.",
        ),
        (
            "default_commission_type = 'Fixed', default_commission_value = 0.5, fee_currency = 'EUR',"
            " default_commission_model = 'Cpl'",
            "0.50 EUR for each lead.",
        ),
    ],
)
def test_terms_are_one_sentence(rita, columns, sentence):
    rita.first.execute(f"update program set {columns}")

    assert sentence in {program["terms"] for program in rita.get("/api/me/programs")}


def test_terms_name_every_paid_event(rita):
    rita.first.execute(
        "update program set default_commission_model = 'Cpl', default_commission_type = 'Fixed', fee_currency = 'USD',"
        " default_commission_value = 7.5, sale_commission_type = 'Percentage', sale_commission_value = 10,"
        " click_reward_cents = 5, click_reward_currency = 'USD' where id = %s",
        rita.first.brand.programs[-1],
    )
    terms = "7.50 USD for each lead. Plus 10 % of each payment. Plus 0.05 USD for each click."
    assert terms in {program["terms"] for program in rita.get("/api/me/programs")}

    # A custom percentage does not change the fee of leads; a custom fixed amount does.
    for type, value, currency, expected, source in (
        ("Percentage", 50, None, "7.50 USD for each lead.", "program"),
        ("Fixed", 9, "EUR", "9.00 EUR for each lead.", "affiliate"),
    ):
        rita.first.execute(
            "update affiliate set custom_commission_type = %s, custom_commission_value = %s,"
            " custom_commission_currency = %s where id = %s",
            type,
            value,
            currency,
            rita.first.affiliates["rita"],
        )
        (program,) = [program for program in rita.get("/api/me/programs") if "lead" in program["terms"]]
        assert program["terms"].startswith(expected), type
        assert program["rateSource"] == source


def test_affiliate_with_a_custom_rate_sees_no_tiers(rita):
    program_id = rita.first.brand.programs[-1]
    tiers = [{"minRevenueCents": 0, "commissionType": "Percentage", "commissionValue": 30}]
    assert rita.first.brand.call("PUT", f"/api/v1/programs/{program_id}/performance-tiers", tiers).status_code == 200
    assert "20 % of each payment, more in higher tiers." in {
        program["terms"] for program in rita.get("/api/me/programs")
    }

    rita.first.execute(
        "update affiliate set custom_commission_type = 'Percentage', custom_commission_value = 25 where id = %s",
        rita.first.affiliates["rita"],
    )
    assert "25 % of each payment." in {program["terms"] for program in rita.get("/api/me/programs")}


def test_open_programs_of_their_brands_are_offered_once(rita, rival, stranger):
    offered_id = rita.first.brand.program(name="Autumn")
    rita.first.brand.program(is_publicly_discoverable=False)
    rita.first.brand.program(network_visibility="InviteOnly")
    rita.first.brand.program(is_active=False)
    rival.program()

    (offer,) = rita.get("/api/me/programs/offers")
    assert (offer["programId"], offer["name"], offer["terms"]) == (str(offered_id), "Autumn", "20 % of each payment.")
    assert stranger.get("/api/me/programs/offers").json == []

    answer = rita.partner.app.test_client().post(f"/api/p/id/{offered_id}/apply", json={"email": rita.email})
    assert answer.status_code == 200
    assert rita.get("/api/me/programs/offers") == []
    assert {program["status"] for program in rita.get("/api/me/programs") if program["name"] == "Autumn"} == {"Pending"}


@pytest.mark.parametrize("status", ["Banned", "Rejected", "Paused"])
def test_banned_rejected_or_paused_affiliate_gets_no_offers(rita, status):
    rita.first.brand.program()
    rita.first.execute("update affiliate set status = %s where id = %s", status, rita.first.affiliates["rita"])

    assert rita.get("/api/me/programs/offers") == []


@pytest.mark.parametrize("path", ["", "/programs", "/programs/offers", "/coupons/mintable"])
def test_unverified_email_returns_403(app, rita, path):
    assert Partner(app, rita.email, is_email_verified=False).get(f"/api/me{path}").status_code == 403
    assert rita.first.brand.get(f"/api/me{path}").status_code == 401


def test_brand_with_a_cadence_shows_its_next_payout_day(rita):
    chosen = {"automaticPayoutCadence": "Weekly"}
    assert rita.first.brand.person("Owner").call("PATCH", "/api/organizations/me", chosen).status_code == 200

    brands = {brand["organizationId"]: brand for brand in rita.get("/api/me")["brands"]}
    weekly, manual = brands[str(rita.first.brand.id)], brands[str(rita.second.brand.id)]
    ((since,),) = rita.first.brand.rows("select automatic_payout_since from organization")
    assert (weekly["payoutCadence"], weekly["nextPayoutOn"]) == ("Weekly", (since + timedelta(days=7)).isoformat())
    assert (manual["payoutCadence"], manual["nextPayoutOn"]) == ("Manual", None)

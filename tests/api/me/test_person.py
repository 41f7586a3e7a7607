"""Who an affiliate is, which programs they are in and which they may apply to."""

import pytest

from tests.support.rows.brands import Partner


def test_an_account_names_its_brands(rita, stranger):
    found = rita.get("/api/me")

    assert found["email"] == rita.email
    assert {one["organizationId"] for one in found["brands"]} == {str(rita.first.brand.id), str(rita.second.brand.id)}
    assert found["brands"][0] | {"organizationId": ""} == {
        "organizationId": "",
        "name": "Brand",
        "primaryBrandColor": None,
        "logoUrl": None,
        "timezone": "UTC",
    }
    assert stranger.get("/api/me").json["brands"] == []


def test_a_program_says_how_one_stands_and_what_it_pays(rita):
    rita.first.execute(
        "update affiliate set custom_commission_type = 'Percentage', custom_commission_value = 12.5 where id = %s",
        rita.first.affiliates["rita"],
    )
    rita.first.execute("update program set recurring_months = 12, recurring_delay_invoices = 2")

    found = {one["organizationId"]: one for one in rita.get("/api/me/programs")}
    first, second = found[str(rita.first.brand.id)], found[str(rita.second.brand.id)]
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
def test_terms_are_a_sentence_that_can_be_checked(rita, columns, sentence):
    rita.first.execute(f"update program set {columns}")

    assert sentence in {one["terms"] for one in rita.get("/api/me/programs")}


def test_terms_name_all_that_a_program_pays_for(rita):
    rita.first.execute(
        "update program set default_commission_model = 'Cpl', default_commission_type = 'Fixed', fee_currency = 'USD',"
        " default_commission_value = 7.5, sale_commission_type = 'Percentage', sale_commission_value = 10,"
        " click_reward_cents = 5, click_reward_currency = 'USD' where id = %s",
        rita.first.brand.programs[-1],
    )
    said = "7.50 USD for each lead. Besides, 10 % of each payment. Besides, 0.05 USD for each click."
    assert said in {one["terms"] for one in rita.get("/api/me/programs")}

    # A percentage of one's own says nothing of leads; a fee of one's own does.
    for type, value, currency, shown, source in (
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
        (found,) = [one for one in rita.get("/api/me/programs") if "lead" in one["terms"]]
        assert found["terms"].startswith(shown), type
        assert found["rateSource"] == source


def test_whoever_has_a_rate_of_their_own_is_promised_no_tier(rita):
    program_id = rita.first.brand.programs[-1]
    tiers = [{"minRevenueCents": 0, "commissionType": "Percentage", "commissionValue": 30}]
    assert rita.first.brand.call("PUT", f"/api/v1/programs/{program_id}/performance-tiers", tiers).status_code == 200
    assert "20 % of each payment, more from certain sums on." in {one["terms"] for one in rita.get("/api/me/programs")}

    rita.first.execute(
        "update affiliate set custom_commission_type = 'Percentage', custom_commission_value = 25 where id = %s",
        rita.first.affiliates["rita"],
    )
    assert "25 % of each payment." in {one["terms"] for one in rita.get("/api/me/programs")}


def test_open_programs_of_their_brands_are_offered_once(rita, rival, stranger):
    wanted = rita.first.brand.program(name="Autumn")
    rita.first.brand.program(is_publicly_discoverable=False)
    rita.first.brand.program(network_visibility="InviteOnly")
    rita.first.brand.program(is_active=False)
    rival.program()

    (found,) = rita.get("/api/me/programs/offers")
    assert (found["programId"], found["name"], found["terms"]) == (str(wanted), "Autumn", "20 % of each payment.")
    assert stranger.get("/api/me/programs/offers").json == []

    answer = rita.partner.app.test_client().post(f"/api/p/id/{wanted}/apply", json={"email": rita.email})
    assert answer.status_code == 200
    assert rita.get("/api/me/programs/offers") == []
    assert {one["status"] for one in rita.get("/api/me/programs") if one["name"] == "Autumn"} == {"Pending"}


@pytest.mark.parametrize("status", ["Banned", "Rejected", "Paused"])
def test_who_a_brand_does_not_work_with_is_offered_nothing_there(rita, status):
    rita.first.brand.program()
    rita.first.execute("update affiliate set status = %s where id = %s", status, rita.first.affiliates["rita"])

    assert rita.get("/api/me/programs/offers") == []


@pytest.mark.parametrize("path", ["", "/programs", "/programs/offers", "/coupons/mintable"])
def test_an_unverified_email_sees_nothing(app, rita, path):
    assert Partner(app, rita.email, is_email_verified=False).get(f"/api/me{path}").status_code == 403
    assert rita.first.brand.get(f"/api/me{path}").status_code == 401

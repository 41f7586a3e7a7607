"""Why a conversion is credited to its affiliate, through HTTP. Source: tracking spec, section 8."""

from uuid import UUID, uuid4

import pytest

from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.recruits import Recruits
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

STEPS = ["coupon_override", "carried_referral", "customer_history", "coupon", "email_match", "platform_lookup"]


def _shown(brand, conversion_id):
    answer = brand.get(f"/api/v1/conversions/{conversion_id}/attribution")
    assert answer.status_code == 200, answer.data
    return answer.json


def _ben(brand):
    return brand.rows("select id from affiliate where email = 'ben@example.com'")[0][0]


def test_a_signed_sale_is_its_affiliates_because_it_names_them(campaign, drain):
    sold = campaign.sale(customerEmail="c@example.org").json["conversionId"]
    drain()

    shown = _shown(campaign, sold)

    decided_at = shown.pop("decidedAt")
    steps = shown.pop("steps")
    assert shown == {"conversionId": sold, "affiliateId": str(_ben(campaign)), "attributionMethod": None}
    assert decided_at.endswith("Z")
    assert [step["step"] for step in steps] == STEPS
    assert steps[1] == {
        "step": "carried_referral",
        "outcome": "matched",
        "code": "referral_carried",
        "detail": "The payment itself names the affiliate.",
        "affiliateId": str(_ben(campaign)),
    }
    assert steps[4] == {
        "step": "email_match",
        "outcome": "skipped",
        "code": "decided_earlier",
        "detail": "An earlier step had decided already.",
        "affiliateId": None,
    }


def test_a_lead_of_somebody_else_is_named(campaign, drain):
    dora = campaign.affiliate("dora")
    lead = {"affiliateSlug": "dora", "email": "c@example.org"}
    assert "leadId" in campaign.post_signed("/api/tracking/lead", lead).json
    sold = campaign.sale(customerEmail="c@example.org").json["conversionId"]
    drain()

    step = _shown(campaign, sold)["steps"][4]

    assert (step["outcome"], step["code"]) == ("skipped", "lead_of_another_affiliate")
    assert step["affiliateId"] == str(dora)


def test_an_id_that_was_given_out_is_settled_by_asking(campaign, monkeypatch):
    woken = []
    monkeypatch.setattr("api.conversions.attribution.wake_relay", lambda: woken.append(1))
    sold = campaign.sale().json["conversionId"]

    shown = _shown(campaign, sold)

    assert shown["steps"][1]["code"] == "referral_carried"
    assert _shown(campaign, sold) == shown
    assert woken == [1]
    assert campaign.rows("select count(*) from ledger_entry") == [(1,)]


def test_what_was_recorded_by_hand_says_by_what_kind_of_caller(campaign):
    body = {"programId": str(campaign.programs[-1]), "affiliateId": str(_ben(campaign)), "amountCents": 5}

    told = []
    for caller in (campaign, campaign.person("Manager")):
        made = caller.post("/api/v1/conversions", body).json["conversion"]["id"]
        shown = _shown(campaign, made)
        assert shown["attributionMethod"] == "manual"
        (step,) = shown["steps"]
        told.append((step["step"], step["outcome"], step["code"], step["affiliateId"]))

    by = ("manual", "matched")
    assert told == [(*by, code, str(_ben(campaign))) for code in ("recorded_with_key", "recorded_by_member")]


def test_what_was_imported_says_from_where(campaign):
    answer = import_sales(campaign, build_past_sale())
    assert answer.status_code == 200, answer.data
    ((imported,),) = campaign.rows("select id from conversion")

    shown = _shown(campaign, imported)

    assert shown["attributionMethod"] == "historical_import:api"
    (step,) = shown["steps"]
    assert (step["step"], step["code"]) == ("import", "imported")
    assert "api" in step["detail"]


def test_an_override_says_whose_recruiter_and_which_sale(brand, drain):
    pair = Recruits.create(brand)
    sold = pair.sell()
    drain()
    ((override,),) = pair.overrides("id")

    shown = _shown(brand, override)

    assert (shown["affiliateId"], shown["attributionMethod"]) == (str(pair.ann), "sub_affiliate_override")
    (step,) = shown["steps"]
    assert (step["step"], step["code"], step["affiliateId"]) == ("override", "recruit_sold", str(pair.ann))
    assert str(pair.ben) in step["detail"]
    assert str(sold) in step["detail"]


@pytest.mark.parametrize(
    ("method", "kind", "step", "code"),
    [
        ("cpc_aggregation", "ClickReward", "click", "clicks_counted"),
        ("lead_signup", "LeadReward", "lead", "lead_signed_up"),
        ("lead_form", "LeadReward", "lead", "lead_form_sent"),
    ],
)
def test_clicks_and_leads_have_a_line_of_their_own(campaign, method, kind, step, code):
    row = insert_conversion(
        campaign, _ben(campaign), source=method, type=kind, attribution_method=method, amount_cents=0, rate_type=None
    )

    (line,) = _shown(campaign, row)["steps"]

    assert (line["step"], line["outcome"], line["code"]) == (step, "matched", code)


def test_a_sale_that_credited_nobody_says_why(brand):
    brand.program()
    ben = brand.affiliate("ben", status="Paused")
    assert brand.sale().json["error"] == "affiliate_not_active"

    (row,) = brand.get("/api/v1/uncredited-conversions").json

    assert [step["step"] for step in row["attribution"]] == STEPS
    assert [(step["code"], step["affiliateId"]) for step in row["attribution"] if step["outcome"] == "matched"] == [
        ("referral_carried", str(ben))
    ]


def test_another_tenant_neither_sees_nor_settles(campaign, rival):
    sold = campaign.sale().json["conversionId"]

    answer = rival.get(f"/api/v1/conversions/{sold}/attribution")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert campaign.rows("select count(*) from conversion") == [(0,)]


@pytest.mark.parametrize("conversion_id", ["nonsense", str(UUID(int=0)), "%00", "1" * 500, "é"])
def test_what_is_no_id_names_no_conversion(campaign, conversion_id):
    answer = campaign.get(f"/api/v1/conversions/{conversion_id}/attribution")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_a_viewer_and_a_key_that_only_reads_may_ask(campaign):
    sold = campaign.sale().json["conversionId"]

    shown = _shown(campaign, sold)

    assert _shown(campaign.person("Viewer"), sold) == _shown(campaign.other_key(scope="read"), sold) == shown


def test_callers_and_plans_are_asked_for(app):
    free = Brand.create(app, plan="Free")
    url = f"/api/v1/conversions/{uuid4()}/attribution"

    assert app.test_client().get(url).status_code == 401
    refused = free.get(url)
    assert (refused.status_code, refused.json["error"], refused.json["required"]) == (
        402, "plan_tier_required", "Starter",
    )  # fmt: skip
    assert set(refused.json) == {"error", "required", "current", "trialing", "message"}
    assert free.person().get(url).status_code == 404

"""Explanation of a conversion's attribution, through HTTP. Source: tracking spec, section 8."""

from uuid import UUID, uuid4

import pytest

from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.recruits import Recruits
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

STEPS = ["coupon_override", "carried_referral", "customer_history", "coupon", "email_match", "platform_lookup"]


def _read_attribution(brand, conversion_id):
    answer = brand.get(f"/api/v1/conversions/{conversion_id}/attribution")
    assert answer.status_code == 200, answer.data
    return answer.json


def _find_ben_id(brand):
    return brand.rows("select id from affiliate where email = 'ben@example.com'")[0][0]


def test_signed_sale_is_credited_to_the_named_affiliate(campaign, drain):
    sale_id = campaign.sale(customerEmail="c@example.org").json["conversionId"]
    drain()

    attribution = _read_attribution(campaign, sale_id)

    decided_at = attribution.pop("decidedAt")
    steps = attribution.pop("steps")
    assert attribution == {
        "conversionId": sale_id,
        "affiliateId": str(_find_ben_id(campaign)),
        "attributionMethod": None,
    }
    assert decided_at.endswith("Z")
    assert [step["step"] for step in steps] == STEPS
    assert steps[1] == {
        "step": "carried_referral",
        "outcome": "matched",
        "code": "referral_carried",
        "detail": "The payment carries the affiliate's referral.",
        "affiliateId": str(_find_ben_id(campaign)),
    }
    assert steps[4] == {
        "step": "email_match",
        "outcome": "skipped",
        "code": "decided_earlier",
        "detail": "An earlier step decided.",
        "affiliateId": None,
    }


def test_lead_of_another_affiliate_is_named(campaign, drain):
    dora = campaign.affiliate("dora")
    lead = {"affiliateSlug": "dora", "email": "c@example.org"}
    assert "leadId" in campaign.post_signed("/api/tracking/lead", lead).json
    sale_id = campaign.sale(customerEmail="c@example.org").json["conversionId"]
    drain()

    step = _read_attribution(campaign, sale_id)["steps"][4]

    assert (step["outcome"], step["code"]) == ("skipped", "lead_of_another_affiliate")
    assert step["affiliateId"] == str(dora)


def test_reading_attribution_settles_an_accepted_sale(campaign, monkeypatch):
    wakeups = []
    monkeypatch.setattr("api.conversions.attribution.wake_relay", lambda: wakeups.append(1))
    sale_id = campaign.sale().json["conversionId"]

    attribution = _read_attribution(campaign, sale_id)

    assert attribution["steps"][1]["code"] == "referral_carried"
    assert _read_attribution(campaign, sale_id) == attribution
    assert wakeups == [1]
    assert campaign.rows("select count(*) from ledger_entry") == [(1,)]


def test_manual_conversion_names_the_kind_of_caller(campaign):
    body = {"programId": str(campaign.programs[-1]), "affiliateId": str(_find_ben_id(campaign)), "amountCents": 5}

    steps = []
    for caller in (campaign, campaign.person("Manager")):
        conversion_id = caller.post("/api/v1/conversions", body).json["conversion"]["id"]
        attribution = _read_attribution(campaign, conversion_id)
        assert attribution["attributionMethod"] == "manual"
        (step,) = attribution["steps"]
        steps.append((step["step"], step["outcome"], step["code"], step["affiliateId"]))

    by = ("manual", "matched")
    assert steps == [(*by, code, str(_find_ben_id(campaign))) for code in ("recorded_with_key", "recorded_by_member")]


def test_imported_conversion_names_its_source(campaign):
    answer = import_sales(campaign, build_past_sale())
    assert answer.status_code == 200, answer.data
    ((conversion_id,),) = campaign.rows("select id from conversion")

    attribution = _read_attribution(campaign, conversion_id)

    assert attribution["attributionMethod"] == "historical_import:api"
    (step,) = attribution["steps"]
    assert (step["step"], step["code"]) == ("import", "imported")
    assert "api" in step["detail"]


def test_override_names_the_recruit_and_the_sale(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()
    ((override_id,),) = recruits.overrides("id")

    attribution = _read_attribution(brand, override_id)

    assert (attribution["affiliateId"], attribution["attributionMethod"]) == (
        str(recruits.ann),
        "sub_affiliate_override",
    )
    (step,) = attribution["steps"]
    assert (step["step"], step["code"], step["affiliateId"]) == ("override", "recruit_sold", str(recruits.ann))
    assert str(recruits.ben) in step["detail"]
    assert str(sale_id) in step["detail"]


@pytest.mark.parametrize(
    ("method", "kind", "step", "code"),
    [
        ("cpc_aggregation", "ClickReward", "click", "clicks_counted"),
        ("lead_signup", "LeadReward", "lead", "lead_signed_up"),
        ("lead_form", "LeadReward", "lead", "lead_form_sent"),
    ],
)
def test_click_and_lead_rewards_have_their_own_step(campaign, method, kind, step, code):
    conversion_id = insert_conversion(
        campaign,
        _find_ben_id(campaign),
        source=method,
        type=kind,
        attribution_method=method,
        amount_cents=0,
        rate_type=None,
    )

    (line,) = _read_attribution(campaign, conversion_id)["steps"]

    assert (line["step"], line["outcome"], line["code"]) == (step, "matched", code)


def test_uncredited_sale_states_the_reason(brand):
    brand.program()
    ben = brand.affiliate("ben", status="Paused")
    assert brand.sale().json["error"] == "affiliate_not_active"

    (row,) = brand.get("/api/v1/uncredited-conversions").json

    assert [step["step"] for step in row["attribution"]] == STEPS
    assert [(step["code"], step["affiliateId"]) for step in row["attribution"] if step["outcome"] == "matched"] == [
        ("referral_carried", str(ben))
    ]


def test_other_tenant_cannot_read_or_settle(campaign, rival):
    conversion_id = campaign.sale().json["conversionId"]

    answer = rival.get(f"/api/v1/conversions/{conversion_id}/attribution")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert campaign.rows("select count(*) from conversion") == [(0,)]


@pytest.mark.parametrize("conversion_id", ["nonsense", str(UUID(int=0)), "%00", "1" * 500, "é"])
def test_malformed_id_returns_404(campaign, conversion_id):
    answer = campaign.get(f"/api/v1/conversions/{conversion_id}/attribution")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_viewer_and_read_key_can_read(campaign):
    sale_id = campaign.sale().json["conversionId"]

    attribution = _read_attribution(campaign, sale_id)

    assert (
        _read_attribution(campaign.person("Viewer"), sale_id)
        == _read_attribution(campaign.other_key(scope="read"), sale_id)
        == attribution
    )


def test_caller_and_plan_are_checked(app):
    free = Brand.create(app, plan="Free")
    url = f"/api/v1/conversions/{uuid4()}/attribution"

    assert app.test_client().get(url).status_code == 401
    refused = free.get(url)
    assert (refused.status_code, refused.json["error"], refused.json["required"]) == (
        402, "plan_tier_required", "Starter",
    )  # fmt: skip
    assert set(refused.json) == {"error", "required", "current", "trialing", "message", "doc_url"}
    assert free.person().get(url).status_code == 404

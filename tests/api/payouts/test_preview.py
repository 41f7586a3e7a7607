"""Preview of a payout run through HTTP. Source: core spec, "Payouts" (preview and its response fields)."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.api.payouts import UNKNOWN_ID, URL, problem_fields, run_payouts

PREVIEW = f"{URL}/preview"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _post_preview(payroll, body=None):
    answer = payroll.brand.post(PREVIEW, body)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.json


def _blocked_reasons(preview):
    return {
        (candidate["affiliateEmail"], candidate["currency"]): candidate["blockedReason"]
        for candidate in preview["candidates"]
    }


def test_preview_with_nothing_due_has_every_field(payroll):
    assert _post_preview(payroll) == {
        "totalEligibleCents": 0,
        "totalEligibleInHomeCurrencyCents": 0,
        "candidateCount": 0,
        "candidatesWithProcessorConnectCount": 0,
        "graceDays": 0,
        "homeCurrency": "USD",
        "eligibleByCurrency": {},
        "unconvertibleByCurrency": {},
        "nativeTotalsForRun": {},
        "fxUnavailableCurrencies": [],
        "usdEstimateAtRunRateCents": 0,
        "payoutTotalUsdCents": 0,
        "payoutCount": 0,
        "fxRunRates": {"USD": {"rate": 1, "asOf": _today()}},
        "platformFeePercent": 0,
        "platformFeeCents": 0,
        "candidates": [],
    }


def test_candidate_is_one_affiliate_in_one_currency(payroll):
    payroll.rate("EUR", "0.8")
    affiliate_id = payroll.affiliate("ann")
    conversions = [payroll.sell("ann", 10_000), payroll.sell("ann", 5_000, "EUR")]

    preview = _post_preview(payroll)

    assert sorted(preview["candidates"], key=lambda candidate: candidate["currency"]) == [
        {
            "affiliateId": str(affiliate_id),
            "affiliateEmail": "ann@example.com",
            "affiliateName": "Ann",
            "currency": "EUR",
            "eligibleCents": 1_000,
            "payoutUsdCents": 1_250,
            "conversionCount": 1,
            "eligibleConversionIds": [conversions[1]],
            "payoutReady": True,
            "blockedReason": None,
        },
        {
            "affiliateId": str(affiliate_id),
            "affiliateEmail": "ann@example.com",
            "affiliateName": "Ann",
            "currency": "USD",
            "eligibleCents": 2_000,
            "payoutUsdCents": 2_000,
            "conversionCount": 1,
            "eligibleConversionIds": [conversions[0]],
            "payoutReady": True,
            "blockedReason": None,
        },
    ]
    del preview["candidates"]
    assert preview == {
        "totalEligibleCents": 3_000,
        "totalEligibleInHomeCurrencyCents": 3_250,
        "candidateCount": 2,
        "candidatesWithProcessorConnectCount": 2,
        "graceDays": 0,
        "homeCurrency": "USD",
        "eligibleByCurrency": {"EUR": 1_000, "USD": 2_000},
        "unconvertibleByCurrency": {},
        "nativeTotalsForRun": {"EUR": 1_000, "USD": 2_000},
        "fxUnavailableCurrencies": [],
        "usdEstimateAtRunRateCents": 3_250,
        "payoutTotalUsdCents": 3_250,
        "payoutCount": 1,
        "fxRunRates": {"EUR": {"rate": 0.8, "asOf": _today()}, "USD": {"rate": 1, "asOf": _today()}},
        "platformFeePercent": 0,
        "platformFeeCents": 0,
    }


def test_commission_without_a_fresh_rate_is_withheld_and_reported(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, "CHF")
    payroll.sell("ann", 10_000)

    preview = _post_preview(payroll)

    assert _blocked_reasons(preview) == {("ann@example.com", "CHF"): "fx_unavailable", ("ann@example.com", "USD"): None}
    assert preview["fxUnavailableCurrencies"] == ["CHF"]
    assert preview["unconvertibleByCurrency"] == {"CHF": 2_000}
    assert preview["totalEligibleInHomeCurrencyCents"] == 2_000
    assert preview["eligibleByCurrency"] == {"CHF": 2_000, "USD": 2_000}
    assert preview["nativeTotalsForRun"] == {"USD": 2_000}
    assert "CHF" not in preview["fxRunRates"]


def test_usd_estimate_follows_the_minor_units_of_each_currency(payroll):
    payroll.rate("JPY", "150")
    payroll.rate("KWD", "0.3")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, "JPY")
    payroll.sell("ann", 10_000, "KWD")

    # 2,000 yen at 150 are 13.33 USD; 2.000 dinar at 0.3 are 6.67.
    assert _post_preview(payroll)["usdEstimateAtRunRateCents"] == 1_333 + 667


def test_unpaid_candidates_have_a_reason(payroll):
    for slug in ("ann", "ben", "cyd"):
        payroll.affiliate(slug, method=None if slug == "ann" else "Wallet")
        payroll.sell(slug)
    payroll.execute("update affiliate set status = 'Banned' where id = %s", payroll.affiliates["ben"])
    payroll.execute(
        "update program set min_payout_cents = 2001, min_payout_currency = 'USD' where organization_id = %s",
        payroll.brand.id,
    )

    preview = _post_preview(payroll)

    assert _blocked_reasons(preview) == {
        ("ann@example.com", "USD"): "no_payout_account",
        ("ben@example.com", "USD"): "affiliate_not_approved",
        ("cyd@example.com", "USD"): "below_minimum",
    }
    assert (preview["totalEligibleCents"], preview["nativeTotalsForRun"]) == (0, {})
    assert preview["eligibleByCurrency"] == {"USD": 6_000}
    assert preview["candidatesWithProcessorConnectCount"] == 0


def test_missing_tax_form_blocks_a_candidate_where_required(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    payroll.brand.set(taxFormRequired="on")

    assert _blocked_reasons(_post_preview(payroll)) == {("ann@example.com", "USD"): "tax_form_required"}


def test_debt_is_negative_and_reduces_the_total(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    run_payouts(payroll)
    payroll.pay()
    payroll.brand.refund("first", 4_000)

    preview = _post_preview(payroll)

    assert _blocked_reasons(preview) == {("ann@example.com", "USD"): "negative_balance"}
    assert [candidate["eligibleCents"] for candidate in preview["candidates"]] == [-800]
    assert preview["totalEligibleInHomeCurrencyCents"] == -800


def test_held_or_already_paid_commission_is_not_eligible(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    run_payouts(payroll)
    payroll.brand.set(payoutGraceDays="30")
    payroll.sell("ann")

    preview = _post_preview(payroll)

    assert (preview["candidates"], preview["graceDays"]) == ([], 30)


def test_preview_filters_by_program_affiliate_time_conversion_and_rail(payroll):
    now = datetime.now(UTC)
    payroll.affiliate("ann")
    payroll.affiliate("ben", method="Wallet")
    first = payroll.sell("ann", 10_000)
    payroll.execute("update conversion set occurred_at = %s where id = %s returning id", now - timedelta(days=9), first)
    payroll.sell("ben", 20_000)
    program_id = str(payroll.brand.programs[0])
    other = str(payroll.brand.program())

    def total(**body):
        return _post_preview(payroll, body)["totalEligibleCents"]

    assert total() == 6_000
    assert total(programId=program_id) == 6_000
    assert total(programId=other) == 0
    assert total(affiliateId=str(payroll.affiliates["ann"])) == 2_000
    assert total(affiliateIds=[str(affiliate_id) for affiliate_id in payroll.affiliates.values()] * 2) == 6_000
    assert total(since=(now - timedelta(days=1)).isoformat()) == 4_000
    assert total(conversionIds=[first]) == 2_000
    assert total(conversionIds=[UNKNOWN_ID]) == 0
    assert total(method="ProcessorConnect") == 2_000
    assert total(method="Auto", currency="usd") == 6_000


def test_every_field_except_lists_may_be_null(payroll):
    body = dict.fromkeys(["programId", "since", "affiliateId", "currency", "method"])

    assert payroll.brand.post(PREVIEW, body).status_code == 200


def test_preview_writes_nothing(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")

    first, second = _post_preview(payroll), _post_preview(payroll)

    assert first == second
    assert payroll.payouts() == payroll.lines() == []
    assert payroll.brand.rows("select count(*) from event where type like 'payout%%'") == [(0,)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"programId": "x"}, "programId"),
        ({"programId": 7}, "programId"),
        ({"affiliateId": "\x00"}, "affiliateId"),
        ({"affiliateId": []}, "affiliateId"),
        ({"since": "soon"}, "since"),
        ({"since": 20260101}, "since"),
        ({"since": "9999-99-99"}, "since"),
        ({"affiliateIds": []}, "affiliateIds"),
        ({"affiliateIds": None}, "affiliateIds"),
        ({"affiliateIds": UNKNOWN_ID}, "affiliateIds"),
        ({"affiliateIds": ["x"]}, "affiliateIds"),
        ({"affiliateIds": [UNKNOWN_ID] * 10_001}, "affiliateIds"),
        ({"conversionIds": []}, "conversionIds"),
        ({"conversionIds": {}}, "conversionIds"),
        ({"conversionIds": [None]}, "conversionIds"),
        ({"affiliateId": UNKNOWN_ID, "affiliateIds": [UNKNOWN_ID]}, "affiliateId"),
        ({"currency": 1}, "currency"),
        ({"method": True}, "method"),
        ({"method": "\x00"}, "method"),
        ([], "body"),
        (b"{", "body"),
        (b'{"programId": null, "programId": null}', "body"),
    ],
)
def test_malformed_body_returns_400(payroll, body, field):
    assert problem_fields(payroll.brand.post(PREVIEW, body)) == {field}


@pytest.mark.parametrize("currency", ["EUR", "XXX", "", "U\u017fD", "€"])
def test_payouts_are_in_usd_only(payroll, currency):
    answer = payroll.brand.post(PREVIEW, {"currency": currency})

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, "unsupported_currency", "currency")


@pytest.mark.parametrize("method", ["Wise", "Wallet", "GlobalPayouts", "Manual", "auto", ""])
def test_unsupported_method_returns_400(payroll, method):
    answer = payroll.brand.post(PREVIEW, {"method": method})

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, "unsupported_method", "method")


@pytest.mark.parametrize("field", ["programId", "affiliateId"])
def test_other_tenants_id_returns_404(payroll, rival, field):
    rival_program = rival.program()
    rivals_id = {"programId": rival_program, "affiliateId": rival.affiliate("ben")}[field]

    for id in (str(rivals_id), UNKNOWN_ID):
        answer = payroll.brand.post(PREVIEW, {field: id})
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_unknown_affiliate_ids_are_named(payroll, rival):
    payroll.affiliate("ann")
    payroll.sell("ann")
    rival.program()
    rivals_id = str(rival.affiliate("ben"))

    answer = payroll.brand.post(PREVIEW, {"affiliateIds": [str(payroll.affiliates["ann"]), rivals_id, UNKNOWN_ID]})

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_affiliate_ids")
    assert answer.json["invalid"] == [rivals_id, UNKNOWN_ID]


def test_preview_needs_a_manager_or_a_write_key_on_the_starter_plan(payroll):
    assert payroll.brand.person("Manager").post(PREVIEW).status_code == 200
    viewer = payroll.brand.person("Viewer").post(PREVIEW)
    reader = payroll.brand.other_key(scope="read").post(PREVIEW)
    assert (viewer.status_code, reader.status_code) == (403, 403)
    assert "read_write" in reader.json["message"]
    payroll.brand.set(plan="Free")
    assert payroll.brand.post(PREVIEW).status_code == 402
    assert payroll.brand.person("Manager").post(PREVIEW).status_code == 200


def test_other_tenants_money_is_not_previewed(payroll, rival):
    payroll.affiliate("ann")
    payroll.sell("ann")

    assert rival.post(PREVIEW).json["candidates"] == []

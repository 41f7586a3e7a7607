"""What a run would pay, asked through HTTP. Source: core spec, "Payouts" (preview and its response fields)."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.api.payouts import NOBODY, URL, problem_fields, run_payouts

PREVIEW = f"{URL}/preview"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _asked(payroll, body=None):
    answer = payroll.brand.post(PREVIEW, body)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.json


def _blocked(shown):
    return {(one["affiliateEmail"], one["currency"]): one["blockedReason"] for one in shown["candidates"]}


def test_with_nothing_due_every_field_is_there_and_empty(payroll):
    assert _asked(payroll) == {
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


def test_a_candidate_is_one_affiliate_in_one_currency(payroll):
    payroll.rate("EUR", "0.8")
    affiliate_id = payroll.affiliate("ann")
    conversions = [payroll.sell("ann", 10_000), payroll.sell("ann", 5_000, "EUR")]

    shown = _asked(payroll)

    assert sorted(shown["candidates"], key=lambda one: one["currency"]) == [
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
    del shown["candidates"]
    assert shown == {
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


def test_money_without_a_fresh_rate_is_withheld_and_reported(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, "CHF")
    payroll.sell("ann", 10_000)

    shown = _asked(payroll)

    assert _blocked(shown) == {("ann@example.com", "CHF"): "fx_unavailable", ("ann@example.com", "USD"): None}
    assert shown["fxUnavailableCurrencies"] == ["CHF"]
    assert shown["unconvertibleByCurrency"] == {"CHF": 2_000}
    assert shown["totalEligibleInHomeCurrencyCents"] == 2_000
    assert shown["eligibleByCurrency"] == {"CHF": 2_000, "USD": 2_000}
    assert shown["nativeTotalsForRun"] == {"USD": 2_000}
    assert "CHF" not in shown["fxRunRates"]


def test_the_usd_estimate_follows_the_minor_units_of_each_currency(payroll):
    payroll.rate("JPY", "150")
    payroll.rate("KWD", "0.3")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, "JPY")
    payroll.sell("ann", 10_000, "KWD")

    # 2,000 yen at 150 are 13.33 USD; 2.000 dinar at 0.3 are 6.67.
    assert _asked(payroll)["usdEstimateAtRunRateCents"] == 1_333 + 667


def test_those_who_are_not_paid_say_why(payroll):
    for slug in ("ann", "ben", "cyd"):
        payroll.affiliate(slug, method=None if slug == "ann" else "Wallet")
        payroll.sell(slug)
    payroll.execute("update affiliate set status = 'Banned' where id = %s", payroll.affiliates["ben"])
    payroll.execute(
        "update program set min_payout_cents = 2001, min_payout_currency = 'USD' where organization_id = %s",
        payroll.brand.id,
    )

    shown = _asked(payroll)

    assert _blocked(shown) == {
        ("ann@example.com", "USD"): "no_payout_account",
        ("ben@example.com", "USD"): "affiliate_not_approved",
        ("cyd@example.com", "USD"): "below_minimum",
    }
    assert (shown["totalEligibleCents"], shown["nativeTotalsForRun"]) == (0, {})
    assert shown["eligibleByCurrency"] == {"USD": 6_000}
    assert shown["candidatesWithProcessorConnectCount"] == 0


def test_a_missing_tax_form_holds_money_back_where_one_is_wanted(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    payroll.brand.set(taxFormRequired="on")

    assert _blocked(_asked(payroll)) == {("ann@example.com", "USD"): "tax_form_required"}


def test_a_debt_is_shown_below_zero_and_counts_against_what_is_eligible(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    run_payouts(payroll)
    payroll.pay()
    payroll.brand.refund("first", 4_000)

    shown = _asked(payroll)

    assert _blocked(shown) == {("ann@example.com", "USD"): "negative_balance"}
    assert [one["eligibleCents"] for one in shown["candidates"]] == [-800]
    assert shown["totalEligibleInHomeCurrencyCents"] == -800


def test_what_is_on_hold_is_not_eligible_and_what_is_in_a_payout_neither(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")
    run_payouts(payroll)
    payroll.brand.set(payoutGraceDays="30")
    payroll.sell("ann")

    shown = _asked(payroll)

    assert (shown["candidates"], shown["graceDays"]) == ([], 30)


def test_it_is_narrowed_by_program_affiliate_time_conversion_and_rail(payroll):
    now = datetime.now(UTC)
    payroll.affiliate("ann")
    payroll.affiliate("ben", method="Wallet")
    first = payroll.sell("ann", 10_000)
    payroll.execute("update conversion set occurred_at = %s where id = %s returning id", now - timedelta(days=9), first)
    payroll.sell("ben", 20_000)
    program_id = str(payroll.brand.programs[0])
    other = str(payroll.brand.program())

    def total(**body):
        return _asked(payroll, body)["totalEligibleCents"]

    assert total() == 6_000
    assert total(programId=program_id) == 6_000
    assert total(programId=other) == 0
    assert total(affiliateId=str(payroll.affiliates["ann"])) == 2_000
    assert total(affiliateIds=[str(found) for found in payroll.affiliates.values()] * 2) == 6_000
    assert total(since=(now - timedelta(days=1)).isoformat()) == 4_000
    assert total(conversionIds=[first]) == 2_000
    assert total(conversionIds=[NOBODY]) == 0
    assert total(method="ProcessorConnect") == 2_000
    assert total(method="Auto", currency="usd") == 6_000


def test_every_field_may_be_null_but_a_list(payroll):
    body = dict.fromkeys(["programId", "since", "affiliateId", "currency", "method"])

    assert payroll.brand.post(PREVIEW, body).status_code == 200


def test_nothing_is_committed(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann")

    first, second = _asked(payroll), _asked(payroll)

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
        ({"affiliateIds": NOBODY}, "affiliateIds"),
        ({"affiliateIds": ["x"]}, "affiliateIds"),
        ({"affiliateIds": [NOBODY] * 10_001}, "affiliateIds"),
        ({"conversionIds": []}, "conversionIds"),
        ({"conversionIds": {}}, "conversionIds"),
        ({"conversionIds": [None]}, "conversionIds"),
        ({"affiliateId": NOBODY, "affiliateIds": [NOBODY]}, "affiliateId"),
        ({"currency": 1}, "currency"),
        ({"method": True}, "method"),
        ({"method": "\x00"}, "method"),
        ([], "body"),
        (b"{", "body"),
        (b'{"programId": null, "programId": null}', "body"),
    ],
)
def test_a_body_that_cannot_be_is_refused(payroll, body, field):
    assert problem_fields(payroll.brand.post(PREVIEW, body)) == {field}


@pytest.mark.parametrize("currency", ["EUR", "XXX", "", "U\u017fD", "€"])
def test_payouts_are_in_usd_alone(payroll, currency):
    answer = payroll.brand.post(PREVIEW, {"currency": currency})

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, "unsupported_currency", "currency")


@pytest.mark.parametrize("method", ["Wise", "Wallet", "GlobalPayouts", "Manual", "auto", ""])
def test_only_a_rail_that_can_be_asked_for_is_taken(payroll, method):
    answer = payroll.brand.post(PREVIEW, {"method": method})

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, "unsupported_method", "method")


@pytest.mark.parametrize("field", ["programId", "affiliateId"])
def test_what_another_organization_has_is_not_there(payroll, rival, field):
    foreign = rival.program()
    found = {"programId": foreign, "affiliateId": rival.affiliate("ben")}[field]

    for unknown in (str(found), NOBODY):
        answer = payroll.brand.post(PREVIEW, {field: unknown})
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_affiliates_of_nobody_are_named_and_never_read_as_all(payroll, rival):
    payroll.affiliate("ann")
    payroll.sell("ann")
    rival.program()
    foreign = str(rival.affiliate("ben"))

    answer = payroll.brand.post(PREVIEW, {"affiliateIds": [str(payroll.affiliates["ann"]), foreign, NOBODY]})

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_affiliate_ids")
    assert answer.json["invalid"] == [foreign, NOBODY]


def test_it_needs_a_manager_or_a_key_that_writes_on_the_starter_plan(payroll):
    assert payroll.brand.person("Manager").post(PREVIEW).status_code == 200
    viewer = payroll.brand.person("Viewer").post(PREVIEW)
    reader = payroll.brand.other_key(scope="read").post(PREVIEW)
    assert (viewer.status_code, reader.status_code) == (403, 403)
    assert "read_write" in reader.json["message"]
    payroll.brand.set(plan="Free")
    assert payroll.brand.post(PREVIEW).status_code == 402
    assert payroll.brand.person("Manager").post(PREVIEW).status_code == 200


def test_another_organizations_money_is_in_nobodys_preview(payroll, rival):
    payroll.affiliate("ann")
    payroll.sell("ann")

    assert rival.post(PREVIEW).json["candidates"] == []

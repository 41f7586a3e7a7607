"""The home currency. Source: core spec, "Settings, organization and billing"; section 2 (allowlist)."""

import pytest

from tests.support.api.concurrency import run_concurrently

URL = "/api/v1/settings/home-currency"


def _put(caller, code, **headers):
    return caller.call("PUT", URL, {"homeCurrency": code}, **headers)


def _list_changes(brand):
    return brand.rows("select before, after from audit_entry where action = 'org.home_currency_changed'")


def test_response_lists_supported_currencies(pro):
    view = pro.get(URL).json

    assert (view["homeCurrency"], view["changedAt"], view["canChange"]) == ("USD", None, True)
    assert len(view["supportedCurrencies"]) == 137
    assert {"AED", "JPY", "XCG", "ZMW"} < set(view["supportedCurrencies"])
    assert "ANG" not in view["supportedCurrencies"]


@pytest.mark.parametrize(("code", "stored_code"), [("EUR", "EUR"), (" jpy ", "JPY"), ("ang", "XCG")])
def test_change_is_normalized_and_audited(pro, code, stored_code):
    answer = _put(pro, code)

    assert answer.status_code == 200
    assert (answer.json["homeCurrency"], answer.json["changed"]) == (stored_code, True)
    assert answer.json["changedAt"].endswith("Z")
    assert pro.get(URL).json["homeCurrency"] == stored_code
    assert pro.get(URL).json["changedAt"] == answer.json["changedAt"]
    assert _list_changes(pro) == [({"homeCurrency": "USD"}, {"homeCurrency": stored_code})]


def test_unchanged_currency_is_not_audited(pro):
    first = _put(pro, "EUR").json
    repeated = _put(pro, "eur")

    assert (repeated.status_code, repeated.json) == (200, first | {"changed": False})
    assert len(_list_changes(pro)) == 1


def test_concurrent_equal_changes_are_audited_once(pro):
    answers = run_concurrently(lambda: _put(pro, "EUR"), lambda: _put(pro, "EUR"))

    assert sorted(answer.json["changed"] for answer in answers) == [False, True]
    assert len(_list_changes(pro)) == 1


def test_conversions_keep_their_currency(pro, drain):
    pro.program()
    pro.affiliate("ben")
    pro.sale(currency="USD")
    drain()

    _put(pro, "EUR")

    assert pro.rows("select distinct currency from conversion") == [("USD",)]


@pytest.mark.parametrize("code", ["", " ", "XXX", "EURO", "E", "€", "EU\x00", "ＥＵＲ", "ıdr", "x" * 10_000])
def test_unsupported_currency_returns_400(pro, code):
    answer = _put(pro, code)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (
        400,
        "unsupported_currency",
        "homeCurrency",
    )
    assert _list_changes(pro) == []


@pytest.mark.parametrize(
    "body", [{}, {"homeCurrency": None}, {"homeCurrency": 978}, {"homeCurrency": ["EUR"]}, [], b""]
)
def test_malformed_body_returns_problem_details(pro, body):
    answer = pro.call("PUT", URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


@pytest.mark.parametrize("plan", ["Starter", "Growth", "Free"])
def test_key_needs_the_pro_plan(pro, plan):
    pro.set(plan=plan)

    answer = _put(pro, "EUR")

    assert answer.status_code == 402
    assert {name: answer.json[name] for name in ("error", "required", "current", "trialing")} == {
        "error": "plan_tier_required",
        "required": "Pro",
        "current": plan,
        "trialing": False,
    }
    assert pro.get(URL).json["canChange"] is False
    assert _put(pro.person("Owner"), "EUR").status_code == 200


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
def test_role_below_owner_may_only_read(brand, role):
    person = brand.person(role)

    answer = _put(person, "EUR")

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert person.get(URL).json["canChange"] is False


def test_owner_needs_a_verified_email(brand):
    person = brand.person("Owner", is_email_verified=False)

    answer = _put(person, "EUR")

    assert (answer.status_code, answer.json["error"]) == (403, "email_verification_required")
    assert person.get(URL).json["canChange"] is False
    assert brand.person("Owner").get(URL).json["canChange"] is True


def test_read_key_cannot_change_the_currency(pro):
    read_key = pro.other_key(scope="read")

    answer = _put(read_key, "EUR")

    assert answer.status_code == 403
    assert "read_write" in answer.json["message"]
    assert read_key.get(URL).json["canChange"] is False


def test_repeated_idempotency_key_returns_the_first_response(pro):
    first = _put(pro, "EUR", Idempotency_Key="k1")
    repeated = _put(pro, "EUR", Idempotency_Key="k1")

    assert repeated.json == first.json
    assert repeated.headers["Idempotency-Replayed"] == "true"

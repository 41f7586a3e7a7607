"""The home currency. Source: core spec, "Settings, organization and billing"; section 2 (allowlist)."""

import pytest

from tests.support.api.concurrency import run_concurrently

URL = "/api/v1/settings/home-currency"


def _put(caller, code, **headers):
    return caller.call("PUT", URL, {"homeCurrency": code}, **headers)


def _audited(brand):
    return brand.rows("select before, after from audit_entry where action = 'org.home_currency_changed'")


def test_it_is_shown_with_what_it_may_become(pro):
    shown = pro.get(URL).json

    assert (shown["homeCurrency"], shown["changedAt"], shown["canChange"]) == ("USD", None, True)
    assert len(shown["supportedCurrencies"]) == 137
    assert {"AED", "JPY", "XCG", "ZMW"} < set(shown["supportedCurrencies"])
    assert "ANG" not in shown["supportedCurrencies"]


@pytest.mark.parametrize(("sent", "kept"), [("EUR", "EUR"), (" jpy ", "JPY"), ("ang", "XCG")])
def test_it_is_changed_and_audited(pro, sent, kept):
    answer = _put(pro, sent)

    assert answer.status_code == 200
    assert (answer.json["homeCurrency"], answer.json["changed"]) == (kept, True)
    assert answer.json["changedAt"].endswith("Z")
    assert pro.get(URL).json["homeCurrency"] == kept
    assert pro.get(URL).json["changedAt"] == answer.json["changedAt"]
    assert _audited(pro) == [({"homeCurrency": "USD"}, {"homeCurrency": kept})]


def test_the_same_again_changes_nothing_and_is_not_audited(pro):
    first = _put(pro, "EUR").json
    again = _put(pro, "eur")

    assert (again.status_code, again.json) == (200, first | {"changed": False})
    assert len(_audited(pro)) == 1


def test_of_two_at_once_one_changes_it(pro):
    answers = run_concurrently(lambda: _put(pro, "EUR"), lambda: _put(pro, "EUR"))

    assert sorted(answer.json["changed"] for answer in answers) == [False, True]
    assert len(_audited(pro)) == 1


def test_conversions_keep_their_currency(pro, drain):
    pro.program()
    pro.affiliate("ben")
    pro.sale(currency="USD")
    drain()

    _put(pro, "EUR")

    assert pro.rows("select distinct currency from conversion") == [("USD",)]


@pytest.mark.parametrize("code", ["", " ", "XXX", "EURO", "E", "€", "EU\x00", "ＥＵＲ", "ıdr", "x" * 10_000])
def test_what_is_no_supported_currency_is_refused(pro, code):
    answer = _put(pro, code)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (
        400,
        "unsupported_currency",
        "homeCurrency",
    )
    assert _audited(pro) == []


@pytest.mark.parametrize(
    "body", [{}, {"homeCurrency": None}, {"homeCurrency": 978}, {"homeCurrency": ["EUR"]}, [], b""]
)
def test_a_malformed_body_is_told_in_problem_details(pro, body):
    answer = pro.call("PUT", URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


@pytest.mark.parametrize("plan", ["Starter", "Growth", "Free"])
def test_a_key_needs_the_pro_plan(pro, plan):
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
def test_a_lower_role_reads_and_cannot_change(brand, role):
    person = brand.person(role)

    answer = _put(person, "EUR")

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert person.get(URL).json["canChange"] is False


def test_an_owner_needs_a_verified_email(brand):
    person = brand.person("Owner", is_email_verified=False)

    answer = _put(person, "EUR")

    assert (answer.status_code, answer.json["error"]) == (403, "email_verification_required")
    assert person.get(URL).json["canChange"] is False
    assert brand.person("Owner").get(URL).json["canChange"] is True


def test_a_reading_key_cannot_change_it(pro):
    reader = pro.other_key(scope="read")

    answer = _put(reader, "EUR")

    assert answer.status_code == 403
    assert "read_write" in answer.json["message"]
    assert reader.get(URL).json["canChange"] is False


def test_a_repeated_request_gets_the_first_answer(pro):
    first = _put(pro, "EUR", Idempotency_Key="k1")
    again = _put(pro, "EUR", Idempotency_Key="k1")

    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"

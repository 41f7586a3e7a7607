"""Performance tiers of a program, through HTTP."""

from datetime import UTC, datetime

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Brand

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
TIERS = [
    {"minRevenueCents": 0, "commissionType": "Percentage", "commissionValue": 10},
    {"minRevenueCents": 10_000, "commissionType": "Percentage", "commissionValue": 12.5},
    {"minRevenueCents": 10**12, "commissionType": "Fixed", "commissionValue": 0},
]


def _url(program_id):
    return f"/api/v1/programs/{program_id}/performance-tiers"


def _with_currency(*tiers, currency="USD"):
    return [tier | {"currency": currency} for tier in tiers]


def _put(brand, program_id, body):
    return brand.call("PUT", _url(program_id), body)


def _build_tier(min_revenue_cents=0, **fields):
    return TIERS[0] | {"minRevenueCents": min_revenue_cents} | fields


def test_program_has_no_tiers_initially(brand):
    assert brand.get(_url(brand.program())).json == []


@pytest.mark.parametrize("body", [TIERS, {"tiers": TIERS}], ids=["array", "object"])
def test_tiers_are_replaced_returned_and_audited(brand, body):
    program_id, other = brand.program(), brand.program()
    _put(brand, program_id, [_build_tier(5)])
    _put(brand, other, [_build_tier(7)])

    answer = _put(brand, program_id, body)

    assert (answer.status_code, answer.json) == (200, _with_currency(*TIERS))
    assert brand.get(_url(program_id)).json == _with_currency(*TIERS)
    assert brand.get(_url(other)).json == _with_currency(_build_tier(7))
    assert brand.rows(
        "select action, entity_id, before, after from audit_entry where entity_id = %s"
        " order by created_at desc limit 1",
        str(program_id),
    ) == [
        (
            "program.performance_tiers_changed",
            str(program_id),
            {"tiers": _with_currency(_build_tier(5))},
            {"tiers": _with_currency(*TIERS)},
        )
    ]


@pytest.mark.parametrize("body", [[], {"tiers": []}])
def test_empty_list_clears_the_tiers(brand, body):
    program_id = brand.program()
    _put(brand, program_id, TIERS)

    answer = _put(brand, program_id, body)

    assert (answer.status_code, answer.json) == (200, [])
    assert brand.get(_url(program_id)).json == []


def test_unchanged_tiers_are_not_audited(brand):
    program_id = brand.program()

    first, repeated = _put(brand, program_id, TIERS), _put(brand, program_id, TIERS)

    assert first.json == repeated.json
    assert brand.rows("select count(*) from audit_entry") == [(1,)]


@pytest.mark.parametrize(
    ("second", "field"),
    [
        (_build_tier(0), "minRevenueCents"),
        (_build_tier(-1), "minRevenueCents"),
        (_build_tier(1.5), "minRevenueCents"),
        (_build_tier("10"), "minRevenueCents"),
        (_build_tier(True), "minRevenueCents"),
        (_build_tier(None), "minRevenueCents"),
        (_build_tier(10**18), "minRevenueCents"),
        (_build_tier(5, commissionType="percentage"), "commissionType"),
        (_build_tier(5, commissionType="Percentage\x00"), "commissionType"),
        (_build_tier(5, commissionType=None), "commissionType"),
        (_build_tier(5, commissionValue="10"), "commissionValue"),
        (_build_tier(5, commissionValue=None), "commissionValue"),
        (_build_tier(5, commissionValue=0.1234567), "commissionValue"),
        ({"minRevenueCents": 5, "commissionType": "Fixed"}, "commissionValue"),
        ({"minRevenueCents": 5, "commissionValue": 1}, "commissionType"),
        ({"commissionType": "Fixed", "commissionValue": 1}, "minRevenueCents"),
    ],
)
def test_malformed_tier_is_named_by_its_position(brand, second, field):
    program_id = brand.program()
    _put(brand, program_id, TIERS)

    answer = _put(brand, program_id, [_build_tier(0), second])

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]["tiers"]) == ["1"]
    assert list(answer.json["errors"]["tiers"]["1"]) == [field]
    assert brand.get(_url(program_id)).json == _with_currency(*TIERS)


@pytest.mark.parametrize(("min_revenues", "position"), [([5, 4], "1"), ([1, 2, 2], "2"), ([1, 3, 2, 1], "2")])
def test_tiers_must_ascend(brand, min_revenues, position):
    answer = _put(brand, brand.program(), [_build_tier(cents) for cents in min_revenues])

    assert answer.status_code == 400
    assert list(answer.json["errors"]["tiers"]) == [position]


@pytest.mark.parametrize(
    "raw", [b"", b"null", b"5", b'"x"', b"{", b"{}", b'{"tiers": null}', b'{"tiers": {}}', b"[5]", b"[null]", b"[[]]",
            b'[{"minRevenueCents": 1, "minRevenueCents": 2}]', b"[" * 5000]
)  # fmt: skip
def test_malformed_list_of_tiers_is_refused(brand, raw):
    program_id = brand.program()
    _put(brand, program_id, TIERS)

    answer = _put(brand, program_id, raw)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert brand.get(_url(program_id)).json == _with_currency(*TIERS)


def test_more_than_twenty_tiers_are_refused(brand):
    program_id = brand.program()
    tiers = [_build_tier(cents) for cents in range(21)]

    assert _put(brand, program_id, tiers[:20]).status_code == 200
    assert _put(brand, program_id, tiers).status_code == 400
    assert len(brand.get(_url(program_id)).json) == 20


@pytest.mark.parametrize(
    ("model", "type", "value", "code", "field"),
    [
        ("Cps", "Percentage", 100.01, "percentage_out_of_range", "commissionValue"),
        ("Cps", "Percentage", -1, "percentage_out_of_range", "commissionValue"),
        ("Cps", "Fixed", 1_000_000.01, "fixed_commission_out_of_range", "commissionValue"),
        ("Cps", "Fixed", 10**18, "fixed_commission_out_of_range", "commissionValue"),
        ("Cpc", "Percentage", 5, "invalid_commission_type", "commissionType"),
        ("Cpl", "Fixed", 1000.01, "unit_fee_out_of_range", "commissionValue"),
    ],
)
def test_out_of_range_rate_is_refused(brand, *, model, type, value, code, field):
    program_id = brand.program(default_commission_model=model, default_commission_type="Fixed")
    valid = _build_tier(0, commissionType="Fixed", commissionValue=1)

    answer = _put(brand, program_id, [valid, _build_tier(5, commissionType=type, commissionValue=value)])

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, code, f"tiers.1.{field}")
    assert brand.get(_url(program_id)).json == []


def test_concurrent_replacements_leave_one_complete_list(brand):
    program_id = brand.program()
    lists = [[_build_tier(cents, commissionValue=number) for cents in (0, number, 50)] for number in (1, 2, 3)]

    answers = run_concurrently(*[lambda tiers=tiers: _put(brand, program_id, tiers) for tiers in lists])

    assert [answer.status_code for answer in answers] == [200] * 3
    assert brand.get(_url(program_id)).json in [_with_currency(*tiers) for tiers in lists]


def test_sale_is_paid_by_the_reached_tier(brand, drain):
    program_id = brand.program()
    brand.affiliate("ben")
    _put(brand, program_id, TIERS)

    for _ in range(2):
        brand.sale(amountCents=10_000)
        drain()
    _put(brand, program_id, [])
    brand.sale(amountCents=10_000)
    drain()

    assert brand.rows("select rate_source, commission_cents from conversion order by commission_cents") == [
        ("tier", 1_000),
        ("tier", 1_250),
        ("program", 2_000),
    ]


def test_other_tenants_program_returns_404(brand, rival):
    rival_program = rival.program()
    _put(rival, rival_program, TIERS)

    for program_id in (rival_program, UNKNOWN_ID, "x"):
        for answer in (brand.get(_url(program_id)), _put(brand, program_id, [5])):
            assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.get(_url(rival_program)).json == _with_currency(*TIERS)


def test_tiers_of_an_archived_program_are_read_only(brand):
    program_id = brand.program(archived_at=datetime.now(UTC))

    answer = _put(brand, program_id, TIERS)

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")
    assert brand.get(_url(program_id)).json == []


def test_tiers_need_a_plan_and_a_write_key_or_a_manager(app, brand):
    program_id = brand.program()
    free = Brand.create(app, plan="Free")
    free_program_id = free.program()

    for caller in (brand.other_key(scope="read"), brand.person("Viewer")):
        assert caller.get(_url(program_id)).status_code == 200
        assert _put(caller, program_id, TIERS).status_code == 403
    assert free.get(_url(free_program_id)).status_code == 402
    assert _put(free, free_program_id, TIERS).json["error"] == "plan_tier_required"
    assert _put(free.person("Manager"), free_program_id, TIERS).status_code == 200


def test_repeated_idempotency_key_returns_the_first_answer(brand):
    program_id = brand.program()

    first = brand.call("PUT", _url(program_id), TIERS, Idempotency_Key="once")
    _put(brand, program_id, [])
    repeated = brand.call("PUT", _url(program_id), TIERS, Idempotency_Key="once")

    assert (repeated.status_code, repeated.json) == (200, first.json)
    assert brand.get(_url(program_id)).json == []

"""Partner groups of a program, through HTTP."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.lists import count_round_trips
from tests.support.rows.brands import Brand

BODY = {"name": "Friends", "commissionType": "Percentage", "commissionValue": 30}
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def _url(program_id, group_id=None):
    return f"/api/v1/programs/{program_id}/partner-groups" + (f"/{group_id}" if group_id else "")


def _create_group(brand, program_id, **fields):
    answer = brand.post(_url(program_id), BODY | fields)
    assert answer.status_code == 201, answer.json
    return answer.json


def test_group_is_created_returned_and_audited(brand):
    program_id = brand.program()

    answer = brand.post(_url(program_id), BODY | {"name": "  Freunde ☕ ", "commissionValue": 12.345678})

    group = answer.json
    assert answer.status_code == 201
    assert {name: group[name] for name in group if name not in ("id", "createdAt")} == {
        "programId": str(program_id),
        "name": "Freunde ☕",
        "commissionType": "Percentage",
        "commissionValue": 12.345678,
        "affiliateCount": 0,
    }
    assert brand.get(_url(program_id, group["id"])).json == group
    assert brand.rows("select action, entity_type, entity_id, before, after from audit_entry") == [
        ("partner_group.created", "partner_group", group["id"], None, group)
    ]


def test_groups_are_listed_oldest_first_with_affiliate_counts(brand):
    program_id = brand.program()
    first, second = _create_group(brand, program_id), _create_group(brand, program_id, name="Press")
    of_other_program = _create_group(brand, brand.program())
    for slug in ("ben", "zoe"):
        brand.affiliate(slug, program_id=program_id, partner_group_id=first["id"])
    brand.affiliate("gone", program_id=program_id, partner_group_id=first["id"], deleted_at=datetime.now(UTC))
    brand.affiliate("free", program_id=program_id)

    groups = brand.get(_url(program_id)).json

    assert groups == [first | {"affiliateCount": 2}, second]
    assert brand.get(_url(program_id, first["id"])).json["affiliateCount"] == 2
    assert of_other_program["id"] not in [group["id"] for group in groups]


def test_round_trips_do_not_grow_with_groups(brand):
    program_id = brand.program()
    _create_group(brand, program_id)
    trips_before = count_round_trips(lambda: brand.get(_url(program_id)))
    for number in range(5):
        _create_group(brand, program_id, name=f"Group {number}")

    assert count_round_trips(lambda: brand.get(_url(program_id))) == trips_before


@pytest.mark.parametrize(
    ("field", "value"), [("name", "Press"), ("commissionType", "Fixed"), ("commissionValue", 0), ("name", "x" * 100)]
)
def test_patch_of_one_field_changes_only_that_field(brand, field, value):
    program_id = brand.program()
    before = _create_group(brand, program_id)

    answer = brand.call("PATCH", _url(program_id, before["id"]), {field: value})

    assert (answer.status_code, answer.json) == (200, before | {field: value})
    assert brand.get(_url(program_id, before["id"])).json == answer.json
    assert brand.rows("select before, after from audit_entry where action = 'partner_group.updated'") == [
        (before, answer.json)
    ]


@pytest.mark.parametrize("changes", [{}, BODY, {"surprise": 1}])
def test_empty_patch_is_not_audited(brand, changes):
    program_id = brand.program()
    before = _create_group(brand, program_id)

    answer = brand.call("PATCH", _url(program_id, before["id"]), changes)

    assert (answer.status_code, answer.json) == (200, before)
    assert brand.rows("select action from audit_entry") == [("partner_group.created",)]


@pytest.mark.parametrize(
    "fields",
    [
        {"name": None},
        {"name": ""},
        {"name": " "},
        {"name": "x" * 101},
        {"name": "nul\x00"},
        {"name": 5},
        {"commissionType": "percentage"},
        {"commissionType": None},
        {"commissionValue": None},
        {"commissionValue": "30"},
        {"commissionValue": True},
        {"commissionValue": 0.1234567},
    ],
)
def test_malformed_field_is_named_in_problem_details(brand, fields):
    program_id = brand.program()
    group = _create_group(brand, program_id)

    created = brand.post(_url(program_id), BODY | fields)
    changed = brand.call("PATCH", _url(program_id, group["id"]), fields)

    for answer in (created, changed):
        assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
        assert list(answer.json["errors"]) == list(fields)
    assert brand.get(_url(program_id)).json == [group]


@pytest.mark.parametrize("missing", list(BODY))
def test_missing_field_of_a_new_group_is_named(brand, missing):
    answer = brand.post(_url(brand.program()), {name: BODY[name] for name in BODY if name != missing})

    assert (answer.status_code, list(answer.json["errors"])) == (400, [missing])


@pytest.mark.parametrize(
    ("model", "type", "value", "code", "field"),
    [
        ("Cps", "Percentage", 100.01, "percentage_out_of_range", "commissionValue"),
        ("Cps", "Percentage", -1, "percentage_out_of_range", "commissionValue"),
        ("Cps", "Fixed", 1_000_000.01, "fixed_commission_out_of_range", "commissionValue"),
        ("Cps", "Fixed", -1, "fixed_commission_out_of_range", "commissionValue"),
        ("Cps", "Fixed", 10**18, "fixed_commission_out_of_range", "commissionValue"),
        ("Cpc", "Percentage", 5, "invalid_commission_type", "commissionType"),
        ("Cpl", "Percentage", 5, "invalid_commission_type", "commissionType"),
        ("Cpc", "Fixed", 1000.01, "unit_fee_out_of_range", "commissionValue"),
    ],
)
def test_out_of_range_rate_is_refused(brand, *, model, type, value, code, field):
    program_id = brand.program(default_commission_model=model, default_commission_type="Fixed")
    group = _create_group(brand, program_id, commissionType="Fixed", commissionValue=1)
    rate = {"commissionType": type, "commissionValue": value}

    created = brand.post(_url(program_id), {"name": "Press"} | rate)
    changed = brand.call("PATCH", _url(program_id, group["id"]), rate)

    for answer in (created, changed):
        assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, code, field)
    assert brand.get(_url(program_id)).json == [group]


def test_changed_type_is_validated_with_the_unchanged_value(brand):
    program_id = brand.program()
    group = _create_group(brand, program_id, commissionType="Fixed", commissionValue=150)

    answer = brand.call("PATCH", _url(program_id, group["id"]), {"commissionType": "Percentage"})

    assert (answer.status_code, answer.json["error"]) == (400, "percentage_out_of_range")


def test_name_is_unique_in_a_program(brand):
    program_id, other = brand.program(), brand.program()
    _create_group(brand, program_id)
    press = _create_group(brand, program_id, name="Press")
    _create_group(brand, other)

    created = brand.post(_url(program_id), BODY | {"name": " Friends "})
    changed = brand.call("PATCH", _url(program_id, press["id"]), {"name": "Friends"})

    for answer in (created, changed):
        assert (answer.status_code, answer.json["error"], answer.json["field"]) == (
            409,
            "partner_group_name_taken",
            "name",
        )


def test_concurrent_groups_with_one_name_leave_one_winner(brand):
    program_id = brand.program()

    answers = run_concurrently(*[lambda: brand.post(_url(program_id), BODY) for _ in range(4)])

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]


def test_concurrent_patches_of_different_fields_all_apply(brand):
    program_id = brand.program()
    group = _create_group(brand, program_id)
    changes = [{"name": "Press"}, {"commissionType": "Fixed"}, {"commissionValue": 7}]

    run_concurrently(
        *[lambda change=change: brand.call("PATCH", _url(program_id, group["id"]), change) for change in changes]
    )

    group_after = brand.get(_url(program_id, group["id"])).json
    assert (group_after["name"], group_after["commissionType"], group_after["commissionValue"]) == ("Press", "Fixed", 7)


def test_number_of_groups_is_limited_to_100(brand):
    program_id = brand.program()
    brand.rows(
        "insert into partner_group (id, organization_id, program_id, name, commission_type, commission_value,"
        " commission_currency)"
        " select gen_random_uuid(), organization_id, id, 'Group ' || number, 'Fixed', 1, 'USD' from program,"
        " generate_series(1, 98) number where id = %s returning id",
        program_id,
    )

    names = ["a", "b", "c", "d"]
    answers = run_concurrently(
        *[lambda name=name: brand.post(_url(program_id), BODY | {"name": name}) for name in names]
    )

    refused = [answer.json["error"] for answer in answers if answer.status_code == 409]
    assert refused == ["partner_group_limit_reached"] * 2
    assert brand.rows("select count(*) from partner_group") == [(100,)]


def test_affiliates_of_a_deleted_group_leave_it_and_keep_their_commission(brand, drain):
    program_id = brand.program(default_commission_value=Decimal(20))
    group, press = _create_group(brand, program_id), _create_group(brand, program_id, name="Press")
    brand.affiliate("ben", partner_group_id=group["id"])
    brand.affiliate("gone", partner_group_id=group["id"], deleted_at=datetime.now(UTC))
    brand.affiliate("zoe", partner_group_id=press["id"])
    brand.sale()
    drain()

    answer = brand.call("DELETE", _url(program_id, group["id"]))

    brand.sale()
    drain()
    assert (answer.status_code, answer.data) == (204, b"")
    assert brand.get(_url(program_id)).json == [press | {"affiliateCount": 1}]
    assert brand.rows("select email from affiliate where partner_group_id is not null") == [("zoe@example.com",)]
    assert brand.rows("select commission_cents from conversion order by commission_cents") == [(2_000,), (3_000,)]
    assert brand.rows("select before, after from audit_entry where action = 'partner_group.deleted'") == [
        (group | {"affiliateCount": 1}, None)
    ]


def test_group_is_deleted_once(brand):
    program_id = brand.program()
    group = _create_group(brand, program_id)
    url = _url(program_id, group["id"])

    answers = run_concurrently(*[lambda: brand.call("DELETE", url) for _ in range(3)])

    assert sorted(answer.status_code for answer in answers) == [204, 404, 404]
    assert brand.get(url).status_code == 404


def test_sale_is_paid_by_the_groups_rate_at_its_time(brand, drain):
    program_id = brand.program()
    group = _create_group(brand, program_id)
    brand.affiliate("ben", partner_group_id=group["id"])
    brand.sale()
    drain()

    brand.call("PATCH", _url(program_id, group["id"]), {"commissionValue": 0})
    brand.sale()
    drain()

    assert brand.rows("select rate_source, commission_cents from conversion order by commission_cents") == [
        ("group", 0),
        ("group", 3_000),
    ]


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_other_tenants_or_programs_group_returns_404(brand, rival, method):
    program_id, other = brand.program(), brand.program()
    rival_program = rival.program()
    group, rival_group = _create_group(brand, program_id), _create_group(rival, rival_program)
    body = {"name": 5} if method in ("POST", "PATCH") else None
    program_urls = [_url(rival_program), _url(UNKNOWN_ID), _url("x")] if method in ("GET", "POST") else []
    group_urls = [
        _url(rival_program, rival_group["id"]),
        _url(program_id, rival_group["id"]),
        _url(other, group["id"]),
        _url(program_id, UNKNOWN_ID),
        _url(program_id, "x"),
    ]

    for url in [*program_urls, *(group_urls if method != "POST" else [])]:
        answer = brand.call(method, url, body)
        assert (answer.status_code, answer.json["error"]) == (404, "not_found"), url
    assert rival.get(_url(rival_program)).json == [rival_group]


def test_groups_of_an_archived_program_are_read_only(brand):
    program_id = brand.program()
    group = _create_group(brand, program_id)
    brand.call("DELETE", f"/api/v1/programs/{program_id}")

    answers = [
        brand.post(_url(program_id), BODY | {"name": "Press"}),
        brand.call("PATCH", _url(program_id, group["id"]), {"name": "Press"}),
        brand.call("DELETE", _url(program_id, group["id"])),
    ]

    assert brand.get(_url(program_id)).json == [group]
    for answer in answers:
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_groups_need_a_plan_and_a_write_key_or_a_manager(app, brand):
    program_id = brand.program()
    free = Brand.create(app, plan="Free")
    free_program_id = free.program()
    reader, viewer, manager = brand.other_key(scope="read"), brand.person("Viewer"), brand.person("Manager")
    group = _create_group(manager, program_id)
    url = _url(program_id, group["id"])

    for caller in (reader, viewer):
        assert caller.get(_url(program_id)).json == [group]
        assert caller.get(url).status_code == 200
        assert caller.post(_url(program_id), BODY | {"name": "x"}).status_code == 403
        assert caller.call("PATCH", url, {"name": "x"}).status_code == 403
        assert caller.call("DELETE", url).status_code == 403
    assert free.get(_url(free_program_id)).status_code == 402
    assert free.post(_url(free_program_id), BODY).json["error"] == "plan_tier_required"
    assert free.person("Manager").post(_url(free_program_id), BODY).status_code == 201
    assert manager.call("DELETE", url).status_code == 204


def test_repeated_idempotency_key_creates_one_group(brand):
    url = _url(brand.program())

    first = brand.post(url, BODY, Idempotency_Key="once")
    repeated = brand.post(url, BODY, Idempotency_Key="once")

    assert (repeated.status_code, repeated.json) == (201, first.json)
    assert repeated.headers["Idempotency-Replayed"] == "true"

"""Changing a program, through HTTP."""

import pytest

from models import db
from models.programs import programs
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Brand

URL = "/api/v1/programs"
SALES = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
CLICKS = SALES | {
    "defaultCommissionModel": "Cpc",
    "defaultCommissionType": "Fixed",
    "defaultCommissionValue": 1,
    "saleCommissionType": "Percentage",
    "saleCommissionValue": 5,
}


def _create(brand, body=SALES, **fields):
    answer = brand.post(URL, body | fields)
    assert answer.status_code == 201, answer.json
    return answer.json


def _change(brand, program_id, **fields):
    return brand.call("PATCH", f"{URL}/{program_id}", fields)


def _differences(before, after):
    return {name: after[name] for name in after if name != "warnings" and after[name] != before[name]}


def _currency_of(field, code):
    """Return the currency field that accompanies an amount field, or nothing for other fields."""
    return {field.replace("Cents", "Currency"): code} if field.endswith("Cents") else {}


@pytest.mark.parametrize(
    ("base", "field", "value"),
    [
        (SALES, "name", "Été ☀"),
        (SALES, "slug", "another-slug"),
        (SALES, "description", "Two\nlines"),
        (SALES, "termsUrl", "https://brand.test/terms"),
        (SALES, "isActive", False),
        (SALES, "isPrimary", True),
        (SALES, "defaultCommissionType", "Fixed"),
        (SALES, "defaultCommissionValue", 12.345678),
        (SALES, "cookieWindowDays", 7),
        (SALES, "recurringMonths", 0),
        (SALES, "recurringDelayInvoices", 3),
        (SALES, "attributionModel", "FirstTouch"),
        (SALES, "autoApprove", True),
        (SALES, "networkVisibility", "InviteOnly"),
        (SALES, "isPubliclyDiscoverable", False),
        (SALES, "customDomain", "one.changes.example"),
        (SALES, "budgetCents", 5_000),
        (SALES, "referralDestinationUrl", "https://brand.test/welcome"),
        (SALES, "minPayoutCents", 2_500),
        (SALES, "hostedCheckoutDoorEnabled", True),
        (SALES, "hostedCheckoutDoorMode", "email"),
        (SALES, "hostedCheckoutThankYouUrl", "https://brand.test/thanks"),
        (SALES, "leadBountyCents", 250),
        (CLICKS, "leadBountyCents", 250),
        (CLICKS, "defaultCommissionModel", "Cpl"),
        (CLICKS, "defaultCommissionValue", 2.5),
        (CLICKS, "saleCommissionType", "Fixed"),
        (CLICKS, "saleCommissionValue", 7.25),
    ],
)
def test_patch_of_one_field_changes_only_that_field(brand, base, field, value):
    before = _create(brand, base)

    answer = _change(brand, before["id"], **{field: value})

    assert answer.status_code == 200
    assert _differences(before, answer.json) == {
        field: value,
        "updatedAt": answer.json["updatedAt"],
        **_currency_of(field, "USD"),
    }
    assert answer.json["updatedAt"] > before["updatedAt"]
    program = {name: value for name, value in answer.json.items() if name != "warnings"}
    assert brand.get(f"{URL}/{before['id']}").json == program


NULLABLE_FIELDS = {
    "description": "x",
    "termsUrl": "https://brand.test/terms",
    "recurringMonths": 6,
    "budgetCents": 1,
    "referralDestinationUrl": "https://brand.test/",
    "minPayoutCents": 1,
    "hostedCheckoutThankYouUrl": "https://brand.test/thanks",
    "leadBountyCents": 10,
    "clickRewardCents": 1,
}


@pytest.mark.parametrize(
    ("field", "cleared_by"),
    [
        *((field, None) for field in NULLABLE_FIELDS),
        ("recurringMonths", -1),
        ("leadBountyCents", 0),
        ("clickRewardCents", 0),
        ("hostedCheckoutThankYouUrl", ""),
    ],
)
def test_field_is_cleared(brand, field, cleared_by):
    before = _create(brand, **NULLABLE_FIELDS)

    after = _change(brand, before["id"], **{field: cleared_by}).json

    assert _differences(before, after) == {field: None, "updatedAt": after["updatedAt"], **_currency_of(field, None)}


def test_every_returned_field_can_be_sent_back(brand):
    program = _create(brand, **NULLABLE_FIELDS)

    answer = _change(brand, program["id"], **program)

    assert (answer.status_code, answer.json) == (200, program)


@pytest.mark.parametrize("fields", [{}, {"name": "Spring"}, {"surprise": 1}, {"clickRewardCents": 0}])
def test_empty_patch_is_not_audited(brand, fields):
    before = _create(brand)

    answer = _change(brand, before["id"], **fields)

    assert (answer.status_code, answer.json) == (200, before)
    assert brand.rows("select action from audit_entry") == [("program.created",)]


def test_patch_is_audited_with_before_and_after_and_sends_no_webhook(brand):
    before = _create(brand)

    after = _change(brand, before["id"], name="Summer").json

    assert brand.rows(
        "select entity_id, actor_type, before, after from audit_entry where action = 'program.updated'"
    ) == [(before["id"], "api_key", before, after)]
    assert brand.rows("select count(*) from event") == [(0,)]


@pytest.mark.parametrize(
    "fields",
    [
        {"name": None},
        {"name": "  "},
        {"name": 5},
        {"name": "x" * 201},
        {"name": "nul\x00"},
        {"slug": None},
        {"slug": "No Slug"},
        {"slug": "ab"},
        {"slug": "-ab-"},
        {"slug": "ünder"},
        {"description": 1},
        {"termsUrl": "ftp://brand.test"},
        {"isActive": None},
        {"isActive": "yes"},
        {"isPrimary": None},
        {"isPrimary": 1},
        {"defaultCommissionType": None},
        {"defaultCommissionType": "fixed"},
        {"defaultCommissionValue": None},
        {"defaultCommissionValue": "20"},
        {"defaultCommissionValue": 0.1234567},
        {"defaultCommissionModel": None},
        {"defaultCommissionModel": "Cpx"},
        {"saleCommissionType": "percentage"},
        {"saleCommissionValue": True},
        {"cookieWindowDays": None},
        {"cookieWindowDays": 0},
        {"cookieWindowDays": 10**18},
        {"recurringMonths": -2},
        {"recurringMonths": 1.5},
        {"recurringDelayInvoices": None},
        {"recurringDelayInvoices": -1},
        {"attributionModel": None},
        {"autoApprove": None},
        {"networkVisibility": None},
        {"networkVisibility": "Public"},
        {"isPubliclyDiscoverable": None},
        {"budgetCents": 1.5},
        {"minPayoutCents": -1},
        {"minPayoutCents": 10**18},
        {"hostedCheckoutDoorEnabled": None},
        {"leadBountyCents": "250"},
        {"clickRewardCents": [1]},
        {"customDomain": ""},
        {"customDomain": 5},
        {"customDomain": "localhost"},
        {"customDomain": "https://brand.test"},
        {"customDomain": "brand.test:443"},
        {"customDomain": "brand.test/portal"},
        {"customDomain": "10.0.0.1"},
        {"customDomain": "[::1]"},
        {"customDomain": "münchen.example"},
        {"customDomain": "\u212aelvin.example"},
        {"customDomain": "brand.test\x00"},
        {"customDomain": f"{'a' * 64}.example"},
        {"customDomain": ".".join(["a" * 60] * 5)},
    ],
)
def test_malformed_field_is_named_in_problem_details(brand, fields):
    before = _create(brand)

    answer = _change(brand, before["id"], **fields)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == list(fields)
    assert brand.get(f"{URL}/{before['id']}").json == before


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b'{"name": NaN}', b"\xff"])
def test_non_object_body_returns_400(brand, raw):
    program_id = brand.program()

    assert brand.call("PATCH", f"{URL}/{program_id}", raw).status_code == 400


def test_concurrent_patches_of_different_fields_all_apply(brand):
    program_id = brand.program()
    fields = {
        "name": "Summer",
        "description": "x",
        "cookieWindowDays": 7,
        "budgetCents": 99,
        "isActive": False,
        "slug": "another",
        "isPrimary": True,
        "minPayoutCents": 5,
    }

    run_concurrently(*[lambda field=field: _change(brand, program_id, **dict([field])) for field in fields.items()])

    program = brand.get(f"{URL}/{program_id}").json
    assert {name: program[name] for name in fields} == fields
    assert brand.rows("select count(*) from audit_entry where action = 'program.updated'") == [(len(fields),)]


def test_enrollment_does_not_wait_for_a_patch_of_its_program(brand):
    program_id = brand.program()

    with db.unit_of_work(brand.id):
        programs.lock(organization_id=brand.id, program_id=program_id)
        affiliate_ids = run_concurrently(lambda: brand.affiliate("ben", program_id=program_id))

    assert brand.rows("select id from affiliate") == [(affiliate_ids[0],)]


def test_repeated_idempotency_key_patches_once(brand):
    program_id = brand.program()
    url = f"{URL}/{program_id}"

    first = brand.call("PATCH", url, {"name": "Summer"}, Idempotency_Key="k")
    _change(brand, program_id, name="Autumn")
    repeated = brand.call("PATCH", url, {"name": "Summer"}, Idempotency_Key="k")

    assert (repeated.json, repeated.headers["Idempotency-Replayed"]) == (first.json, "true")
    assert brand.get(url).json["name"] == "Autumn"


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_other_tenants_program_returns_404(brand, rival, method):
    other_tenants = rival.program()
    for program_id in (other_tenants, "01890000-0000-7000-8000-000000000000", "x"):
        answer = brand.call(method, f"{URL}/{program_id}", {"name": 5} if method == "PATCH" else None)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.rows("select name, archived_at from program") == [("Campaign", None)]


def test_patch_needs_a_write_key_with_a_plan_or_a_manager(app, brand):
    program_id = brand.program()
    free = Brand.create(app, plan="Free")
    free_program_id = free.program()

    with_read_key = _change(brand.other_key(scope="read"), program_id, name="x")
    on_free_plan = _change(free, free_program_id, leadBountyCents=50)

    assert (with_read_key.status_code, with_read_key.json["error"]) == (403, "forbidden")
    assert "read_write" in with_read_key.json["message"]
    assert (on_free_plan.status_code, on_free_plan.json["error"]) == (402, "plan_tier_required")
    assert set(on_free_plan.json) == {"error", "message", "required", "current", "trialing", "doc_url"}
    assert _change(free.person("Manager"), free_program_id, leadBountyCents=50).json["leadBountyCents"] == 50
    assert _change(brand.person("Manager", is_email_verified=False), program_id, name="y").status_code == 200
    assert _change(brand.person("Viewer"), program_id, name="z").status_code == 403

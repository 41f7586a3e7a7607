"""Creation of programs, through HTTP."""

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Brand

MINIMAL = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
URL = "/api/v1/programs"


def _create(brand, **fields):
    return brand.post(URL, MINIMAL | fields)


def test_new_program_is_returned_with_every_field(brand):
    answer = _create(brand, name="  Café & Friends ", termsUrl="https://brand.test/terms", recurringMonths=0)

    assert answer.status_code == 201
    assert {name: answer.json[name] for name in answer.json if name not in ("id", "createdAt", "updatedAt")} == {
        "name": "Café & Friends",
        "slug": "cafe-friends",
        "description": None,
        "termsUrl": "https://brand.test/terms",
        "isActive": True,
        "defaultCommissionType": "Percentage",
        "defaultCommissionValue": 20,
        "feeCurrency": None,
        "defaultCommissionModel": "Cps",
        "saleCommissionType": None,
        "saleCommissionValue": None,
        "cookieWindowDays": 30,
        "recurringMonths": 0,
        "recurringDelayInvoices": 0,
        "attributionModel": "LastTouch",
        "autoApprove": False,
        "customDomain": None,
        "customDomainVerified": False,
        "networkVisibility": "Private",
        "networkReview": None,
        "applicationForm": None,
        "landingPageConfig": None,
        "category": None,
        "isPubliclyDiscoverable": True,
        "budgetCents": None,
        "budgetCurrency": None,
        "referralDestinationUrl": None,
        "minPayoutCents": None,
        "minPayoutCurrency": None,
        "hostedCheckoutDoorEnabled": False,
        "hostedCheckoutDoorMode": "redirect",
        "hostedCheckoutThankYouUrl": None,
        "leadBountyCents": None,
        "leadBountyCurrency": None,
        "clickRewardCents": None,
        "clickRewardCurrency": None,
        "isPrimary": False,
        "archivedAt": None,
    }
    assert answer.json["createdAt"].endswith("Z")
    assert brand.get(f"{URL}/{answer.json['id']}").json == answer.json


def test_creation_is_audited_and_sends_no_webhook(brand):
    answer = _create(brand)

    rows = brand.rows("select action, entity_type, entity_id, actor_type, after->>'name' from audit_entry")
    assert rows == [("program.created", "program", answer.json["id"], "api_key", "Spring")]
    assert brand.rows("select count(*) from event") == [(0,)]


def test_fractional_values_are_returned_unchanged(brand):
    answer = _create(brand, defaultCommissionValue=12.345678)

    assert brand.get(f"{URL}/{answer.json['id']}").json["defaultCommissionValue"] == 12.345678


def test_slug_is_unique_per_organization(brand, rival):
    first = _create(brand, slug="summer-sale")
    second = _create(brand, slug="summer-sale")
    elsewhere = _create(rival, slug="summer-sale")

    assert (first.status_code, elsewhere.status_code) == (201, 201)
    assert (second.status_code, second.json["error"], second.json["field"]) == (409, "slug_already_taken", "slug")


def test_concurrent_programs_with_one_slug_leave_one_winner(brand):
    answers = run_concurrently(*[lambda: _create(brand, slug="summer-sale") for _ in range(4)])

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert {answer.json.get("error") for answer in answers} == {None, "slug_already_taken"}


def test_new_primary_program_replaces_the_previous_one(brand):
    first = _create(brand, isPrimary=True).json
    second = _create(brand, isPrimary=True).json

    assert (first["isPrimary"], second["isPrimary"]) == (True, True)
    assert brand.get(f"{URL}/{first['id']}").json["isPrimary"] is False
    assert brand.get(f"{URL}/{second['id']}").json["isPrimary"] is True


def test_concurrent_primary_programs_leave_one_primary(brand):
    answers = run_concurrently(*[lambda: _create(brand, isPrimary=True) for _ in range(4)])

    assert [answer.status_code for answer in answers] == [201] * 4
    assert brand.rows("select count(*) from program where is_primary") == [(1,)]


def test_derived_slug_avoids_taken_slugs(brand):
    first, second = _create(brand), _create(brand)

    assert first.json["slug"] == "spring"
    assert second.status_code == 201
    assert second.json["slug"].startswith("spring-")


@pytest.mark.parametrize(("name", "slug"), [("日本語", "program"), ("X", "program-x"), ("a" * 200, "a" * 48)])
def test_slug_is_derived_from_any_name(brand, name, slug):
    assert _create(brand, name=name).json["slug"] == slug


@pytest.mark.parametrize(
    "fields",
    [
        {"name": None},
        {"name": "   "},
        {"name": 5},
        {"name": "x" * 201},
        {"name": "nul\x00"},
        {"name": ["Spring"]},
        {"slug": "No Slug"},
        {"slug": "ab"},
        {"slug": "-ab-"},
        {"slug": "x" * 65},
        {"description": {"de": "nein"}},
        {"termsUrl": "ftp://brand.test"},
        {"termsUrl": "https://["},
        {"termsUrl": "https:// brand.test"},
        {"referralDestinationUrl": "brand.test"},
        {"defaultCommissionType": "percentage"},
        {"defaultCommissionType": None},
        {"defaultCommissionValue": "20"},
        {"defaultCommissionValue": True},
        {"defaultCommissionValue": None},
        {"defaultCommissionValue": 0.1234567},
        {"defaultCommissionModel": "Hybrid"},
        {"cookieWindowDays": 0},
        {"cookieWindowDays": 30.5},
        {"cookieWindowDays": 10**18},
        {"recurringMonths": -1},
        {"recurringMonths": 10**18},
        {"recurringDelayInvoices": -1},
        {"attributionModel": "MiddleTouch"},
        {"autoApprove": "yes"},
        {"autoApprove": 1},
        {"networkVisibility": "Public"},
        {"budgetCents": 1.5},
        {"budgetCents": [1]},
        {"minPayoutCents": -1},
        {"minPayoutCents": 10**18},
        {"hostedCheckoutDoorEnabled": "true"},
        {"isPrimary": 1},
    ],
)
def test_malformed_field_is_named_in_problem_details(brand, fields):
    answer = _create(brand, **fields)

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
    assert list(answer.json["errors"]) == list(fields)
    assert brand.rows("select count(*) from program") == [(0,)]


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b'"x"', b'{"name": NaN}', b"\xff", b"[" * 5000])
def test_non_object_body_returns_400(brand, raw):
    assert brand.post(URL, raw).status_code == 400


def test_unknown_fields_are_ignored(brand):
    assert _create(brand, surprise=[1], id="mine").status_code == 201


def test_repeated_idempotency_key_creates_one_program(brand):
    first = brand.post(URL, MINIMAL, Idempotency_Key="once")
    repeated = brand.post(URL, MINIMAL, Idempotency_Key="once")
    other = brand.post(URL, MINIMAL | {"name": "Other"}, Idempotency_Key="once")

    assert repeated.json == first.json
    assert repeated.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert brand.rows("select count(*) from program") == [(1,)]


def test_creation_needs_a_plan_and_a_write_scope(app, brand):
    free, reader = Brand.create(app, plan="Free"), brand.other_key(scope="read")

    assert _create(free).json["error"] == "plan_tier_required"
    assert free.get(URL).status_code == 402
    assert _create(reader).status_code == 403
    assert reader.get(URL).status_code == 200

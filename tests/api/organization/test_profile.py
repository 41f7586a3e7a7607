"""The organization's profile. Source: core spec, "Other resources" (profile) and section 4 (who changes it)."""

from uuid import uuid4

import pytest

from pipelines.conversions import renewal
from tests.support.rows.program_rows import insert_conversion

URL = "/api/organizations/me"


def _patch(caller, **changes):
    headers = {name: changes.pop(name) for name in list(changes) if name == "Idempotency_Key"}
    return caller.call("PATCH", URL, changes, **headers)


def _list_changes(brand):
    return brand.rows("select before, after from audit_entry where action = 'org.profile_changed' order by created_at")


def test_every_field_is_returned(brand):
    view = brand.get(URL).json
    handle = brand.rows("select slug from organization")[0][0]

    effective = view.pop("effectiveAttributionParams")
    assert effective == view.pop("defaultAttributionParams")
    assert effective[0] == "via"
    assert view.pop("createdAt").endswith("Z")
    assert view == {
        "id": str(brand.id),
        "name": "Brand",
        "slug": handle,
        "subdomain": handle,
        "subdomainChangeCount": 0,
        "subdomainChangesMax": 3,
        "billingEmail": None,
        "timezone": "UTC",
        "primaryBrandColor": None,
        "logoUrl": None,
        "faviconUrl": None,
        "description": None,
        "industryCategory": None,
        "whiteLabelEnabled": False,
        "planTier": "Growth",
        "subscriptionStatus": "Active",
        "trialEndsAt": None,
        "homeCurrency": "USD",
        "largeSaleCents": None,
        "largeSaleCurrency": None,
        "payoutGraceDays": 30,
        "payoutGraceDaysMax": 90,
        "automaticPayoutEnabled": False,
        "automaticPayoutCadence": "Manual",
        "minPayoutCents": None,
        "minPayoutCurrency": None,
        "lastAutomaticPayoutAt": None,
        "customAttributionParams": None,
        "commissionBasis": "gross",
        "selfReferrals": "earn",
        "requireSecondFactor": False,
        "maxCustomAttributionParams": 10,
        "maxAttributionParamsChars": 256,
    }


def test_custom_attribution_parameters_are_returned(brand):
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})

    view = brand.get(URL).json
    assert view["customAttributionParams"] == "pk_ref"
    assert view["effectiveAttributionParams"][:2] == ["pk_ref", "via"]


def test_every_member_and_key_reads_the_profile_on_every_plan(brand):
    brand.set(plan="Free")

    assert brand.person("Viewer").get(URL).status_code == 200
    assert brand.other_key(scope="read").get(URL).status_code == 200


def _unique_suffix(brand) -> str:
    """Return a suffix unique to the test's organization."""
    return brand.id.hex[-8:]


CHANGES = {
    "name": "Café & Söhne",
    "billingEmail": "bills@example.com",
    "timezone": "Europe/Berlin",
    "primaryBrandColor": "#1a2b3c",
    "description": "Wir rösten.\n日本語",
    "industryCategory": "Coffee",
    "payoutGraceDays": 14,
    "automaticPayoutEnabled": True,
    "automaticPayoutCadence": "Biweekly",
    "minPayoutCents": 5000,
    "whiteLabelEnabled": True,
    "commissionBasis": "net",
    "selfReferrals": "hold",
}


def test_owners_change_is_stored_and_audited(owner):
    before = owner.get(URL).json

    changes = CHANGES | {"subdomain": f"cafe-{_unique_suffix(owner)}"}

    answer = _patch(owner, **changes)

    assert answer.status_code == 200
    assert answer.json == before | changes | {"subdomainChangeCount": 1, "minPayoutCurrency": "USD"}
    assert owner.get(URL).json == answer.json
    changed = [*changes, "subdomainChangeCount", "minPayoutCurrency"]
    assert _list_changes(owner) == [
        ({name: before[name] for name in changed}, {name: answer.json[name] for name in changed})
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": "  Acme  "}, {"name": "Acme"}),
        ({"primaryBrandColor": "#ABCDEF"}, {"primaryBrandColor": "#abcdef"}),
        ({"billingEmail": " Bills@Example.com"}, {"billingEmail": "bills@example.com"}),
        ({"payoutGraceDays": 0}, {"payoutGraceDays": 0}),
        ({"payoutGraceDays": 90}, {"payoutGraceDays": 90}),
        ({"minPayoutCents": 10**12}, {"minPayoutCents": 10**12}),
        ({"name": "x" * 200}, {"name": "x" * 200}),
        ({"timezone": "Asia/Kathmandu"}, {"timezone": "Asia/Kathmandu"}),
    ],
)
def test_value_is_stored_normalized(owner, change, expected):
    assert _patch(owner, **change).json.items() >= expected.items()


def test_null_clears_optional_fields(owner):
    assert _patch(owner, **CHANGES).status_code == 200
    empty = dict.fromkeys(("billingEmail", "primaryBrandColor", "description", "industryCategory", "minPayoutCents"))

    answer = _patch(owner, **empty)

    assert answer.json.items() >= (empty | {"minPayoutCurrency": None}).items()


def test_omitted_field_is_unchanged(owner):
    _patch(owner, **CHANGES)

    assert _patch(owner, name="Other").json["description"] == CHANGES["description"]


def test_unchanged_profile_is_not_audited(owner):
    answer = _patch(owner, name="Brand", payoutGraceDays=30)

    assert answer.status_code == 200
    assert _patch(owner).status_code == 200
    assert _list_changes(owner) == []


@pytest.mark.parametrize(
    "field",
    [
        {"planTier": "Pro"},
        {"plan_tier": "Pro"},
        {"subscriptionStatus": "Canceled"},
        {"id": str(uuid4())},
        {"organizationId": str(uuid4())},
        {"organization_id": str(uuid4())},
        {"role": "Owner"},
        {"homeCurrency": "EUR"},
        {"home_currency": "EUR"},
        {"slug": "other-slug"},
        {"trialEndsAt": "2030-01-01T00:00:00Z"},
        {"payoutGraceDaysMax": 365},
        {"payout_grace_days_max": 365},
        {"subdomainChangeCount": 0},
        {"subdomainChangesMax": 99},
        {"subdomain_change_count": -5},
        {"logoUrl": "https://evil.test/x.png"},
        {"logoFileId": str(uuid4())},
        {"logo_file_id": str(uuid4())},
        {"gateways": ["stripe"]},
        {"affiliateLimit": 10},
        {"portalHost": "evil.test"},
        {"lastAutomaticPayoutAt": "2030-01-01T00:00:00Z"},
        {"createdAt": "2030-01-01T00:00:00Z"},
        {"customAttributionParams": "zz"},
        {"__class__": "x"},
        {"": "x"},
    ],
)
def test_read_only_field_is_ignored(owner, field):
    before = owner.rows("select to_jsonb(o) from organization o")

    answer = owner.call("PATCH", URL, field)

    assert answer.status_code == 200
    assert owner.rows("select to_jsonb(o) from organization o") == before


@pytest.mark.parametrize(
    "field",
    [
        {"name": ""},
        {"name": "   "},
        {"name": None},
        {"name": 5},
        {"name": "x" * 201},
        {"name": "nul\x00"},
        {"subdomain": None},
        {"subdomain": "ab"},
        {"subdomain": "-ab-"},
        {"subdomain": "No.Dots"},
        {"subdomain": "x" * 64},
        {"subdomain": "größe"},
        {"billingEmail": "nobody"},
        {"billingEmail": ""},
        {"timezone": "Mars/Olympus"},
        {"timezone": "europe/berlin"},
        {"timezone": "../../etc/passwd"},
        {"timezone": None},
        {"timezone": ""},
        {"primaryBrandColor": "red"},
        {"primaryBrandColor": "#12345"},
        {"primaryBrandColor": "#1234567"},
        {"primaryBrandColor": "#12345g"},
        {"primaryBrandColor": "#123456\n"},
        {"description": 5},
        {"description": "x" * 5001},
        {"description": "nul\x00"},
        {"industryCategory": "x" * 101},
        {"payoutGraceDays": -1},
        {"payoutGraceDays": 10**18},
        {"payoutGraceDays": 14.5},
        {"payoutGraceDays": "14"},
        {"payoutGraceDays": True},
        {"payoutGraceDays": None},
        {"automaticPayoutEnabled": "yes"},
        {"automaticPayoutEnabled": None},
        {"automaticPayoutCadence": "Daily"},
        {"automaticPayoutCadence": "weekly"},
        {"automaticPayoutCadence": None},
        {"commissionBasis": "Net"},
        {"commissionBasis": None},
        {"selfReferrals": "Hold"},
        {"selfReferrals": None},
        {"minPayoutCents": -1},
        {"minPayoutCents": 10**12 + 1},
        {"minPayoutCents": 10**18},
        {"minPayoutCents": 0.5},
        {"whiteLabelEnabled": 1},
        [],
    ],
)
def test_malformed_field_is_named_and_nothing_is_changed(owner, field):
    body = {"industryCategory": "Tea"} | field if isinstance(field, dict) else field

    answer = owner.call("PATCH", URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == (list(field) if field else ["body"])
    assert owner.get(URL).json["industryCategory"] is None


def test_grace_days_are_limited_by_the_organization(owner):
    owner.rows("update organization set payout_grace_days_max = 60 returning id")

    answer = _patch(owner, payoutGraceDays=61)

    assert (answer.status_code, answer.json["error"]) == (400, "payout_grace_days_out_of_range")
    assert answer.json["field"] == "payoutGraceDays"
    assert _patch(owner, payoutGraceDays=60).status_code == 200


def test_new_grace_days_move_the_hold_of_pending_conversions(owner, brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    drain()

    _patch(owner, payoutGraceDays=3)

    assert brand.rows("select hold_until - occurred_at = interval '3 days' from conversion") == [(True,)]


@pytest.mark.parametrize("number", [1, 4, 5])
def test_hold_of_many_conversions_is_moved_in_batches(owner, brand, drain, monkeypatch, number):
    monkeypatch.setattr(renewal, "_BATCH", 2)
    brand.program()
    affiliate_id = brand.affiliate("ben")
    for _ in range(number):
        insert_conversion(brand, affiliate_id)
    paid_id = insert_conversion(brand, affiliate_id, status="Paid")

    _patch(owner, payoutGraceDays=3)
    moved_by_request = _list_rescheduled(brand)
    drain()

    assert (len(moved_by_request), len(_list_rescheduled(brand))) == (min(number, 2), number)
    assert paid_id not in _list_rescheduled(brand)


def _list_rescheduled(brand):
    rescheduled = brand.rows("select id from conversion where hold_until - occurred_at = interval '3 days'")
    return [conversion_id for (conversion_id,) in rescheduled]


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
def test_role_below_owner_cannot_change_the_profile(brand, role):
    answer = _patch(brand.person(role), name="Mine")

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


@pytest.mark.parametrize("scope", ["read", "read_write"])
def test_key_cannot_change_the_profile_and_gets_the_reason(brand, scope):
    answer = _patch(brand.other_key(scope=scope), name="Mine")

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "dashboard session" in answer.json["message"]
    assert brand.get(URL).json["name"] == "Brand"


def test_invalid_key_returns_an_empty_401(brand):
    brand.api_key = "ff_live_nonsense"
    answer = _patch(brand, name="Mine")

    assert (answer.status_code, answer.data) == (401, b"")


def test_repeated_idempotency_key_returns_the_first_answer(owner):
    first = _patch(owner, name="First", Idempotency_Key="k1")
    _patch(owner, name="Second")
    repeated = _patch(owner, name="First", Idempotency_Key="k1")

    assert (repeated.headers["Idempotency-Replayed"], repeated.json) == ("true", first.json)
    assert owner.get(URL).json["name"] == "Second"

"""The organization's profile. Source: core spec, "Other resources" (profile) and section 4 (who changes it)."""

from uuid import uuid4

import pytest

from pipelines.conversions import renewal
from tests.support.rows.program_rows import insert_conversion

URL = "/api/organizations/me"


def _patch(caller, **changes):
    headers = {name: changes.pop(name) for name in list(changes) if name == "Idempotency_Key"}
    return caller.call("PATCH", URL, changes, **headers)


def _audited(brand):
    return brand.rows("select before, after from audit_entry where action = 'org.profile_changed' order by created_at")


def test_every_field_is_shown(brand):
    shown = brand.get(URL).json
    handle = brand.rows("select slug from organization")[0][0]

    effective = shown.pop("effectiveAttributionParams")
    assert effective == shown.pop("defaultAttributionParams")
    assert effective[0] == "via"
    assert shown.pop("createdAt").endswith("Z")
    assert shown == {
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
        "maxCustomAttributionParams": 10,
        "maxAttributionParamsChars": 256,
    }


def test_custom_attribution_parameters_are_shown(brand):
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})

    shown = brand.get(URL).json
    assert shown["customAttributionParams"] == "pk_ref"
    assert shown["effectiveAttributionParams"][:2] == ["pk_ref", "via"]


def test_everybody_of_the_brand_reads_it_on_every_plan(brand):
    brand.set(plan="Free")

    assert brand.person("Viewer").get(URL).status_code == 200
    assert brand.other_key(scope="read").get(URL).status_code == 200


def _number(brand) -> str:
    # What no other test's organization is called.
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


def test_an_owner_changes_it_and_that_is_audited(owner):
    before = owner.get(URL).json

    changes = CHANGES | {"subdomain": f"cafe-{_number(owner)}"}

    answer = _patch(owner, **changes)

    assert answer.status_code == 200
    assert answer.json == before | changes | {"subdomainChangeCount": 1, "minPayoutCurrency": "USD"}
    assert owner.get(URL).json == answer.json
    changed = [*changes, "subdomainChangeCount", "minPayoutCurrency"]
    assert _audited(owner) == [
        ({name: before[name] for name in changed}, {name: answer.json[name] for name in changed})
    ]


@pytest.mark.parametrize(
    ("sent", "kept"),
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
def test_a_value_is_kept_in_its_plain_form(owner, sent, kept):
    assert _patch(owner, **sent).json.items() >= kept.items()


def test_null_empties_what_may_be_empty(owner):
    assert _patch(owner, **CHANGES).status_code == 200
    empty = dict.fromkeys(("billingEmail", "primaryBrandColor", "description", "industryCategory", "minPayoutCents"))

    answer = _patch(owner, **empty)

    assert answer.json.items() >= (empty | {"minPayoutCurrency": None}).items()


def test_what_is_not_sent_stays(owner):
    _patch(owner, **CHANGES)

    assert _patch(owner, name="Other").json["description"] == CHANGES["description"]


def test_what_changes_nothing_is_not_audited(owner):
    answer = _patch(owner, name="Brand", payoutGraceDays=30)

    assert answer.status_code == 200
    assert _patch(owner).status_code == 200
    assert _audited(owner) == []


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
def test_a_field_that_is_not_the_owners_is_ignored(owner, field):
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
def test_a_malformed_field_is_told_and_nothing_is_changed(owner, field):
    sent = {"industryCategory": "Tea"} | field if isinstance(field, dict) else field

    answer = owner.call("PATCH", URL, sent)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == (list(field) if field else ["body"])
    assert owner.get(URL).json["industryCategory"] is None


def test_grace_days_end_where_the_organization_says(owner):
    owner.rows("update organization set payout_grace_days_max = 60 returning id")

    answer = _patch(owner, payoutGraceDays=61)

    assert (answer.status_code, answer.json["error"]) == (400, "payout_grace_days_out_of_range")
    assert answer.json["field"] == "payoutGraceDays"
    assert _patch(owner, payoutGraceDays=60).status_code == 200


def test_new_grace_days_move_the_hold_of_what_is_pending(owner, brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    drain()

    _patch(owner, payoutGraceDays=3)

    assert brand.rows("select hold_until - occurred_at = interval '3 days' from conversion") == [(True,)]


@pytest.mark.parametrize("number", [1, 4, 5])
def test_however_many_are_pending_no_transaction_moves_more_than_a_few(owner, brand, drain, monkeypatch, number):
    monkeypatch.setattr(renewal, "_BATCH", 2)
    brand.program()
    affiliate_id = brand.affiliate("ben")
    for _ in range(number):
        insert_conversion(brand, affiliate_id)
    paid = insert_conversion(brand, affiliate_id, status="Paid")

    _patch(owner, payoutGraceDays=3)
    at_first = _moved(brand)
    drain()

    assert (len(at_first), len(_moved(brand))) == (min(number, 2), number)
    assert paid not in _moved(brand)


def _moved(brand):
    moved = brand.rows("select id from conversion where hold_until - occurred_at = interval '3 days'")
    return [conversion_id for (conversion_id,) in moved]


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
def test_a_lower_role_cannot_change_it(brand, role):
    answer = _patch(brand.person(role), name="Mine")

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


@pytest.mark.parametrize("scope", ["read", "read_write"])
def test_a_key_cannot_change_it_and_is_told_why(brand, scope):
    answer = _patch(brand.other_key(scope=scope), name="Mine")

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "dashboard session" in answer.json["message"]
    assert brand.get(URL).json["name"] == "Brand"


def test_an_invalid_key_is_told_nothing(brand):
    brand.api_key = "ff_live_nonsense"
    answer = _patch(brand, name="Mine")

    assert (answer.status_code, answer.data) == (401, b"")


def test_a_repeated_request_gets_the_first_answer(owner):
    first = _patch(owner, name="First", Idempotency_Key="k1")
    _patch(owner, name="Second")
    again = _patch(owner, name="First", Idempotency_Key="k1")

    assert (again.headers["Idempotency-Replayed"], again.json) == ("true", first.json)
    assert owner.get(URL).json["name"] == "Second"

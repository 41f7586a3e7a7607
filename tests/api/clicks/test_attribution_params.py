"""Query parameters that identify an affiliate. Source: tracking spec, "Attribution parameters" and section 8."""

import pytest

URL = "/api/v1/settings/attribution-params"
DEFAULTS = [
    "via",
    "ref",
    "fpr",
    "fp_ref",
    "aff",
    "aff_id",
    "affid",
    "affiliate",
    "affiliate_id",
    "referral",
    "referral_code",
    "referrer",
    "refcode",
    "ref_code",
    "ref_id",
    "partner",
    "partner_id",
    "promoter",
    "a_aid",
    "tap_a",
    "atp",
]


def _patch_params(caller, custom, **headers):
    return caller.call("PATCH", URL, {"custom": custom}, **headers)


def _audit_entries(brand):
    return brand.rows("select before, after from audit_entry where action = 'org.attribution_params_changed'")


def test_defaults_are_public_on_any_origin(app):
    answer = app.test_client().get(f"{URL}/defaults", headers={"Origin": "https://shop.test"})

    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.test"
    assert answer.json == {
        "defaults": DEFAULTS,
        "maxCustomEntries": 10,
        "maxTotalChars": 256,
        "minParamLength": 2,
        "maxParamLength": 32,
    }


def test_there_are_21_defaults():
    assert len(set(DEFAULTS)) == 21


def test_without_custom_params_only_defaults_are_used(brand):
    assert brand.get(URL).json == {
        "custom": None,
        "defaults": DEFAULTS,
        "effectiveOrder": DEFAULTS,
        "maxCustomEntries": 10,
        "maxTotalChars": 256,
    }


def test_custom_params_come_first_and_are_audited(brand):
    answer = _patch_params(brand, " pk_ref , my-tag,,pk_ref,")

    assert answer.status_code == 200
    assert answer.json["custom"] == "pk_ref,my-tag"
    assert answer.json["effectiveOrder"] == ["pk_ref", "my-tag", *DEFAULTS]
    assert brand.get(URL).json == answer.json
    assert _audit_entries(brand) == [({"custom": None}, {"custom": "pk_ref,my-tag"})]


def test_default_among_custom_params_is_listed_once(brand):
    answer = _patch_params(brand, "zz,ref")

    assert answer.json["effectiveOrder"] == ["zz", "ref", *[name for name in DEFAULTS if name != "ref"]]


@pytest.mark.parametrize("nothing", [None, "", "  ", " , ,"])
def test_empty_value_clears_custom_params(brand, nothing):
    _patch_params(brand, "pk_ref")

    answer = _patch_params(brand, nothing)

    assert (answer.status_code, answer.json["custom"]) == (200, None)
    assert answer.json["effectiveOrder"] == DEFAULTS


def test_unchanged_params_are_not_audited(brand):
    _patch_params(brand, "pk_ref")
    _patch_params(brand, "pk_ref")

    assert len(_audit_entries(brand)) == 1


@pytest.mark.parametrize(
    "custom",
    ["ab", "a" * 32, "0-_", ",".join(f"p{n}" for n in range(10)), "aa,bb" + "," * 251, ",".join(["same"] * 20)],
)
def test_params_within_the_limits_are_accepted(brand, custom):
    assert _patch_params(brand, custom).status_code == 200


@pytest.mark.parametrize(
    ("custom", "code"),
    [
        ("a" * 257, "attribution_params_too_long"),
        (" " * 257, "attribution_params_too_long"),
        (",".join(f"PARAM-{n:020}" for n in range(11)), "attribution_params_too_long"),
        (",".join(f"p{n}" for n in range(11)), "too_many_attribution_params"),
        (",".join(f"P{n}" for n in range(11)), "too_many_attribution_params"),
    ],
)
def test_too_many_or_too_long_params_are_refused_length_first(brand, custom, code):
    answer = _patch_params(brand, custom)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, code, "custom")
    assert brand.get(URL).json["custom"] is None
    assert _audit_entries(brand) == []


@pytest.mark.parametrize("entry", ["a", "a" * 33, "Ref", "a b", "réf", "a.b", "a\x00b", "ref?", "ﬀﬀ", "a\nb"])
def test_invalid_entries_are_named(brand, entry):
    answer = _patch_params(brand, f"good,{entry}, fine ,!!")

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_attribution_param")
    assert answer.json["invalid"] == [entry, "!!"]


@pytest.mark.parametrize(
    "body", [{}, {"custom": 5}, {"custom": ["ref"]}, {"custom": True}, {"custom": 10**18}, [], b"no", b'{"custom":NaN}']
)
def test_malformed_body_returns_problem_details(brand, body):
    answer = brand.call("PATCH", URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
def test_lower_role_can_read_but_write_returns_empty_403(brand, role):
    person = brand.person(role)

    answer = _patch_params(person, "pk_ref")

    assert person.get(URL).status_code == 200
    assert (answer.status_code, answer.data) == (403, b"")


def test_owner_needs_a_verified_email(brand):
    refused = _patch_params(brand.person("Owner", is_email_verified=False), "pk_ref")
    response = _patch_params(brand.person("Owner"), "pk_ref")

    assert (refused.status_code, refused.json["error"]) == (403, "email_verification_required")
    assert response.status_code == 200


def test_read_key_can_read_and_write_names_missing_scope(brand):
    reader = brand.other_key(scope="read")

    answer = _patch_params(reader, "pk_ref")

    assert reader.get(URL).status_code == 200
    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "read_write" in answer.json["message"]


def test_every_plan_can_set_params(brand):
    brand.set(plan="Free", status="Canceled")

    assert _patch_params(brand, "pk_ref").status_code == 200


def test_params_are_separate_per_tenant(brand, rival):
    _patch_params(brand, "pk_ref")

    assert rival.get(URL).json["custom"] is None


def test_repeated_idempotency_key_returns_the_first_response(brand):
    first = _patch_params(brand, "pk_ref", Idempotency_Key="k1")
    _patch_params(brand, "other")
    again = _patch_params(brand, "pk_ref", Idempotency_Key="k1")

    assert (again.headers["Idempotency-Replayed"], again.json) == ("true", first.json)
    assert brand.get(URL).json["custom"] == "other"

"""The query parameters that name an affiliate. Source: tracking spec, "Attribution parameters" and section 8."""

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


def _patch(caller, custom, **headers):
    return caller.call("PATCH", URL, {"custom": custom}, **headers)


def _audited(brand):
    return brand.rows("select before, after from audit_entry where action = 'org.attribution_params_changed'")


def test_the_defaults_are_for_anybody_on_any_page(app):
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


def test_without_custom_ones_the_defaults_are_the_order(brand):
    assert brand.get(URL).json == {
        "custom": None,
        "defaults": DEFAULTS,
        "effectiveOrder": DEFAULTS,
        "maxCustomEntries": 10,
        "maxTotalChars": 256,
    }


def test_custom_ones_come_first_and_are_audited(brand):
    answer = _patch(brand, " pk_ref , my-tag,,pk_ref,")

    assert answer.status_code == 200
    assert answer.json["custom"] == "pk_ref,my-tag"
    assert answer.json["effectiveOrder"] == ["pk_ref", "my-tag", *DEFAULTS]
    assert brand.get(URL).json == answer.json
    assert _audited(brand) == [({"custom": None}, {"custom": "pk_ref,my-tag"})]


def test_a_default_among_the_custom_ones_comes_once(brand):
    answer = _patch(brand, "zz,ref")

    assert answer.json["effectiveOrder"] == ["zz", "ref", *[name for name in DEFAULTS if name != "ref"]]


@pytest.mark.parametrize("nothing", [None, "", "  ", " , ,"])
def test_nothing_clears_them(brand, nothing):
    _patch(brand, "pk_ref")

    answer = _patch(brand, nothing)

    assert (answer.status_code, answer.json["custom"]) == (200, None)
    assert answer.json["effectiveOrder"] == DEFAULTS


def test_the_same_again_is_no_change(brand):
    _patch(brand, "pk_ref")
    _patch(brand, "pk_ref")

    assert len(_audited(brand)) == 1


@pytest.mark.parametrize(
    "custom",
    ["ab", "a" * 32, "0-_", ",".join(f"p{n}" for n in range(10)), "aa,bb" + "," * 251, ",".join(["same"] * 20)],
)
def test_what_is_within_the_limits_is_taken(brand, custom):
    assert _patch(brand, custom).status_code == 200


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
def test_what_is_too_much_is_refused_length_first(brand, custom, code):
    answer = _patch(brand, custom)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, code, "custom")
    assert brand.get(URL).json["custom"] is None
    assert _audited(brand) == []


@pytest.mark.parametrize("entry", ["a", "a" * 33, "Ref", "a b", "réf", "a.b", "a\x00b", "ref?", "ﬀﬀ", "a\nb"])
def test_entries_that_cannot_be_are_named(brand, entry):
    answer = _patch(brand, f"good,{entry}, fine ,!!")

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_attribution_param")
    assert answer.json["invalid"] == [entry, "!!"]


@pytest.mark.parametrize(
    "body", [{}, {"custom": 5}, {"custom": ["ref"]}, {"custom": True}, {"custom": 10**18}, [], b"no", b'{"custom":NaN}']
)
def test_a_malformed_body_is_told_in_problem_details(brand, body):
    answer = brand.call("PATCH", URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
def test_a_lower_role_reads_and_is_refused_without_a_body(brand, role):
    person = brand.person(role)

    answer = _patch(person, "pk_ref")

    assert person.get(URL).status_code == 200
    assert (answer.status_code, answer.data) == (403, b"")


def test_an_owner_needs_a_verified_email(brand):
    refused = _patch(brand.person("Owner", is_email_verified=False), "pk_ref")
    taken = _patch(brand.person("Owner"), "pk_ref")

    assert (refused.status_code, refused.json["error"]) == (403, "email_verification_required")
    assert taken.status_code == 200


def test_a_reading_key_reads_and_is_told_the_scope(brand):
    reader = brand.other_key(scope="read")

    answer = _patch(reader, "pk_ref")

    assert reader.get(URL).status_code == 200
    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "read_write" in answer.json["message"]


def test_every_plan_may(brand):
    brand.set(plan="Free", status="Canceled")

    assert _patch(brand, "pk_ref").status_code == 200


def test_tenants_have_their_own(brand, rival):
    _patch(brand, "pk_ref")

    assert rival.get(URL).json["custom"] is None


def test_a_repeated_request_gets_the_first_answer(brand):
    first = _patch(brand, "pk_ref", Idempotency_Key="k1")
    _patch(brand, "other")
    again = _patch(brand, "pk_ref", Idempotency_Key="k1")

    assert (again.headers["Idempotency-Replayed"], again.json) == ("true", first.json)
    assert brand.get(URL).json["custom"] == "other"

"""Campaign coupons. Source: tracking spec, "Campaign coupon", section 3, "Coupons", section 6 (campaign_coupon.*)."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.coupons import COUPON, UNKNOWN_ID, create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway


def _next_month() -> str:
    return (datetime.now(UTC) + timedelta(days=30)).isoformat(timespec="seconds")


def test_coupon_is_created_here_and_at_the_processor(shop):
    expires = _next_month()
    body = COUPON | {
        "duration": "Repeating",
        "durationInMonths": 3,
        "maxRedemptionsPerCode": 10,
        "expiresAt": expires,
        "productRefs": ["prod_1", "prod_2"],
        "maxCodesPerAffiliate": 2,
        "selfMintMode": "SpecificAffiliates",
        "grantedAffiliateIds": [str(shop.jane)],
    }

    answer = shop.brand.post(shop.coupons, body)

    assert answer.status_code == 201
    coupon, (stripe_coupon,) = answer.json, shop.stage.codes.coupons
    assert coupon["processorCouponId"] == stripe_coupon["id"]
    assert stripe_coupon["metadata"] == {"finderfee_id": coupon["id"]}
    assert (stripe_coupon["percent_off"], stripe_coupon["duration"], stripe_coupon["duration_in_months"]) == (
        15,
        "repeating",
        3,
    )
    assert stripe_coupon["applies_to"] == {"products": ["prod_1", "prod_2"]}
    assert stripe_coupon["redeem_by"] == int(datetime.fromisoformat(expires).timestamp())
    assert "max_redemptions" not in stripe_coupon
    assert coupon["productRefs"] == ["prod_1", "prod_2"]
    assert coupon["isActive"] is True
    assert coupon["programId"] == str(shop.brand.programs[0])
    assert coupon["grantedAffiliateIds"] == [str(shop.jane)]
    assert (coupon["overridesClickAttribution"], coupon["allowAffiliateSelfMint"]) == (True, True)
    assert (coupon["maxCodesPerAffiliate"], coupon["maxRedemptionsPerCode"]) == (2, 10)
    assert coupon["discountCurrency"] is coupon["archive"] is coupon["archivedAt"] is None
    assert shop.brand.get(f"{shop.coupons}/{coupon['id']}").json == coupon
    assert shop.list_event_data("campaign_coupon.created") == [
        {
            "campaignCouponId": coupon["id"],
            "programId": coupon["programId"],
            "name": "Partner 15",
            "discountType": "PercentOff",
            "discountValue": 15,
            "duration": "Repeating",
            "selfMintMode": "SpecificAffiliates",
            "grantedAffiliateCount": 1,
            "createdAt": coupon["createdAt"],
        }
    ]


def test_amount_off_is_in_the_minor_units_of_its_currency(shop):
    coupon = create_coupon(shop.brand, discountType="AmountOff", discountValue=500, discountCurrency="isk")

    (processor_coupon,) = shop.stage.codes.coupons
    # Króna has no minor unit; this processor counts hundredths of it.
    assert (processor_coupon["amount_off"], processor_coupon["currency"]) == (50_000, "isk")
    assert (coupon["discountValue"], coupon["discountCurrency"]) == (500, "ISK")
    assert shop.list_event_data("campaign_coupon.created")[0]["discountCurrency"] == "ISK"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ("Disabled", False)),
        ({"allowAffiliateSelfMint": True}, ("AllAffiliates", True)),
        ({"allowAffiliateSelfMint": False}, ("Disabled", False)),
        ({"selfMintMode": "SpecificAffiliates"}, ("SpecificAffiliates", True)),
    ],
)
def test_self_mint_mode_and_its_older_field_agree(shop, fields, expected):
    coupon = create_coupon(shop.brand, **fields)

    assert (coupon["selfMintMode"], coupon["allowAffiliateSelfMint"]) == expected


@pytest.mark.parametrize("cap", [0, None])
def test_cap_of_zero_or_null_is_no_limit(shop, cap):
    assert create_coupon(shop.brand, maxCodesPerAffiliate=cap)["maxCodesPerAffiliate"] is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", None),
        ("name", " "),
        ("name", "n" * 201),
        ("name", "a\x00b"),
        ("discountType", "Half"),
        ("discountValue", 0),
        ("discountValue", 101),
        ("discountValue", -1),
        ("discountValue", "15"),
        ("discountValue", 1.5),
        ("duration", "Twice"),
        ("duration", "Repeating"),
        ("durationInMonths", 95),
        ("durationInMonths", 0),
        ("maxRedemptionsPerCode", 0),
        ("maxRedemptionsPerCode", 2**31),
        ("expiresAt", "2020-01-01T00:00:00Z"),
        ("expiresAt", "soon"),
        ("selfMintMode", "Everybody"),
        ("grantedAffiliateIds", "all"),
        ("grantedAffiliateIds", ["jane"]),
        ("grantedAffiliateIds", [UNKNOWN_ID]),
        ("maxCodesPerAffiliate", -1),
        ("overridesClickAttribution", "yes"),
        ("productRefs", ["p"] * 101),
        ("productRefs", [""]),
        ("productRefs", ["p" * 256]),
        ("commissionType", "Percentage"),
        ("commissionValue", 5),
    ],
)
def test_invalid_field_returns_400_and_creates_nothing(shop, field, value):
    answer = shop.brand.post(shop.coupons, COUPON | {field: value})

    assert answer.status_code == 400
    assert shop.brand.get(shop.coupons).json["items"] == []
    assert shop.stage.codes.coupons == []


@pytest.mark.parametrize("currency", [None, "XXX", "EU", "€€€", ""])
def test_amount_off_needs_a_known_currency(shop, currency):
    answer = shop.brand.post(shop.coupons, COUPON | {"discountType": "AmountOff", "discountCurrency": currency})

    assert answer.status_code == 400
    assert shop.stage.codes.coupons == []


@pytest.mark.parametrize(
    ("rate", "code"),
    [
        ({"commissionType": "Percentage", "commissionValue": 101}, "percentage_out_of_range"),
        ({"commissionType": "Fixed", "commissionValue": 1_000_001}, "fixed_commission_out_of_range"),
    ],
)
def test_commission_rate_out_of_range_is_refused(shop, rate, code):
    answer = shop.brand.post(shop.coupons, COUPON | rate)

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert create_coupon(shop.brand, commissionType="Percentage", commissionValue=12.5)["commissionValue"] == 12.5


def test_coupon_needs_a_connected_processor(brand):
    brand.program()

    answer = brand.post(f"/api/v1/campaigns/{brand.programs[0]}/coupons", COUPON)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")
    assert brand.get(f"/api/v1/campaigns/{brand.programs[0]}/coupons").json["items"] == []


def test_store_is_not_a_processor(brand):
    brand.program()
    with play_gateway("shopify") as store:
        connect_gateway(brand.person("Owner"), store)

        answer = brand.post(f"/api/v1/campaigns/{brand.programs[0]}/coupons", COUPON)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")


@pytest.mark.parametrize("fault", ["refuse", "forbid"])
def test_coupon_refused_by_the_processor_is_not_stored(shop, fault):
    shop.stage.faults.append(fault)

    answer = shop.brand.post(shop.coupons, COUPON)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_create_failed")
    assert shop.brand.get(shop.coupons).json["items"] == []
    assert shop.list_event_data("campaign_coupon.created") == []


@pytest.mark.parametrize("fault", ["cut", "html"])
def test_coupon_with_a_lost_answer_is_looked_up(shop, fault):
    shop.stage.faults.append(fault)

    answer = shop.brand.post(shop.coupons, COUPON)

    if fault == "cut":  # the coupon was created before the answer was lost
        assert answer.status_code == 201
    else:
        assert (answer.status_code, answer.json["error"]) == (503, "gateway_unreachable")
        (pending,) = shop.brand.get(shop.coupons).json["items"]
        assert (pending["isActive"], pending["processorCouponId"]) == (False, None)
        shop.make_jobs_due()


def test_job_finishes_an_interrupted_creation(shop, drain):
    shop.stage.faults.extend(["cut", "fail"])  # created, but neither its answer nor the look-up's arrives

    answer = shop.brand.post(shop.coupons, COUPON)
    assert answer.status_code == 503
    assert shop.list_event_data("campaign_coupon.created") == []
    shop.make_jobs_due()
    drain()

    (coupon,) = shop.brand.get(shop.coupons).json["items"]
    (processor_coupon,) = shop.stage.codes.coupons
    assert (coupon["isActive"], coupon["processorCouponId"]) == (True, processor_coupon["id"])
    assert len(shop.list_event_data("campaign_coupon.created")) == 1


def test_repeated_idempotency_key_resumes_the_creation(shop):
    shop.stage.faults.extend(["cut", "fail"])
    assert shop.brand.post(shop.coupons, COUPON, Idempotency_Key="once").status_code == 503

    repeats = [shop.brand.post(shop.coupons, COUPON, Idempotency_Key="once") for _ in range(2)]

    assert [answer.status_code for answer in repeats] == [201, 201]
    assert repeats[0].json == repeats[1].json
    assert len(shop.stage.codes.coupons) == len(shop.list_event_data("campaign_coupon.created")) == 1


def test_coupons_are_listed_newest_first_in_pages(shop):
    coupon_ids = [create_coupon(shop.brand, name=f"Coupon {number}")["id"] for number in range(3)]

    first = shop.brand.get(f"{shop.coupons}?take=2").json
    second = shop.brand.get(f"{shop.coupons}?take=2&cursor={first['nextCursor']}").json

    assert [coupon["id"] for coupon in first["items"] + second["items"]] == coupon_ids[::-1]
    assert (first["hasMore"], second["hasMore"], second["nextCursor"]) == (True, False, None)


def test_patch_changes_fields_and_emits_an_event(shop):
    coupon = create_coupon(shop.brand)
    ben = shop.brand.affiliate("ben")
    changes = {
        "name": "Autumn",
        "selfMintMode": "SpecificAffiliates",
        "grantedAffiliateIds": [str(ben)],
        "overridesClickAttribution": False,
        "maxCodesPerAffiliate": 3,
    }

    answer = shop.brand.call("PATCH", f"{shop.coupons}/{coupon['id']}", changes)

    assert answer.status_code == 200
    assert {name: answer.json[name] for name in changes} == changes
    assert shop.list_event_data("campaign_coupon.updated") == [
        {
            "campaignCouponId": coupon["id"],
            "programId": coupon["programId"],
            "name": "Autumn",
            "allowAffiliateSelfMint": True,
            "overridesClickAttribution": False,
            "selfMintMode": "SpecificAffiliates",
            "grantedAffiliateCount": 1,
            "updatedAt": answer.json["updatedAt"],
        }
    ]


def test_unchanged_patch_emits_no_event(shop):
    coupon = create_coupon(shop.brand, expiresAt=_next_month())

    answer = shop.brand.call("PATCH", f"{shop.coupons}/{coupon['id']}", coupon)

    assert (answer.status_code, answer.json) == (200, coupon)
    assert shop.list_event_data("campaign_coupon.updated") == []


_IMMUTABLE = {"discountValue": 20, "discountType": "AmountOff", "duration": "Forever", "commissionValue": 5}


@pytest.mark.parametrize(("field", "value"), [*_IMMUTABLE.items(), ("productRefs", ["p"])])
def test_discount_and_commission_cannot_be_changed(shop, field, value):
    coupon = create_coupon(shop.brand)

    answer = shop.brand.call("PATCH", f"{shop.coupons}/{coupon['id']}", {"name": "Other", field: value})

    assert (answer.status_code, answer.json["field"]) == (400, field)
    assert shop.brand.get(f"{shop.coupons}/{coupon['id']}").json == coupon


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"name": 5},
        {"selfMintMode": "No"},
        {"grantedAffiliateIds": [UNKNOWN_ID]},
        {"maxCodesPerAffiliate": -1},
    ],
)
def test_invalid_patch_changes_nothing(shop, changes):
    coupon = create_coupon(shop.brand)

    assert shop.brand.call("PATCH", f"{shop.coupons}/{coupon['id']}", changes).status_code == 400
    assert shop.brand.get(f"{shop.coupons}/{coupon['id']}").json == coupon


def test_approved_affiliates_are_offered_for_the_allow_list(shop):
    coupon = create_coupon(shop.brand, selfMintMode="SpecificAffiliates", grantedAffiliateIds=[str(shop.jane)])
    ben = shop.brand.affiliate("ben")
    shop.brand.affiliate("pia", status="Pending")
    mint_code(shop.brand, shop.jane, coupon["id"])

    plain = shop.brand.get(f"{shop.coupons}/affiliates").json["items"]
    of_coupon = shop.brand.get(f"{shop.coupons}/affiliates?couponId={coupon['id']}").json["items"]

    assert [affiliate["id"] for affiliate in plain] == [str(ben), str(shop.jane)]
    assert set(plain[0]) == {"id", "email", "fullName"}
    assert [(affiliate["id"], affiliate["isGranted"], affiliate["mintedCodeCount"]) for affiliate in of_coupon] == [
        (str(ben), False, 0),
        (str(shop.jane), True, 1),
    ]


def test_other_tenants_coupon_returns_404(shop, rival):
    coupon = create_coupon(shop.brand)
    rival.program()
    theirs = f"/api/v1/campaigns/{rival.programs[0]}/coupons"

    for path in (f"{shop.coupons}/{coupon['id']}", f"{theirs}/{coupon['id']}"):
        assert rival.get(path).status_code == 404
        assert rival.call("PATCH", path, {"name": "Mine"}).status_code == 404
        assert rival.call("DELETE", path).status_code == 404
        assert rival.post(f"{path}/archive").status_code == 404
    assert rival.get(f"{theirs}/affiliates?couponId={coupon['id']}").status_code == 404
    assert rival.post(shop.coupons, COUPON).status_code == 404
    assert rival.post(theirs, COUPON | {"grantedAffiliateIds": [str(shop.jane)]}).status_code == 400


def test_coupon_of_another_campaign_returns_404(shop):
    coupon = create_coupon(shop.brand)
    other = shop.brand.program()

    assert shop.brand.get(f"/api/v1/campaigns/{other}/coupons/{coupon['id']}").status_code == 404
    assert shop.brand.post(f"/api/v1/campaigns/{other}/coupons/{coupon['id']}/archive").status_code == 404


@pytest.mark.parametrize("coupon_id", ["x", "0" * 500, "%00", UNKNOWN_ID])
def test_unknown_or_malformed_id_returns_404(shop, coupon_id):
    assert shop.brand.get(f"{shop.coupons}/{coupon_id}").status_code == 404

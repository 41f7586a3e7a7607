"""Families of codes. Source: tracking spec, "Campaign coupon", section 3, "Coupons", section 6 (campaign_coupon.*)."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.coupons import COUPON, UNKNOWN_ID, create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway


def _soon() -> str:
    return (datetime.now(UTC) + timedelta(days=30)).isoformat(timespec="seconds")


def test_a_coupon_is_made_here_and_at_the_processor(shop):
    expires = _soon()
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
    made, (there,) = answer.json, shop.stage.codes.coupons
    assert made["processorCouponId"] == there["id"]
    assert there["metadata"] == {"finderfee_id": made["id"]}
    assert (there["percent_off"], there["duration"], there["duration_in_months"]) == (15, "repeating", 3)
    assert there["applies_to"] == {"products": ["prod_1", "prod_2"]}
    assert there["redeem_by"] == int(datetime.fromisoformat(expires).timestamp())
    assert "max_redemptions" not in there
    assert made["productRefs"] == ["prod_1", "prod_2"]
    assert made["isActive"] is True
    assert made["programId"] == str(shop.brand.programs[0])
    assert made["grantedAffiliateIds"] == [str(shop.jane)]
    assert (made["overridesClickAttribution"], made["allowAffiliateSelfMint"]) == (True, True)
    assert (made["maxCodesPerAffiliate"], made["maxRedemptionsPerCode"]) == (2, 10)
    assert made["discountCurrency"] is made["archive"] is made["archivedAt"] is None
    assert shop.brand.get(f"{shop.coupons}/{made['id']}").json == made
    assert shop.told("campaign_coupon.created") == [
        {
            "campaignCouponId": made["id"],
            "programId": made["programId"],
            "name": "Partner 15",
            "discountType": "PercentOff",
            "discountValue": 15,
            "duration": "Repeating",
            "selfMintMode": "SpecificAffiliates",
            "grantedAffiliateCount": 1,
            "createdAt": made["createdAt"],
        }
    ]


def test_an_amount_off_is_in_the_minor_units_of_its_currency(shop):
    made = create_coupon(shop.brand, discountType="AmountOff", discountValue=500, discountCurrency="isk")

    (there,) = shop.stage.codes.coupons
    # Króna has no minor unit; this processor counts hundredths of it.
    assert (there["amount_off"], there["currency"]) == (50_000, "isk")
    assert (made["discountValue"], made["discountCurrency"]) == (500, "ISK")
    assert shop.told("campaign_coupon.created")[0]["discountCurrency"] == "ISK"


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ({}, ("Disabled", False)),
        ({"allowAffiliateSelfMint": True}, ("AllAffiliates", True)),
        ({"allowAffiliateSelfMint": False}, ("Disabled", False)),
        ({"selfMintMode": "SpecificAffiliates"}, ("SpecificAffiliates", True)),
    ],
)
def test_who_may_mint_is_said_by_the_mode_or_by_its_older_name(shop, sent, shown):
    made = create_coupon(shop.brand, **sent)

    assert (made["selfMintMode"], made["allowAffiliateSelfMint"]) == shown


@pytest.mark.parametrize("most", [0, None])
def test_no_cap_is_no_limit(shop, most):
    assert create_coupon(shop.brand, maxCodesPerAffiliate=most)["maxCodesPerAffiliate"] is None


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
def test_what_cannot_be_a_coupon_is_refused_and_nothing_is_made(shop, field, value):
    answer = shop.brand.post(shop.coupons, COUPON | {field: value})

    assert answer.status_code == 400
    assert shop.brand.get(shop.coupons).json["items"] == []
    assert shop.stage.codes.coupons == []


@pytest.mark.parametrize("currency", [None, "XXX", "EU", "€€€", ""])
def test_an_amount_off_needs_a_currency_that_is_known(shop, currency):
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
def test_a_rate_of_its_own_is_one_that_the_program_could_have(shop, rate, code):
    answer = shop.brand.post(shop.coupons, COUPON | rate)

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert create_coupon(shop.brand, commissionType="Percentage", commissionValue=12.5)["commissionValue"] == 12.5


def test_without_a_processor_there_is_nowhere_to_make_one(brand):
    brand.program()

    answer = brand.post(f"/api/v1/campaigns/{brand.programs[0]}/coupons", COUPON)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")
    assert brand.get(f"/api/v1/campaigns/{brand.programs[0]}/coupons").json["items"] == []


def test_a_store_is_no_processor(brand):
    brand.program()
    with play_gateway("shopify") as store:
        connect_gateway(brand.person("Owner"), store)

        answer = brand.post(f"/api/v1/campaigns/{brand.programs[0]}/coupons", COUPON)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")


@pytest.mark.parametrize("fault", ["refuse", "forbid"])
def test_what_the_processor_refuses_is_not_kept(shop, fault):
    shop.stage.faults.append(fault)

    answer = shop.brand.post(shop.coupons, COUPON)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_create_failed")
    assert shop.brand.get(shop.coupons).json["items"] == []
    assert shop.told("campaign_coupon.created") == []


@pytest.mark.parametrize("fault", ["cut", "html"])
def test_a_lost_answer_is_looked_up(shop, fault):
    shop.stage.faults.append(fault)

    answer = shop.brand.post(shop.coupons, COUPON)

    if fault == "cut":  # it was made before the answer was lost
        assert answer.status_code == 201
    else:
        assert (answer.status_code, answer.json["error"]) == (503, "gateway_unreachable")
        (left,) = shop.brand.get(shop.coupons).json["items"]
        assert (left["isActive"], left["processorCouponId"]) == (False, None)
        shop.later()


def test_what_a_request_left_is_finished_by_a_job(shop, drain):
    shop.stage.faults.extend(["cut", "fail"])  # it was made; neither answer nor look-up come back

    answer = shop.brand.post(shop.coupons, COUPON)
    assert answer.status_code == 503
    assert shop.told("campaign_coupon.created") == []
    shop.later()
    drain()

    (made,) = shop.brand.get(shop.coupons).json["items"]
    (there,) = shop.stage.codes.coupons
    assert (made["isActive"], made["processorCouponId"]) == (True, there["id"])
    assert len(shop.told("campaign_coupon.created")) == 1


def test_a_repeated_request_goes_on_with_what_it_began(shop):
    shop.stage.faults.extend(["cut", "fail"])
    assert shop.brand.post(shop.coupons, COUPON, Idempotency_Key="once").status_code == 503

    again = [shop.brand.post(shop.coupons, COUPON, Idempotency_Key="once") for _ in range(2)]

    assert [answer.status_code for answer in again] == [201, 201]
    assert again[0].json == again[1].json
    assert len(shop.stage.codes.coupons) == len(shop.told("campaign_coupon.created")) == 1


def test_coupons_are_listed_newest_first_in_pages(shop):
    made = [create_coupon(shop.brand, name=f"Coupon {number}")["id"] for number in range(3)]

    first = shop.brand.get(f"{shop.coupons}?take=2").json
    second = shop.brand.get(f"{shop.coupons}?take=2&cursor={first['nextCursor']}").json

    assert [one["id"] for one in first["items"] + second["items"]] == made[::-1]
    assert (first["hasMore"], second["hasMore"], second["nextCursor"]) == (True, False, None)


def test_what_may_change_changes_and_is_told(shop):
    made = create_coupon(shop.brand)
    ben = shop.brand.affiliate("ben")
    changes = {
        "name": "Autumn",
        "selfMintMode": "SpecificAffiliates",
        "grantedAffiliateIds": [str(ben)],
        "overridesClickAttribution": False,
        "maxCodesPerAffiliate": 3,
    }

    answer = shop.brand.call("PATCH", f"{shop.coupons}/{made['id']}", changes)

    assert answer.status_code == 200
    assert {name: answer.json[name] for name in changes} == changes
    assert shop.told("campaign_coupon.updated") == [
        {
            "campaignCouponId": made["id"],
            "programId": made["programId"],
            "name": "Autumn",
            "allowAffiliateSelfMint": True,
            "overridesClickAttribution": False,
            "selfMintMode": "SpecificAffiliates",
            "grantedAffiliateCount": 1,
            "updatedAt": answer.json["updatedAt"],
        }
    ]


def test_saying_the_same_again_changes_and_tells_nothing(shop):
    made = create_coupon(shop.brand, expiresAt=_soon())

    answer = shop.brand.call("PATCH", f"{shop.coupons}/{made['id']}", made)

    assert (answer.status_code, answer.json) == (200, made)
    assert shop.told("campaign_coupon.updated") == []


_OTHERS = {"discountValue": 20, "discountType": "AmountOff", "duration": "Forever", "commissionValue": 5}


@pytest.mark.parametrize(("field", "value"), [*_OTHERS.items(), ("productRefs", ["p"])])
def test_what_a_coupon_takes_off_never_changes(shop, field, value):
    made = create_coupon(shop.brand)

    answer = shop.brand.call("PATCH", f"{shop.coupons}/{made['id']}", {"name": "Other", field: value})

    assert (answer.status_code, answer.json["field"]) == (400, field)
    assert shop.brand.get(f"{shop.coupons}/{made['id']}").json == made


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
def test_a_bad_change_changes_nothing(shop, changes):
    made = create_coupon(shop.brand)

    assert shop.brand.call("PATCH", f"{shop.coupons}/{made['id']}", changes).status_code == 400
    assert shop.brand.get(f"{shop.coupons}/{made['id']}").json == made


def test_the_allow_list_is_picked_from_approved_affiliates(shop):
    made = create_coupon(shop.brand, selfMintMode="SpecificAffiliates", grantedAffiliateIds=[str(shop.jane)])
    ben = shop.brand.affiliate("ben")
    shop.brand.affiliate("pia", status="Pending")
    mint_code(shop.brand, shop.jane, made["id"])

    plain = shop.brand.get(f"{shop.coupons}/affiliates").json["items"]
    asked = shop.brand.get(f"{shop.coupons}/affiliates?couponId={made['id']}").json["items"]

    assert [one["id"] for one in plain] == [str(ben), str(shop.jane)]
    assert set(plain[0]) == {"id", "email", "fullName"}
    assert [(one["id"], one["isGranted"], one["mintedCodeCount"]) for one in asked] == [
        (str(ben), False, 0),
        (str(shop.jane), True, 1),
    ]


def test_another_brands_coupon_is_not_there(shop, rival):
    made = create_coupon(shop.brand)
    rival.program()
    theirs = f"/api/v1/campaigns/{rival.programs[0]}/coupons"

    for path in (f"{shop.coupons}/{made['id']}", f"{theirs}/{made['id']}"):
        assert rival.get(path).status_code == 404
        assert rival.call("PATCH", path, {"name": "Mine"}).status_code == 404
        assert rival.call("DELETE", path).status_code == 404
        assert rival.post(f"{path}/archive").status_code == 404
    assert rival.get(f"{theirs}/affiliates?couponId={made['id']}").status_code == 404
    assert rival.post(shop.coupons, COUPON).status_code == 404
    assert rival.post(theirs, COUPON | {"grantedAffiliateIds": [str(shop.jane)]}).status_code == 400


def test_a_coupon_of_another_campaign_is_not_there(shop):
    made = create_coupon(shop.brand)
    other = shop.brand.program()

    assert shop.brand.get(f"/api/v1/campaigns/{other}/coupons/{made['id']}").status_code == 404
    assert shop.brand.post(f"/api/v1/campaigns/{other}/coupons/{made['id']}/archive").status_code == 404


@pytest.mark.parametrize("coupon_id", ["x", "0" * 500, "%00", UNKNOWN_ID])
def test_an_id_that_names_nothing_is_not_there(shop, coupon_id):
    assert shop.brand.get(f"{shop.coupons}/{coupon_id}").status_code == 404

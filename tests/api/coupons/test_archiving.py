"""Archiving a coupon with its codes, and deleting one. Source: tracking spec, section 3 and section 6."""

from tests.support.coupons import create_coupon, mint_code


def test_archiving_a_coupon_revokes_its_codes_everywhere(shop, drain):
    coupon = create_coupon(shop.brand)
    texts = [mint_code(shop.brand, shop.jane, coupon["id"])["code"] for _ in range(3)]

    archived = shop.brand.post(f"{shop.coupons}/{coupon['id']}/archive")

    assert (archived.status_code, archived.json["isActive"], archived.json["archive"]) == (200, False, {"pending": 3})
    assert {code["status"] for code in shop.brand.get(shop.codes).json["items"]} == {"Revoked"}
    assert shop.list_event_data("campaign_coupon.deactivated") == []
    drain()
    assert shop.brand.get(f"{shop.coupons}/{coupon['id']}").json["archive"] == {"pending": 0}
    assert [shop.stage.codes.active(text) for text in texts] == [[], [], []]
    assert shop.list_event_data("campaign_coupon.deactivated") == [
        {
            "campaignCouponId": coupon["id"],
            "programId": coupon["programId"],
            "archivedAt": archived.json["archivedAt"],
            "deactivatedChildCount": 3,
        }
    ]
    assert shop.list_event_data("affiliate_coupon.deactivated") == []


def test_coupon_without_codes_is_archived_at_once(shop):
    coupon = create_coupon(shop.brand)

    assert shop.brand.post(f"{shop.coupons}/{coupon['id']}/archive").json["archive"] == {"pending": 0}
    assert [event["deactivatedChildCount"] for event in shop.list_event_data("campaign_coupon.deactivated")] == [0]


def test_archived_coupon_cannot_change_or_mint(shop):
    coupon = create_coupon(shop.brand)
    shop.brand.post(f"{shop.coupons}/{coupon['id']}/archive")

    repeated = shop.brand.post(f"{shop.coupons}/{coupon['id']}/archive")
    change = shop.brand.call("PATCH", f"{shop.coupons}/{coupon['id']}", {"name": "Other"})
    mint = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]})

    for answer in (repeated, change, mint):
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_coupon_without_codes_is_deleted_here_and_at_the_processor(shop, drain):
    coupon = create_coupon(shop.brand)

    assert shop.brand.call("DELETE", f"{shop.coupons}/{coupon['id']}").status_code == 204
    drain()

    assert shop.stage.codes.coupons == []
    assert shop.brand.get(f"{shop.coupons}/{coupon['id']}").status_code == 404
    assert shop.list_event_data("campaign_coupon.deleted") == [
        {"campaignCouponId": coupon["id"], "programId": coupon["programId"]}
    ]


def test_coupon_with_a_revoked_code_cannot_be_deleted(shop):
    coupon = create_coupon(shop.brand)
    minted = mint_code(shop.brand, shop.jane, coupon["id"])
    shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}")

    answer = shop.brand.call("DELETE", f"{shop.coupons}/{coupon['id']}")

    assert (answer.status_code, answer.json["error"]) == (422, "has_affiliate_coupons")
    assert shop.list_event_data("campaign_coupon.deleted") == []


def test_archiving_succeeds_with_a_disconnected_processor(shop, drain):
    coupon = create_coupon(shop.brand)
    mint_code(shop.brand, shop.jane, coupon["id"])
    shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")

    shop.brand.post(f"{shop.coupons}/{coupon['id']}/archive")
    drain()

    assert shop.brand.get(f"{shop.coupons}/{coupon['id']}").json["archive"] == {"pending": 0}
    assert [event["deactivatedChildCount"] for event in shop.list_event_data("campaign_coupon.deactivated")] == [1]


def test_disabling_codes_does_not_delay_the_brands_payments(shop):
    coupon = create_coupon(shop.brand)
    mint_code(shop.brand, shop.jane, coupon["id"])

    shop.brand.post(f"{shop.coupons}/{coupon['id']}/archive")

    ((fair_key,),) = shop.brand.rows("select distinct fair_key from job where name = 'code.switch_off'")
    assert fair_key != str(shop.brand.id)


def test_codes_of_a_deleted_affiliate_are_disabled(shop, drain):
    coupon = create_coupon(shop.brand)
    mint_code(shop.brand, shop.jane, coupon["id"], "SPRING")
    body = {"action": "delete", "affiliateIds": [str(shop.jane)]}

    assert shop.brand.post("/api/v1/affiliates/bulk-action", body).status_code == 200
    drain()

    assert shop.stage.codes.active("SPRING") == []
    assert [event["code"] for event in shop.list_event_data("affiliate_coupon.deactivated")] == ["SPRING"]
    ben = shop.brand.affiliate("ben")
    assert mint_code(shop.brand, ben, coupon["id"], "SPRING")["status"] == "Active"

"""Coupons end: archived with their codes, or deleted. Source: tracking spec, section 3 and section 6."""

from tests.support.coupons import create_coupon, mint_code


def test_the_end_of_a_coupon_ends_its_codes_everywhere(shop, drain):
    made = create_coupon(shop.brand)
    texts = [mint_code(shop.brand, shop.jane, made["id"])["code"] for _ in range(3)]

    archived = shop.brand.post(f"{shop.coupons}/{made['id']}/archive")

    assert (archived.status_code, archived.json["isActive"], archived.json["archive"]) == (200, False, {"pending": 3})
    assert {one["status"] for one in shop.brand.get(shop.codes).json["items"]} == {"Revoked"}
    assert shop.told("campaign_coupon.deactivated") == []
    drain()
    assert shop.brand.get(f"{shop.coupons}/{made['id']}").json["archive"] == {"pending": 0}
    assert [shop.stage.codes.active(text) for text in texts] == [[], [], []]
    assert shop.told("campaign_coupon.deactivated") == [
        {
            "campaignCouponId": made["id"],
            "programId": made["programId"],
            "archivedAt": archived.json["archivedAt"],
            "deactivatedChildCount": 3,
        }
    ]
    assert shop.told("affiliate_coupon.deactivated") == []


def test_a_coupon_without_codes_ends_at_once(shop):
    made = create_coupon(shop.brand)

    assert shop.brand.post(f"{shop.coupons}/{made['id']}/archive").json["archive"] == {"pending": 0}
    assert [told["deactivatedChildCount"] for told in shop.told("campaign_coupon.deactivated")] == [0]


def test_an_archived_coupon_stays_as_it_is(shop):
    made = create_coupon(shop.brand)
    shop.brand.post(f"{shop.coupons}/{made['id']}/archive")

    again = shop.brand.post(f"{shop.coupons}/{made['id']}/archive")
    change = shop.brand.call("PATCH", f"{shop.coupons}/{made['id']}", {"name": "Other"})
    mint = shop.brand.post(shop.codes, {"campaignCouponId": made["id"]})

    for answer in (again, change, mint):
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_a_coupon_that_never_had_a_code_is_deleted_here_and_there(shop, drain):
    made = create_coupon(shop.brand)

    assert shop.brand.call("DELETE", f"{shop.coupons}/{made['id']}").status_code == 204
    drain()

    assert shop.stage.codes.coupons == []
    assert shop.brand.get(f"{shop.coupons}/{made['id']}").status_code == 404
    assert shop.told("campaign_coupon.deleted") == [{"campaignCouponId": made["id"], "programId": made["programId"]}]


def test_a_coupon_that_ever_had_a_code_stays(shop):
    made = create_coupon(shop.brand)
    minted = mint_code(shop.brand, shop.jane, made["id"])
    shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}")

    answer = shop.brand.call("DELETE", f"{shop.coupons}/{made['id']}")

    assert (answer.status_code, answer.json["error"]) == (422, "has_affiliate_coupons")
    assert shop.told("campaign_coupon.deleted") == []


def test_codes_of_a_processor_that_was_disconnected_end_here(shop, drain):
    made = create_coupon(shop.brand)
    mint_code(shop.brand, shop.jane, made["id"])
    shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")

    shop.brand.post(f"{shop.coupons}/{made['id']}/archive")
    drain()

    assert shop.brand.get(f"{shop.coupons}/{made['id']}").json["archive"] == {"pending": 0}
    assert [told["deactivatedChildCount"] for told in shop.told("campaign_coupon.deactivated")] == [1]


def test_payments_do_not_wait_until_all_codes_of_a_coupon_have_ended(shop):
    made = create_coupon(shop.brand)
    mint_code(shop.brand, shop.jane, made["id"])

    shop.brand.post(f"{shop.coupons}/{made['id']}/archive")

    ((turn,),) = shop.brand.rows("select distinct fair_key from job where name = 'code.switch_off'")
    assert turn != str(shop.brand.id)


def test_codes_of_an_affiliate_who_is_deleted_end(shop, drain):
    made = create_coupon(shop.brand)
    mint_code(shop.brand, shop.jane, made["id"], "SPRING")
    body = {"action": "delete", "affiliateIds": [str(shop.jane)]}

    assert shop.brand.post("/api/v1/affiliates/bulk-action", body).status_code == 200
    drain()

    assert shop.stage.codes.active("SPRING") == []
    assert [told["code"] for told in shop.told("affiliate_coupon.deactivated")] == ["SPRING"]
    ben = shop.brand.affiliate("ben")
    assert mint_code(shop.brand, ben, made["id"], "SPRING")["status"] == "Active"

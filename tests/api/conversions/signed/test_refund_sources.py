"""The signed refund finds any conversion by its external id: signed, then a gateway's, imported, by hand, any other."""

import pytest

from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.rows.program_rows import insert_conversion

_SOURCES = ("s2s", "stripe", "import", "manual", "lead")


@pytest.fixture
def ann(brand):
    brand.program()
    return brand.affiliate("ann")


@pytest.mark.parametrize("source", _SOURCES[1:])
def test_conversion_of_each_source_is_found(brand, ann, source):
    sale = insert_conversion(brand, ann, source=source, external_event_id="order-a")

    answer = brand.refund("order-a", 4_000)

    assert (answer.status_code, answer.json["conversionId"]) == (200, str(sale))
    assert brand.rows("select refunded_cents, reversed_cents from conversion") == [(4_000, 400)]


@pytest.mark.parametrize("first", range(1, len(_SOURCES)))
def test_of_several_with_one_id_the_first_source_is_meant(brand, ann, first):
    by_source = {
        source: insert_conversion(brand, ann, source=source, external_event_id="order-a")
        for source in reversed(_SOURCES[first:])
    }

    assert brand.refund("order-a", 1_000).json["conversionId"] == str(by_source[_SOURCES[first]])


def test_older_of_two_gateways_sales_is_meant(brand, ann):
    older = insert_conversion(brand, ann, source="woocommerce", external_event_id="1001")
    insert_conversion(brand, ann, source="shopify", external_event_id="1001")

    assert brand.refund("1001", 1_000).json["conversionId"] == str(older)


def test_share_of_a_recruiter_is_not_found(brand, ann):
    parent = insert_conversion(brand, ann, source="import")
    insert_conversion(brand, ann, source="override", external_event_id="share", parent_id=parent, amount_cents=0)

    answer = brand.refund("share")
    assert (answer.status_code, answer.json["error"]) == (404, "conversion_not_found")


def test_other_tenants_conversion_is_not_found(brand, rival, ann):
    insert_conversion(brand, ann, source="import", external_event_id="order-a")

    answer = rival.refund("order-a")
    assert (answer.status_code, answer.json["error"]) == (404, "conversion_not_found")


def test_imported_sale_is_found_by_the_id_of_its_row(brand):
    brand.program()
    brand.affiliate("ben")
    import_sales(brand, build_past_sale(externalId="old-1"), confirmUnpaidPayout=True)

    assert brand.refund("old-1", 5_000).json["cumulativeRefundedAmountCents"] == 5_000
    assert brand.rows("select refunded_cents, reversed_cents, status from conversion") == [(5_000, 1_000, "Approved")]

"""A signed refund looks up the external id in this order: signed, gateway, imported, manual, any other conversion."""

import pytest

from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.rows.program_rows import insert_conversion

_SOURCES = ("s2s", "stripe", "import", "manual", "lead")


@pytest.fixture
def ann(brand):
    brand.program()
    return brand.affiliate("ann")


@pytest.mark.parametrize("source", _SOURCES[1:])
def test_conversion_of_each_source_is_refunded(brand, ann, source):
    sale = insert_conversion(brand, ann, source=source, external_event_id="order-a")

    answer = brand.refund("order-a", 4_000)

    assert (answer.status_code, answer.json["conversionId"]) == (200, str(sale))
    assert brand.rows("select refunded_cents, reversed_cents from conversion") == [(4_000, 400)]


@pytest.mark.parametrize("first", range(1, len(_SOURCES)))
def test_first_source_is_refunded_when_several_share_an_id(brand, ann, first):
    ids_by_source = {
        source: insert_conversion(brand, ann, source=source, external_event_id="order-a")
        for source in reversed(_SOURCES[first:])
    }

    assert brand.refund("order-a", 1_000).json["conversionId"] == str(ids_by_source[_SOURCES[first]])


def test_older_sale_is_refunded_when_two_gateways_share_an_id(brand, ann):
    older = insert_conversion(brand, ann, source="woocommerce", external_event_id="1001")
    insert_conversion(brand, ann, source="shopify", external_event_id="1001")

    assert brand.refund("1001", 1_000).json["conversionId"] == str(older)


def test_override_cannot_be_refunded_by_its_external_id(brand, ann):
    parent = insert_conversion(brand, ann, source="import")
    insert_conversion(brand, ann, source="override", external_event_id="share", parent_id=parent, amount_cents=0)

    answer = brand.refund("share")
    assert (answer.status_code, answer.json["error"]) == (404, "conversion_not_found")


def test_other_tenants_conversion_returns_404(brand, rival, ann):
    insert_conversion(brand, ann, source="import", external_event_id="order-a")

    answer = rival.refund("order-a")
    assert (answer.status_code, answer.json["error"]) == (404, "conversion_not_found")


def test_imported_sale_is_refunded_by_its_rows_external_id(brand):
    brand.program()
    brand.affiliate("ben")
    import_sales(brand, build_past_sale(externalId="old-1"), confirmUnpaidPayout=True)

    assert brand.refund("old-1", 5_000).json["cumulativeRefundedAmountCents"] == 5_000
    assert brand.rows("select refunded_cents, reversed_cents, status from conversion") == [(5_000, 1_000, "Approved")]

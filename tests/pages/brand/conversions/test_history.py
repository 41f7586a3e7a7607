"""The history of a conversion on its page."""

import pytest

from tests.support.rows.program_rows import insert_conversion


@pytest.mark.parametrize(
    ("reason", "words"), [("cancelled", "Order cancelled"), ("total_lowered", "Order total lowered")]
)
def test_refund_by_the_store_shows_its_reason_in_words(brand, people, reason, words):
    brand.program()
    sale_id = insert_conversion(brand, brand.affiliate("ada"), amount_cents=5_000)
    refund = brand.post(f"/api/v1/conversions/{sale_id}/refund", {"amountCents": 100, "reason": "other"})
    assert refund.status_code == 200, refund.text
    brand.rows("update refund set reason = %s returning id", reason)
    page = people().open(f"/dashboard/conversions/{sale_id}").text

    assert words in page
    assert f">{reason}<" not in page

"""A signed sale up to the webhook at the brand's receiver."""


def test_signed_sale_becomes_a_priced_conversion(brand, drain):
    brand.program()
    affiliate_id = brand.affiliate("ben")

    answer = brand.sale(externalEventId="order-a", amountCents=10_000)
    drain()

    assert answer.status_code == 200, answer.data
    assert answer.json["ok"] is True
    rows = brand.rows("select id, affiliate_id, commission_cents, status, type from conversion")
    assert [(str(row[0]), *row[1:]) for row in rows] == [
        (answer.json["conversionId"], affiliate_id, 2_000, "Pending", "OneTime")
    ]
    assert brand.rows("select kind, amount_cents, currency from ledger_entry") == [("earn", 2_000, "USD")]


def test_repeated_sale_is_deduplicated_forever(brand, drain):
    brand.program()
    brand.affiliate("ben")

    first = brand.sale(externalEventId="order-a")
    second = brand.sale(externalEventId="order-a")
    drain()
    third = brand.sale(externalEventId="order-a")

    assert "conversionId" in first.json
    assert second.json == {"ok": True, "deduped": True}
    assert third.json == {"ok": True, "deduped": True}
    assert brand.rows("select count(*) from conversion") == [(1,)]

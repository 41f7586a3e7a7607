"""The body of a signed sale: every field's rule and every refusal (tracking spec, sections 2, 4 and 7)."""

import json

import pytest

URL = "/api/tracking/s2s"
MOST = 1_000_000_000_000


def _raw(amount="10000", **fields):
    """A sale as text, so that a test can write JSON that no encoder would."""
    body = {"externalEventId": "order-a", "affiliateSlug": "ben"} | fields
    return json.dumps(body)[:-1].encode() + b', "amountCents": ' + amount.encode() + b"}"


def _sales(brand, columns="external_event_id"):
    return brand.rows(f"select {columns} from sale")


def test_every_field_reaches_the_conversion(shop, drain):
    answer = shop.sale(
        externalEventId=" Order/7 ☕ ",
        affiliateSlug="BEN",
        amountCents=4_999,
        currency="eur",
        customerId="cus_1",
        customerName="Zoë 王 🎉",
        customerEmail="Zoe@Example.com",
        customerAvatarUrl="https://img.example.com/z.png?s=1",
        subId="News-Letter_1.a",
        somethingNew={"is": "tolerated"},
    )
    drain()

    assert (answer.status_code, sorted(answer.json), answer.json["ok"]) == (200, ["conversionId", "ok"], True)
    assert shop.rows(
        "select external_event_id, amount_cents, currency, processor_customer_id, customer_name, customer_email,"
        " customer_avatar_url, sub_id, attribution_method, payability, source, id::text from conversion"
    ) == [
        (
            " Order/7 ☕ ",
            4_999,
            "EUR",
            "cus_1",
            "Zoë 王 🎉",
            "Zoe@Example.com",
            "https://img.example.com/z.png?s=1",
            "news-letter_1.a",
            None,
            "payable",
            "s2s",
            answer.json["conversionId"],
        )
    ]


@pytest.mark.parametrize("absent", [..., None], ids=["omitted", "null"])
def test_the_optional_fields_may_be_left_out(shop, absent):
    names = ("currency", "customerId", "customerName", "customerEmail", "customerAvatarUrl", "subId")

    answer = shop.sale(**dict.fromkeys(names, absent))

    assert answer.status_code == 200
    assert _sales(shop, "currency, customer_id, customer_name, customer_email, customer_avatar_url, sub_id") == [
        ("USD", None, None, None, None, None)
    ]


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"externalEventId": ...}, "external_event_id_required", "externalEventId"),
        ({"externalEventId": None}, "external_event_id_required", "externalEventId"),
        ({"externalEventId": ""}, "external_event_id_required", "externalEventId"),
        ({"externalEventId": "", "affiliateSlug": ""}, "external_event_id_required", "externalEventId"),
        ({"affiliateSlug": ...}, "affiliate_slug_required", "affiliateSlug"),
        ({"affiliateSlug": None}, "affiliate_slug_required", "affiliateSlug"),
        ({"affiliateSlug": "", "amountCents": 0}, "affiliate_slug_required", "affiliateSlug"),
        ({"amountCents": ...}, "amount_out_of_range", "amountCents"),
        ({"amountCents": 0}, "amount_out_of_range", "amountCents"),
        ({"amountCents": -1}, "amount_out_of_range", "amountCents"),
        ({"amountCents": MOST + 1, "currency": "XXX"}, "amount_out_of_range", "amountCents"),
        ({"affiliateSlug": "nobody"}, "affiliate_not_found", "affiliateSlug"),
        ({"affiliateSlug": "ben\n"}, "affiliate_not_found", "affiliateSlug"),
        ({"affiliateSlug": "../ben"}, "affiliate_not_found", "affiliateSlug"),
        ({"affiliateSlug": "b%n"}, "affiliate_not_found", "affiliateSlug"),
    ],
)
def test_a_field_at_fault_is_refused_with_its_code(shop, fields, code, field):
    answer = shop.sale(**fields)

    assert answer.status_code == 400
    assert sorted(answer.json) == ["error", "field", "message"]
    assert (answer.json["error"], answer.json["field"]) == (code, field)
    assert _sales(shop) == []


@pytest.mark.parametrize(
    ("amount", "recorded"), [("1", 1), (str(MOST), MOST), ("9007199254740993", None), (str(MOST + 1), None)]
)
def test_the_amount_goes_from_one_to_a_million_million(shop, amount, recorded):
    answer = shop.post_signed(URL, _raw(amount))

    if recorded is None:
        assert (answer.status_code, answer.json["error"]) == (400, "amount_out_of_range")
    else:
        assert answer.status_code == 200
    assert _sales(shop, "amount_cents") == ([(recorded,)] if recorded else [])


@pytest.mark.parametrize("amount", ["9223372036854775808", "18446744073709551616", "1" + "0" * 30, "-1" + "0" * 30])
def test_an_amount_beyond_every_machine_integer_is_out_of_range_too(shop, amount):
    answer = shop.post_signed(URL, _raw(amount))

    assert (answer.status_code, answer.json["error"]) == (400, "amount_out_of_range")


@pytest.mark.parametrize("amount", ["1.5", "10000.0", "1e3", '"12"', "true", "false", "[]", "{}", "[1]", '""'])
def test_an_amount_that_is_no_integer_is_malformed_and_never_coerced(shop, amount):
    answer = shop.post_signed(URL, _raw(amount))

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert sorted(answer.json) == ["errorCount", "errors", "status", "title", "type"]
    assert list(answer.json["errors"]) == ["amountCents"]
    assert _sales(shop) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"[]",
        b'[{"externalEventId": "order-a", "affiliateSlug": "ben", "amountCents": 1}]',
        b"null",
        b'"text"',
        b"12",
        b'{"externalEventId": "order-a"',
        b"{'externalEventId': 'order-a'}",
        b"externalEventId=order-a&affiliateSlug=ben&amountCents=1",
        b"\xef\xbb\xbf" + _raw(),
        _raw().decode().encode("utf-16"),
        _raw().replace(b"order-a", b"order-\xff"),
        _raw().replace(b"order-a", b"order-\\ud800"),
        _raw().replace(b"order-a", b"order-\\udc00\\ud800"),
        _raw("NaN"),
        _raw("Infinity"),
        _raw("1e400"),
        _raw("1" * 5_000),
        _raw("01"),
        _raw() + b"x",
        _raw("[" * 1_100 + "]" * 1_100),
        b"[" * 60_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    ],
    ids=range(24),
)
def test_what_is_no_json_object_is_an_invalid_body(shop, body):
    answer = shop.post_signed(URL, body)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")
    assert sorted(answer.json) == ["error", "message"]
    assert _sales(shop) == []


@pytest.mark.parametrize("body", [b"[" * 100_000, _raw() + b" " * 5_000_000], ids=["100k brackets", "5 MB"])
def test_a_body_that_is_too_large_is_refused_unread(shop, body):
    answer = shop.post_signed(URL, body)

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")


@pytest.mark.parametrize(
    "field",
    ["externalEventId", "affiliateSlug", "currency", "customerId", "customerName", "customerEmail", "subId"],
)
@pytest.mark.parametrize("value", [7, True, ["ben"], {"a": 1}, "b\x00n"], ids=repr)
def test_a_text_field_takes_neither_another_type_nor_a_nul(shop, field, value):
    if (field, value) == ("customerName", "b\x00n"):
        value = ["b\x00n"]  # a name loses its control characters and is taken: test_control_characters
    answer = shop.sale(**{field: value})

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]
    assert _sales(shop) == []


@pytest.mark.parametrize(
    ("sent", "recorded"),
    [
        ("usd", "USD"),
        ("Usd", "USD"),
        ("", "USD"),
        ("   ", "USD"),
        (None, "USD"),
        (..., "USD"),
        ("JPY", "JPY"),
        ("kwd", "KWD"),
        ("ANG", "XCG"),
        ("ang", "XCG"),
        ("XCG", "XCG"),
        ("MGA", "MGA"),
        ("sle", "SLE"),
    ],
)
def test_a_currency_is_recorded_in_upper_case_and_a_blank_one_is_dollars(shop, sent, recorded):
    answer = shop.sale(currency=sent, amountCents=1_234)

    assert answer.status_code == 200
    assert _sales(shop, "currency, amount_cents") == [(recorded, 1_234)]


@pytest.mark.parametrize(
    "sent",
    [
        *("US", "USDT", "XXX", "US1", "840", "US$", "U S", "ＵＳＤ", "uſd", "ZZZ", "BTC", "XAU", "IRR", "CUP", "HRK"),
        *(" USD", "USD ", " USD ", "USD\n", "\tEUR", "US ", " ANG"),
    ],
)
def test_an_unsupported_currency_is_echoed_and_never_taken_for_dollars(shop, sent):
    answer = shop.sale(currency=sent)

    assert answer.status_code == 400
    assert sorted(answer.json) == ["currency", "error", "field", "message"]
    assert (answer.json["error"], answer.json["currency"]) == ("unsupported_currency", sent)
    assert _sales(shop) == []


@pytest.mark.parametrize(
    ("sent", "recorded"),
    [
        ("YouTube", "youtube"),
        ("a.b-c_d9", "a.b-c_d9"),
        ("Spring Sale!/2", "springsale2"),
        ("ÄÖü", None),
        ("", None),
        ("  ", None),
        ("x" * 64, "x" * 64),
        ("X" * 200, "x" * 64),
        ("!" + "y" * 64 + "z", "y" * 64),
    ],
)
def test_a_channel_tag_is_normalized(shop, sent, recorded):
    answer = shop.sale(subId=sent)

    assert answer.status_code == 200
    assert _sales(shop, "sub_id") == [(recorded,)]


@pytest.mark.parametrize(
    "url",
    [
        "http://x.example/a.png",
        "//x.example/a.png",
        "javascript:alert(1)",
        "data:image/png;base64,AA",
        "https://",
        "https://[",
        "https://[::1",
        "x.example/a.png",
        "https://a b/c",
        "https:/x.example",
        "https://x\n.y/",
        7,
    ],
)
def test_an_avatar_is_an_https_url_or_nothing(shop, url):
    answer = shop.sale(customerAvatarUrl=url)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == ["customerAvatarUrl"]
    assert _sales(shop) == []

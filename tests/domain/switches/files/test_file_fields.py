"""The fields of source files: which are needed, and which columns a mapping lacks."""

import re

import pytest

from domain.switches.files import file_fields

_COMMISSIONS = {"affiliateEmail": "Partner", "commission": "Earned", "occurredAt": "Date"}


def _gaps(columns, headers):
    return [(gap.collection, gap.fields, gap.part, gap.heading) for gap in file_fields.missing_fields(columns, headers)]


def test_complete_mapping_lacks_nothing():
    headers = {"commissions": {1: ["Partner", "Earned", "Date", "Other"], 2: ["date", " EARNED ", "partner"]}}

    assert _gaps({"commissions": _COMMISSIONS}, headers) == []


@pytest.mark.parametrize(
    ("collection", "needed"),
    [
        ("affiliates", [("email",)]),
        ("links", [("affiliateId", "affiliateEmail"), ("token",)]),
        ("codes", [("affiliateId", "affiliateEmail", "token"), ("code",)]),
        ("customers", [("affiliateId", "affiliateEmail", "token")]),
        (
            "commissions",
            [("affiliateId", "affiliateEmail", "token"), ("commission", "commissionCents"), ("occurredAt",)],
        ),
        ("figures", [("name",), ("cents",)]),
    ],
)
def test_needed_fields_without_a_column_are_named(collection, needed):
    assert _gaps({}, {collection: {1: ["a"]}}) == [(collection, fields, None, None) for fields in needed]


def test_collections_without_files_need_nothing():
    assert _gaps({"commissions": {"amount": "A"}}, {}) == []


def test_part_that_lacks_a_mapped_column_is_named_even_if_the_field_is_optional():
    columns = {"commissions": {**_COMMISSIONS, "orderId": "Order"}}
    full = ["Partner", "Earned", "Date", "Order"]

    assert _gaps(columns, {"commissions": {1: full, 2: full[:3]}}) == [("commissions", ("orderId",), 2, "Order")]


def test_heading_that_a_part_has_twice_is_named():
    headers = {"commissions": {1: ["Partner", "Earned", "Date", "date"]}}

    gaps = file_fields.missing_fields({"commissions": _COMMISSIONS}, headers)

    assert [gap.message for gap in gaps] == [
        "Part 1 of commissions needs exactly one column 'Date', for the date of the sale."
    ]


@pytest.mark.parametrize("collection", file_fields.FIELDS)
def test_gaps_are_sentences_without_names_of_fields(collection):
    for gap in file_fields.missing_fields({}, {collection: {1: ["a"]}}):
        assert gap.message.startswith("Choose one column for the ")
        assert not re.search("[a-z][A-Z]|{", gap.message.replace("PayPal", ""))


def test_amount_in_two_units_is_a_gap():
    columns = {"commissions": {**_COMMISSIONS, "commissionCents": "Cents"}}

    assert _gaps(columns, {"commissions": {1: ["Partner", "Earned", "Date", "Cents"]}}) == [
        ("commissions", ("commission", "commissionCents"), None, None)
    ]


@pytest.mark.parametrize(
    ("columns", "collections", "currency", "needed"),
    [
        ({}, ["commissions"], None, True),
        ({}, ["affiliates", "customers"], None, False),
        ({}, ["commissions"], "EUR", False),
        ({"commissions": {"currency": "Cur"}}, ["commissions"], None, False),
    ],
)
def test_currency_is_needed_for_commissions_without_a_column_of_it(columns, collections, currency, needed):
    assert file_fields.needs_currency(columns, collections, currency) is needed


@pytest.mark.parametrize(
    ("columns", "words", "message"),
    [
        ({"affiliates": {"email": "E", "firstName": "F"}}, {"commissions": {"x": "lost"}}, None),
        ({"payouts": {}}, {}, "no collection"),
        ({"affiliates": {"salary": "E"}}, {}, "'salary' is no field of affiliates"),
        ({}, {"customers": {}}, "have no meaning"),
        ({}, {"commissions": {"x": "unpaid"}}, "'unpaid' is unknown"),
        ({}, {"affiliates": {"x": "leave_out"}}, "'leave_out' is unknown"),
    ],
)
def test_names_that_are_none_of_ours_are_reported(columns, words, message):
    unknown = file_fields.find_unknown(columns, words)

    assert unknown is None if message is None else message in unknown

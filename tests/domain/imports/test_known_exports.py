"""Exports of other services by their columns, and files whose columns are guessed."""

import pytest

from domain.imports import column_mapping, files, known_exports, suggestions
from domain.imports.column_mapping import ColumnMapping
from domain.imports.rows import BadRow

_WP_AFFILIATES = "Affiliate ID,Email,Name,Payment Email,Username,Rate,Rate Type,Earnings,Status,Date Registered"
_WP_REFERRALS = (
    "Affiliate ID,Email,Name,Payment Email,Username,Amount,Currency,Description,Campaign,Reference,Context,Status,Date"
)
_PAP_COMMISSIONS = "!TRANSID,!USERID,!CAMPAIGNID,!RSTATUS,!DATEINSERTED,!PAYOUTSTATUS,!COMMISSION,!ORDERID,!TOTALCOST"
_DUB_COMMISSIONS = "id,type,amount,earnings,currency,status,invoiceId,createdAt,paidAt,partner.email"


@pytest.mark.parametrize(
    ("header", "service", "kind"),
    [
        ("stripe_customer_id,first_name,last_name,email,paypal_email,wise_email,token", "Rewardful", "Affiliates"),
        ("email,name,ref_id", "FirstPromoter", "Affiliates"),
        ("email,cust_ref", "FirstPromoter", "Affiliates"),
        ("EMAIL,Referral_Code", "Tapfiliate", "Affiliates"),
        (_WP_AFFILIATES, "AffiliateWP", "Affiliates"),
        (_WP_REFERRALS, "AffiliateWP", "Conversions"),
        ("id,offer_id,status,email,link", "Refersion", "Affiliates"),
        ("first_name,last_name,email", None, "Affiliates"),
        ("email,total_sales,commission_amount", None, "Conversions"),
        ("Action Id,Action Date,Status,Sale Amount,Payout,Locking Date,Promo Code", "Impact", "Conversions"),
        ("TRANSID,DATEOFTRANS,sale,commission,order number", "ShareASale", "Conversions"),
        ("!USERID;!REFID;!DATEINSERTED;!PARENTUSERID".replace(";", ","), "Post Affiliate Pro", "Affiliates"),
        (_PAP_COMMISSIONS, "Post Affiliate Pro", "Conversions"),
        (_DUB_COMMISSIONS, "Dub", "Conversions"),
        ("a,b", None, "Affiliates"),
    ],
)
def test_export_is_recognized_by_its_columns(header, service, kind):
    suggestion = suggestions.suggest(header.split(","))

    assert (suggestion.service, suggestion.kind) == (service, kind)
    assert set(suggestion.columns.values()) <= set(header.split(","))


def test_every_suggested_field_and_word_is_one_of_ours():
    for export in known_exports._EXPORTS:
        fields = files.SALE_FIELDS if export.kind == "Conversions" else (*files.PERSON_FIELDS, "firstName", "lastName")
        words = known_exports.SALE_STATES if export.kind == "Conversions" else column_mapping.PERSON_WORDS

        assert set(export.columns) <= set(fields), export.service
        assert set(export.words.values()) <= set(words), export.service
        assert export.needs <= {name.lower() for name in export.needs}


def test_referrals_of_affiliatewp_have_commissions_without_sale_amounts():
    suggestion = suggestions.suggest(_WP_REFERRALS.split(","))
    row = '1,ada@x.test,Ada,p@x.test,ada,$12.50,USD,"Gold, yearly",,order-7,woo,unpaid,2024-05-01 12:00:00'
    text = f"{_WP_REFERRALS}\n{row}\n"

    parsed = files.parse_sales(text, ColumnMapping(suggestion.columns, suggestion.words))

    assert [row.values for row in parsed.rows] == [
        {
            "affiliateEmail": "ada@x.test",
            "amountCents": 0,
            "commissionCents": 1250,
            "currency": "USD",
            "occurredAt": "2024-05-01 12:00:00",
            "paid": False,
            "externalId": "order-7",
        }
    ]


@pytest.mark.parametrize(
    ("cell", "cents"),
    [
        ("49.00", 4900),
        ("$49.00", 4900),
        ("$ 49", 4900),
        ("49.00 USD", 4900),
        ("USD49.5", 4950),
        ("\u20ac49.00", 4900),
        ("1,234.00", None),
        ("-5.00", None),
        ("(5.00)", None),
        ("49.001", None),
        ("forty", None),
        ("USD", None),
    ],
)
def test_signs_around_amounts_are_dropped_and_nothing_is_guessed(cell, cents):
    text = f'c;sum;cur\n1;"{cell}";USD\n'.replace(";", "\t")

    parsed = files.parse_sales(text, ColumnMapping({"commission": "sum", "currency": "cur"}))

    values = parsed.rows[0].values
    if cents is None:
        assert isinstance(values, BadRow)
    else:
        assert values["commissionCents"] == cents


def test_left_out_words_drop_rows_and_are_counted_and_other_lines_keep_their_numbers():
    text = "email,state\na@x.test,on\nb@x.test,Gone\nc@x.test,on\n"

    parsed = files.parse_affiliates(
        text, ColumnMapping({"email": "email", "status": "state"}, {"on": "Approved", "gone": "leave_out"})
    )

    assert parsed.form.left_out == 1
    assert [(row.line, row.values) for row in parsed.rows] == [
        (2, {"email": "a@x.test", "status": "Approved"}),
        (4, {"email": "c@x.test", "status": "Approved"}),
    ]


def test_table_name_above_the_header_and_quoted_headings_are_read():
    text = '[[AFFILIATES]]\r\n"!USERID","Mail, private"\r\nu1,ada@x.test\r\n'

    parsed = files.parse_affiliates(text, ColumnMapping({"email": "Mail, private"}))

    assert [(row.line, row.values) for row in parsed.rows] == [(3, {"email": "ada@x.test"})]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"email": "nothing"}, "The file has no column 'nothing'."),
        ({"salary": "email"}, "Unknown field: 'salary'"),
        ({"amount": "email"}, "Unknown field: 'amount'"),
    ],
)
def test_mapping_that_does_not_fit_the_file_is_refused(columns, message):
    with pytest.raises(files.UnreadableFile) as refused:
        files.parse_affiliates("email\na@x.test\n", ColumnMapping(columns))

    assert message in str(refused.value)


def test_amounts_of_dub_are_whole_cents():
    suggestion = suggestions.suggest(_DUB_COMMISSIONS.split(","))
    row = "cm_1,sale,4900,980,USD,processed,in_1,2025-03-01T10:00:00.000Z,,ada@x.test"

    parsed = files.parse_sales(f"{_DUB_COMMISSIONS}\n{row}\n", ColumnMapping(suggestion.columns, suggestion.words))

    values = parsed.rows[0].values
    assert (values["amountCents"], values["commissionCents"]) == (4900, 980)
    assert (values["affiliateEmail"], values["paid"]) == ("ada@x.test", False)


def test_column_of_an_amount_is_not_suggested_in_two_units():
    suggestion = suggestions.suggest(["email", "commission", "commission_cents", "date"])

    assert suggestion.columns == {
        "affiliateEmail": "email",
        "commissionCents": "commission_cents",
        "occurredAt": "date",
    }

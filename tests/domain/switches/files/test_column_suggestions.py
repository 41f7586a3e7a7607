"""Suggested columns and words of exports whose columns are known, and of others by the usual names."""

import pytest

from domain.switches.files import column_suggestions, file_fields

_EXPORTS = {
    "rewardful": ("affiliates", "stripe_customer_id,first_name,last_name,email,paypal_email,wise_email,token"),
    "firstpromoter": ("affiliates", "email,name,ref_id"),
    "tapfiliate": ("affiliates", "email,referral_code"),
    "tapfiliate sales": (
        "commissions",
        "external_id,amount,created_at,affiliate_email,program,currency,customer_id,commission_status,commission_amount",
    ),
    "affiliatewp": (
        "affiliates",
        "Affiliate ID,Email,Name,Payment Email,Username,Rate,Rate Type,Earnings,Status,Date Registered",
    ),
    "affiliatewp sales": (
        "commissions",
        "Affiliate ID,Email,Name,Payment Email,Username,Amount,Currency,Description,Campaign,Reference,Context,Status,"
        "Date",
    ),
    "refersion": ("affiliates", "id,offer_id,status,email,link"),
    "pap": ("affiliates", "!USERID,!REFID,!DATEINSERTED,!PARENTUSERID"),
    "pap sales": (
        "commissions",
        "!TRANSID,!USERID,!CAMPAIGNID,!RSTATUS,!DATEINSERTED,!PAYOUTSTATUS,!COMMISSION,!ORDERID,!TOTALCOST",
    ),
    "impact": ("commissions", "Action Id,Action Date,Status,Sale Amount,Payout,Locking Date,Promo Code"),
    "shareasale": ("commissions", "TRANSID,DATEOFTRANS,sale amount,commission,order number"),
    "dub": ("commissions", "id,type,amount,earnings,currency,status,invoiceId,createdAt,paidAt,partner.id"),
    "uppromote": ("affiliates", "first_name,last_name,email"),
}


def _suggest(name):
    collection, header = _EXPORTS[name]
    return column_suggestions.suggest_columns(collection, header.split(","))


@pytest.mark.parametrize("name", _EXPORTS)
def test_suggestions_are_fields_of_the_collection_and_columns_of_the_file(name):
    collection, header = _EXPORTS[name]
    suggestion = _suggest(name)

    assert suggestion.columns
    assert set(suggestion.columns) <= set(file_fields.FIELDS[collection])
    assert set(suggestion.columns.values()) <= set(header.split(","))
    assert set(suggestion.words.values()) <= set(file_fields.WORDS[collection])


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
        (
            "affiliatewp sales",
            {"affiliateId": "Affiliate ID", "commission": "Amount", "orderId": "Reference", "state": "Status"},
            {"unpaid": "owed", "paid": "paid", "pending": "pending", "rejected": "lost"},
        ),
        ("affiliatewp", {"id": "Affiliate ID", "token": "Username"}, {"inactive": "Paused"}),
        ("pap", {"id": "!USERID", "token": "!REFID"}, {}),
        ("pap sales", {"id": "!TRANSID", "affiliateId": "!USERID", "orderId": "!ORDERID", "amount": "!TOTALCOST"}, {}),
        ("tapfiliate sales", {"orderId": "external_id", "customerId": "customer_id"}, {"disapproved": "lost"}),
        ("impact", {"id": "Action Id", "amount": "Sale Amount", "commission": "Payout"}, {"reversed": "lost"}),
        ("shareasale", {"id": "TRANSID", "commission": "commission", "amount": "sale amount"}, {"void": "lost"}),
        (
            "dub",
            {"amountCents": "amount", "commissionCents": "earnings", "affiliateId": "partner.id"},
            {"hold": "held"},
        ),
        ("rewardful", {"firstName": "first_name", "walletEmail": "paypal_email", "token": "token"}, {}),
        ("uppromote", {"firstName": "first_name", "lastName": "last_name", "email": "email"}, {}),
    ],
)
def test_known_export_has_its_columns_and_words(name, columns, words):
    suggestion = _suggest(name)

    assert columns.items() <= suggestion.columns.items()
    assert words.items() <= suggestion.words.items()


def test_order_of_several_commissions_is_not_their_id():
    assert "id" not in _suggest("affiliatewp sales").columns
    assert "id" not in _suggest("tapfiliate sales").columns


def test_state_that_does_not_say_whether_it_was_paid_gets_no_word():
    assert "a" not in _suggest("pap sales").words


@pytest.mark.parametrize(
    ("name", "parameter"), [("rewardful", "via"), ("refersion", "rfsn"), ("pap", "a_aid"), ("uppromote", None)]
)
def test_parameter_of_the_links_is_known_where_the_service_is(name, parameter):
    assert _suggest(name).parameter == parameter


def test_columns_of_other_files_are_guessed_without_words():
    suggestion = column_suggestions.suggest_columns(
        "customers", ["Customer ID", "Partner Email", "Email", "First Sale At", "Orders", "Notes"]
    )

    assert suggestion.service is None
    assert not suggestion.words
    assert suggestion.columns == {
        "affiliateEmail": "Partner Email",
        "customerId": "Customer ID",
        "email": "Email",
        "firstPaidAt": "First Sale At",
        "payments": "Orders",
    }


def test_heading_that_is_there_twice_is_not_suggested():
    suggestion = column_suggestions.suggest_columns("affiliates", ["email", "name", "EMAIL"])

    assert suggestion.columns == {"fullName": "name"}


@pytest.mark.parametrize(
    ("collection", "word", "meaning"),
    [
        ("commissions", "Unpaid", "owed"),
        ("commissions", "VOID", "lost"),
        ("commissions", "settled", None),
        ("affiliates", "Active", "Approved"),
        ("affiliates", "", "Approved"),
        ("commissions", "", None),
    ],
)
def test_usual_words_have_a_suggested_meaning(collection, word, meaning):
    assert column_suggestions.suggest_word(collection, word) == meaning


def test_columns_are_chosen_again_where_a_heading_is_gone_or_a_field_has_none():
    columns = column_suggestions.choose_again(
        {"email": "Mail", "fullName": "Nick", "group": "Tier"},
        {"email": "Email", "fullName": "Name", "status": "Status", "token": "Nick"},
        ["EMAIL", "Name", "Nick", "Status", "mail "],
    )

    assert columns == {"email": "Mail", "fullName": "Nick", "status": "Status"}


def test_amount_in_one_unit_gets_no_column_in_the_other():
    columns = column_suggestions.choose_again({"amountCents": "Sum"}, {"amount": "Total"}, ["Sum", "Total"])

    assert columns == {"amountCents": "Sum"}


def test_heading_of_two_fields_of_a_known_export_is_chosen_for_both():
    suggested = {"id": "id", "token": "id", "email": "email"}

    assert column_suggestions.choose_again({"id": "id"}, suggested, ["id", "email"]) == suggested

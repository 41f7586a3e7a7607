"""Affiliates, links, codes, customers and figures of source files. Source: the switch-over rules, B2 and B3."""

from datetime import UTC, datetime

import pytest

from adapters.switches.base import SourceRow, SwitchContext, UnreadableRow
from adapters.switches.files import SOURCE, read_figure
from domain.statuses import AffiliateStatus
from domain.switches.options import SwitchOptions
from domain.switches.reasons import LeftOutReason
from domain.switches.records import AffiliateRef
from domain.switches.sources import Collection
from tests.support.switches.file_rows import understand


@pytest.mark.parametrize(("fault", "message"), [("wrong_cell_count", "cells"), ("nul_character", "NUL")])
def test_row_that_was_stored_with_a_fault_is_unreadable(fault, message):
    context = SwitchContext(SwitchOptions(), {}, (), columns={"affiliates": {"email": "E"}})

    with pytest.raises(UnreadableRow, match=message):
        SOURCE.understand(SourceRow(Collection.Affiliates, "01/00000002", {"fault": fault}), context)


def test_first_filled_of_id_email_and_token_names_the_affiliate():
    columns = {"affiliateId": "P", "affiliateEmail": "M", "token": "T", "code": "C"}

    def read_affiliate(**cells):
        return understand("codes", {"C": "SAVE", **cells}, columns).affiliate

    assert read_affiliate(P="7", M="a@x.test", T="ada") == AffiliateRef("7", "a@x.test", "ada", campaign="all")
    assert read_affiliate(M="a@x.test") == AffiliateRef(email="a@x.test", campaign="all")
    assert read_affiliate(T="Ad%20A") == AffiliateRef(token="Ad A", campaign="all")
    assert understand("codes", {"C": "SAVE"}, columns).problem == LeftOutReason.AffiliateUnknown


_AFFILIATES = {
    "id": "Id",
    "email": "E",
    "firstName": "F",
    "lastName": "L",
    "status": "S",
    "token": "T",
    "walletEmail": "W",
    "group": "G",
    "campaign": "C",
}


def _affiliate(columns=_AFFILIATES, words=None, **cells):
    return understand("affiliates", {"Id": "7", "E": "ada@x.test", **cells}, columns, words=words)


def test_texts_are_one_line_without_control_characters():
    record = _affiliate(F="Ad\x1b[31ma\r\n", L="\u202eByron", G="Go\tld\x07", W="pay@x.test\x00", C="Ma\nin")

    assert (record.full_name, record.group.name) == ("Ad[31ma Byron", "Go ld")
    assert (record.wallet_email, record.campaign) == ("pay@x.test", "Ma in")
    assert _affiliate(F="\x07").full_name == ""


def test_affiliate_has_every_mapped_field():
    record = _affiliate(F="Ada", L="Byron", S="active", W="pay@x.test", G="Gold", C="Main", words={"Active": "Paused"})

    assert (record.source_id, record.email, record.full_name) == ("7", "ada@x.test", "Ada Byron")
    assert (record.status, record.word) == (AffiliateStatus.Paused, "active")
    assert (record.wallet_email, record.group.name, record.campaign) == ("pay@x.test", "Gold", "Main")


@pytest.mark.parametrize(
    ("word", "status"),
    [("", AffiliateStatus.Approved), ("BANNED", AffiliateStatus.Banned), ("strange", None)],
)
def test_affiliate_without_a_word_is_approved_and_an_unknown_word_has_no_status(word, status):
    assert _affiliate(S=word).status == status


@pytest.mark.parametrize("words", [{"": "Paused"}, {" ": "Paused"}])
def test_affiliate_without_a_word_is_what_the_brand_says(words):
    columns = {field: heading for field, heading in _AFFILIATES.items() if field != "status"}

    assert _affiliate(words=words, S="").status == AffiliateStatus.Paused
    assert _affiliate(columns=columns, words=words, S="active").status == AffiliateStatus.Paused


def test_affiliates_without_a_campaign_are_in_the_only_one():
    columns = {field: heading for field, heading in _AFFILIATES.items() if field != "campaign"}

    assert _affiliate(columns=columns, C="Main").campaign == "all"
    assert _affiliate(C="").campaign == "all"


def test_affiliate_without_an_email_is_a_record():
    assert _affiliate(E="").email is None


def test_token_of_an_affiliate_is_a_link_of_theirs():
    cells = {"id": "7", "e": "ada@x.test", "t": "Ad%C3%A9.x", "c": "Main"}
    context = SwitchContext(SwitchOptions(), {}, (), columns={"affiliates": _AFFILIATES, "links": {"token": "other"}})
    row = SourceRow(Collection.Links, "affiliates/01/00000002", {"cells": cells, "of": "affiliates"})

    record = SOURCE.understand(row, context)

    assert record.affiliate == AffiliateRef(id="7", email="ada@x.test", campaign="Main")
    assert (record.token, record.place, record.problem) == ("Ad\u00e9.x", 0, None)


@pytest.mark.parametrize(
    ("cell", "token"),
    [("Jane_Doe", "Jane_Doe"), ("a%2Bb", "a+b"), ("50%off", "50%off"), ("%ff", "%ff"), ("\u674e", "\u674e")],
)
def test_token_is_percent_decoded_once(cell, token):
    columns = {"affiliateEmail": "E", "token": "T", "parameter": "P"}
    record = understand("links", {"E": "a@x.test", "T": cell, "P": "via"}, columns)

    assert (record.token, record.parameter) == (token, "via")


@pytest.mark.parametrize("cell", ["", "x" * 191, "a%00b", "a%0Ab"])
def test_token_that_no_link_can_have_makes_the_row_unreadable(cell):
    with pytest.raises(UnreadableRow, match="Its link code"):
        understand("links", {"E": "a@x.test", "T": cell}, {"affiliateEmail": "E", "token": "T"})


def test_links_keep_the_order_of_parts_and_lines():
    columns = {"links": {"affiliateEmail": "E", "token": "T"}}
    context = SwitchContext(SwitchOptions(), {}, (), columns=columns)
    data = {"cells": {"e": "a@x.test", "t": "ada"}}

    places = [
        SOURCE.understand(SourceRow(Collection.Links, source_id, data), context).place
        for source_id in ("01/00000002", "01/00000010", "02/00000002", "12/00000002")
    ]

    assert places == sorted(set(places))
    assert places[0] > 0


_CUSTOMERS = {
    "id": "Id",
    "affiliateEmail": "M",
    "customerId": "C",
    "subscriptionId": "S",
    "email": "E",
    "name": "N",
    "firstPaidAt": "F",
    "payments": "P",
}


def test_customer_has_every_mapped_field():
    cells = {"Id": "1", "M": "a@x.test", "C": "cus_1", "S": "sub_1", "E": "eve@x.test", "N": "Eve", "F": "2024-01-01"}
    record = understand("customers", {**cells, "P": "3"}, _CUSTOMERS)

    assert (record.claimed_id, record.subscription_id, record.email) == ("cus_1", "sub_1", "eve@x.test")
    assert (record.name, record.first_paid_at, record.payments) == ("Eve", datetime(2024, 1, 1, tzinfo=UTC), 3)
    assert (record.affiliate.email, record.campaign, record.problem) == ("a@x.test", "all", None)


def test_customer_without_an_affiliate_is_left_out():
    record = understand("customers", {"Id": "1", "E": "eve@x.test"}, _CUSTOMERS)

    assert (record.affiliate, record.problem) == (None, LeftOutReason.CustomerWithoutAffiliate)


@pytest.mark.parametrize(
    ("cells", "message"),
    [({"P": "-1"}, "payments"), ({"P": "3.5"}, "payments"), ({"P": "1" * 30}, "payments"), ({"F": "soon"}, "first")],
)
def test_bad_number_or_time_of_a_customer_makes_the_row_unreadable(cells, message):
    with pytest.raises(UnreadableRow, match=message):
        understand("customers", {"M": "a@x.test", **cells}, _CUSTOMERS)


def test_customer_who_paid_meanwhile_keeps_the_key():
    columns = {field: heading for field, heading in _CUSTOMERS.items() if field != "id"}
    cells = {"M": "a@x.test", "E": "eve@x.test"}
    lead, payer = (understand("customers", {**cells, **more}, columns) for more in ({}, {"F": "2024-01-01", "P": "1"}))

    assert lead.source_id == payer.source_id


def test_code_is_needed():
    with pytest.raises(UnreadableRow, match="code"):
        understand("codes", {"M": "a@x.test"}, {"affiliateEmail": "M", "code": "C"})


_FIGURES = {"name": "N", "of": "O", "currency": "C", "cents": "V"}


@pytest.mark.parametrize(
    ("cells", "figure"),
    [
        (
            {"n": "Paid Commission", "o": "Ada@X.test", "c": "eur", "v": "980"},
            ("paid_commission", "ada@x.test", "EUR", 980),
        ),
        ({"n": "balance", "v": "-5"}, ("balance", "", "USD", -5)),
        ({"n": "total_affiliates", "v": "12"}, ("total_affiliates", "", "", 12)),
        ({"n": "balance", "v": "9.80"}, None),
        ({"n": "balance"}, None),
        ({"v": "5"}, None),
        ({"n": "balance", "c": "EURO", "v": "5"}, None),
    ],
)
def test_figure_is_read_with_the_currency_of_the_switch_where_it_has_none(cells, figure):
    read = read_figure({"cells": cells}, _FIGURES, "USD")

    assert (None if read is None else (read.name, read.subject, read.currency, read.value)) == figure


def test_files_request_nothing():
    assert SOURCE.lists(SwitchContext(SwitchOptions(), {}, ())) == ()
    assert (SOURCE.info.fields, SOURCE.info.address) == ((), "")
    assert [campaign.source_id for campaign in SOURCE.read_account({}).campaigns] == ["all"]

"""Mappings of source files: previews, words, campaigns, links of affiliates, figures, and what is missing."""

import pytest

from domain.refusals import Refused
from tests.support.switches.file_switch import FileSwitch

_AFFILIATES = (
    "Id,Mail,Name,State,Code,Plan\n1,Ada@x.test,Ada,active,Ada_B,Gold\n2,ben@x.test,Ben,odd,,Silver\n3,,Cy,active,cy,\n"
)
_AFFILIATE_COLUMNS = {"id": "Id", "email": "Mail", "fullName": "Name", "status": "State", "token": "Code"}
_SALES = (
    "Partner;Earned;Total;Date;State\n1;$9,80;49;2024-05-01 12:00:00;unpaid\n2;1.234,50;49;2024-05-01;paid\n"
    "3;5;10;2024-05-02;strange\n3;5,005;10;2024-05-03;paid\n;1;1;2024-05-04;paid\n"
)
_SALE_COLUMNS = {
    "affiliateId": "Partner",
    "commission": "Earned",
    "amount": "Total",
    "occurredAt": "Date",
    "state": "State",
}


@pytest.fixture
def switch(brand):
    return FileSwitch(brand)


def _set_columns(switch, **columns):
    return switch.change(columns=columns)


def test_preview_shows_affiliates_as_they_will_be(switch):
    switch.put("affiliates", _AFFILIATES)
    _set_columns(switch, affiliates=_AFFILIATE_COLUMNS)
    switch.change(words={"affiliates": {"active": "Approved"}})

    ada, ben, cy = switch.preview("affiliates")

    assert (ada.part, ada.line, ada.problem, ada.warnings) == (1, 2, None, ())
    assert ada.values == {
        "id": "1",
        "email": "Ada@x.test",
        "fullName": "Ada",
        "status": "Approved",
        "token": "Ada_B",
        "campaign": "all",
    }
    assert (ben.values["status"], ben.warnings) == ("Pending", ("unknown_status",))
    assert "email" not in cy.values


def test_preview_shows_amounts_in_minor_units_and_each_problem(switch):
    switch.put("affiliates", "Id,Mail\n1,ada@x.test\n2,ben@x.test\n3,cy@x.test\n")
    switch.put("commissions", _SALES)
    _set_columns(switch, affiliates={"id": "Id", "email": "Mail"}, commissions=_SALE_COLUMNS)
    switch.change(options={"currency": "EUR"}, words={"commissions": {"unpaid": "owed"}})

    rows = switch.preview("commissions")

    assert [row.line for row in rows] == [2, 3, 4, 5, 6]
    assert rows[0].values == {
        "affiliateId": "1",
        "commission": "$9,80",
        "amount": "49",
        "occurredAt": "2024-05-01T12:00:00+00:00",
        "state": "owed",
        "currency": "EUR",
        "amountCents": 4900,
        "commissionCents": 980,
    }
    assert [row.problem for row in rows] == [
        None,
        "unreadable_row",
        "unknown_status",
        "amount_out_of_range",
        "affiliate_unknown",
    ]
    assert "commission" in rows[1].message


def test_preview_follows_a_mapping_that_is_not_stored_yet(switch):
    switch.put("commissions", _SALES)

    rows = switch.preview(
        "commissions", columns={"commissions": _SALE_COLUMNS}, words={"commissions": {"strange": "lost"}}
    )

    assert rows[2].values["state"] == "lost"
    assert switch.find().columns == {}


def test_preview_has_ten_rows_in_the_order_of_parts_and_lines(switch):
    switch.put("codes", "email,code\n" + "".join(f"a@x.test,B{n}\n" for n in range(4)), part=2)
    switch.put("codes", "email,code\n" + "".join(f"a@x.test,a{n}\n" for n in range(8)), part=1)
    _set_columns(switch, codes={"affiliateEmail": "email", "code": "code"})

    codes = [row.values["code"] for row in switch.preview("codes")]

    assert codes == [*(f"A{n}" for n in range(8)), "B0", "B1"]


def test_collections_show_words_with_their_meanings(switch):
    switch.put("commissions", _SALES)
    _set_columns(switch, commissions=_SALE_COLUMNS)
    switch.change(words={"commissions": {"UNPAID": "held"}})

    [sales] = switch.collections()

    assert [(word.word, word.rows, word.meaning, word.suggested) for word in sales.words] == [
        ("paid", 3, None, "paid"),
        ("strange", 1, None, None),
        ("unpaid", 1, "held", "owed"),
    ]
    assert sales.missing == ()


def test_token_of_an_affiliate_becomes_a_row_of_links(switch):
    switch.put("links", "Mail,Token\nada@x.test,other\n")
    _set_columns(switch, affiliates=_AFFILIATE_COLUMNS)
    switch.put("affiliates", _AFFILIATES)

    links = switch.rows("links")

    assert list(links) == ["01/00000002", "affiliates/01/00000002", "affiliates/01/00000004"]
    _set_columns(switch, affiliates={"email": "Mail"})
    assert list(switch.rows("links")) == ["01/00000002"]
    _set_columns(switch, affiliates=_AFFILIATE_COLUMNS)
    switch.put("affiliates", "Id,Mail,Name,State,Code\n9,z@x.test,Z,active,zed\n")
    assert list(switch.rows("links")) == ["01/00000002", "affiliates/01/00000002"]


def test_links_file_in_place_of_a_part_leaves_the_tokens_of_affiliates(switch):
    _set_columns(switch, affiliates=_AFFILIATE_COLUMNS)
    switch.put("affiliates", _AFFILIATES)
    switch.put("links", "Mail,Token\nada@x.test,other\n")
    switch.put("links", "Mail,Token\nada@x.test,another\n")

    assert len(switch.rows("links")) == 3


def test_files_without_a_column_of_campaigns_have_one(switch):
    switch.put("affiliates", _AFFILIATES)

    assert [(campaign.source_id, campaign.affiliates) for campaign in switch.campaigns()] == [("all", 3)]


def test_values_of_the_column_of_campaigns_are_campaigns_and_keep_their_programs(switch, brand):
    program_id = brand.program()
    switch.put("affiliates", _AFFILIATES)
    _set_columns(switch, affiliates={**_AFFILIATE_COLUMNS, "campaign": "plan"})

    assert [(campaign.source_id, campaign.name, campaign.affiliates) for campaign in switch.campaigns()] == [
        ("Gold", "Gold", 1),
        ("all", "No campaign", 1),
        ("Silver", "Silver", 1),
    ]
    brand.rows(
        "update switch_campaign set program_id = %s where switch_id = %s and source_id = 'Gold' returning 1",
        program_id,
        switch.id,
    )
    switch.put("affiliates", _AFFILIATES.replace("Silver", "Bronze"))
    assert {campaign.source_id: campaign.program_id for campaign in switch.campaigns()} == {
        "Gold": program_id,
        "Bronze": None,
        "all": None,
    }


def test_column_with_too_many_values_is_no_column_of_campaigns(switch):
    switch.put("affiliates", "Mail\n" + "".join(f"a{n}@x.test\n" for n in range(501)))

    with pytest.raises(Refused) as refused:
        _set_columns(switch, affiliates={"email": "Mail", "campaign": "Mail"})

    assert (refused.value.status, refused.value.code) == (400, "invalid_request")


def test_unknown_field_of_a_mapping_is_refused(switch):
    with pytest.raises(Refused) as refused:
        _set_columns(switch, affiliates={"email": "Mail", "salary": "Pay"})

    assert (refused.value.status, refused.value.code, refused.value.field) == (400, "invalid_request", "columns")
    assert switch.find().columns == {}


def test_figures_are_stored_under_the_id_of_their_affiliate(switch, brand):
    switch.put("affiliates", _AFFILIATES)
    switch.put(
        "figures", "what,who,cur,sum\nbalance,ADA@x.test,eur,-5\nbalance,gone@x.test,EUR,7\ntotal affiliates,,,3\n"
    )
    _set_columns(
        switch,
        affiliates=_AFFILIATE_COLUMNS,
        figures={"name": "what", "of": "who", "currency": "cur", "cents": "sum"},
    )

    def read_figures():
        sql = "select name, subject, currency, value from switch_figure where switch_id = %s order by value"
        return brand.rows(sql, switch.id)

    assert read_figures() == [
        ("balance", "1", "EUR", -5),
        ("total_affiliates", "", "", 3),
        ("balance", "gone@x.test", "EUR", 7),
    ]
    switch.put("figures", "what,who,cur,sum\nbalance,ben@x.test,EUR,8\nbalance,ben@x.test,EUR,wrong\n")
    assert read_figures() == [("balance", "2", "EUR", 8)]
    assert [row.problem for row in switch.preview("figures")] == [None, "unreadable_row"]


def test_parameters_come_from_known_exports_and_the_column_of_parameters(switch):
    switch.put("affiliates", "id,offer_id,status,email,link\nr1,1,ACTIVE,a@x.test,https://x.test/?rfsn=r1\n")
    switch.put("links", "Mail,Token,Param\na@x.test,one,ref\na@x.test,two,via\na@x.test,three,ref\n")
    switch.change(columns={"links": {"affiliateEmail": "Mail", "token": "Token", "parameter": "Param"}})

    assert switch.find().parameters == ("rfsn", "ref", "via")


def _refusal(switch):
    with pytest.raises(Refused) as refused:
        switch.require_mapping()
    return refused.value.status, refused.value.code


def test_files_are_read_when_nothing_is_missing(switch):
    assert _refusal(switch) == (409, "mapping_missing")
    switch.put("figures", "name,cents\nbalance,1\n")
    assert _refusal(switch) == (409, "mapping_missing")
    switch.put("commissions", _SALES)
    assert _refusal(switch) == (409, "mapping_missing")
    _set_columns(switch, commissions=_SALE_COLUMNS, figures={"name": "name", "cents": "cents"})
    assert _refusal(switch) == (409, "currency_required")
    switch.change(options={"currency": "EUR"})
    switch.require_mapping()
    switch.put("commissions", "1;9,80;49;2024-05-01 12:00:00;unpaid\n2;1;49;2024-05-01;paid\n", part=2)
    assert _refusal(switch) == (409, "mapping_missing")
    assert "Part 2" in " ".join(switch.collections()[0].missing)


def test_other_tenants_files_are_not_found(switch, rival):
    theirs = FileSwitch(rival)
    theirs.id = switch.id

    for read in (theirs.collections, lambda: theirs.preview("affiliates")):
        with pytest.raises(Refused) as refused:
            read()
        assert refused.value.status == 404

"""Tolt: lists by the last id, amounts as text, currencies of the program, refunds as rows of their own."""

from dataclasses import replace
from datetime import datetime

import pytest

from adapters.switches.base import SourceResponse, UnreadablePage, UnreadableRow
from commands.demo.played import faults
from commands.demo.played.sample import Sample
from commands.demo.played.source import PlayedResponse
from domain.statuses import AffiliateStatus
from domain.switches.records import AffiliateRef, CommissionKind
from domain.switches.sources import Collection

_PROGRAM = "prg_sample0000000001"


@pytest.fixture
def walk(start):
    return start("tolt")


def _read_one(walk, name, collection, **values):
    """Return the record of a copy of the account's first row of a collection, with other values."""
    walk.account[name].append({**walk.account[name][0], "id": "new", **values})
    walk.walk()
    return walk.record(collection, "new")


def _read_commission(walk, **values):
    return _read_one(walk, "commissions", Collection.Commissions, **values)


def _read_customer(walk, **values):
    return _read_one(walk, "customers", Collection.Customers, **values)


def test_account_is_the_program_with_its_currency(walk):
    account = walk.read_account()

    assert (account.name, account.reference) == ("Sample program", _PROGRAM)
    [campaign] = account.campaigns
    assert (campaign.source_id, campaign.affiliates) == (_PROGRAM, 20)
    assert campaign.terms.commission_currency == "USD"


def test_a_program_without_partners_is_named_by_its_id(start):
    account = start("tolt", Sample(affiliates=0, customers=0, commissions=0)).read_account()

    assert (account.name, account.campaigns[0].source_id) == (_PROGRAM, _PROGRAM)


def test_all_lists_bring_the_account(start):
    walk = start("tolt", Sample(affiliates=130, customers=210, commissions=430)).walk()

    for collection, name in (
        (Collection.Affiliates, "partners"),
        (Collection.Links, "links"),
        (Collection.Codes, "promotion-codes"),
        (Collection.Customers, "customers"),
        (Collection.Commissions, "commissions"),
    ):
        assert {row.source_id for row in walk.rows_of(collection)} == {row["id"] for row in walk.account[name]}
        assert walk.figures[f"total_{collection.value}", "", ""] == len(walk.account[name])


def test_each_request_asks_for_the_program_in_ascending_order(walk):
    walk.walk()

    lists = [request for request in walk.server.log if request.value("limit") == "100"]
    assert {request.value("program_id") for request in lists} == {_PROGRAM}
    assert {request.value("order") for request in lists} == {"asc"}


def test_rows_added_meanwhile_come_with_the_last_page(start):
    walk = start("tolt", Sample(affiliates=2, customers=250, commissions=2))
    new = {**walk.account["customers"][0], "id": "cust_new"}
    walk.server.faults.add(
        faults.change_account(walk.account, lambda account: account["customers"].append(new), path="/customers", skip=1)
    )

    walk.walk()

    assert len(walk.rows_of(Collection.Customers)) == 251


def test_a_page_that_repeats_its_last_row_ends_the_list(walk):
    walked = next(item for item in walk.source.lists(walk.context) if item.name == "partners")
    body = {"success": True, "has_more": True, "data": [{"id": "part_1"}]}

    page = walk.source.read_page(walked, {"after": "part_1"}, SourceResponse(200, {}, body), walk.context)

    assert page.cursor is None


def test_the_cursor_is_the_last_row_with_an_id(walk):
    walked = next(item for item in walk.source.lists(walk.context) if item.name == "partners")
    body = {"success": True, "has_more": True, "data": [{"id": "part_1"}, {"note": "no id"}, None]}

    page = walk.source.read_page(walked, None, SourceResponse(200, {}, body), walk.context)

    assert page.cursor == {"after": "part_1"}


@pytest.mark.parametrize("is_nested", [True, False])
def test_a_list_may_be_nested(walk, is_nested):
    def unnest(response):
        body = dict(response.body)
        data = body["data"]["data"] if isinstance(body["data"], dict) else body["data"]
        return PlayedResponse({**body, "data": {"data": data} if is_nested else data})

    walk.server.faults.add(faults.change(unnest, times=faults.ALWAYS))

    walk.walk()

    assert len(walk.rows_of(Collection.Customers)) == 60
    assert len(walk.rows_of(Collection.Affiliates)) == 20


def test_an_answer_without_success_is_no_page(walk):
    walked = walk.source.lists(walk.context)[0]
    body = {"success": False, "data": [], "error": {"message": "no", "type": "api_error"}}

    with pytest.raises(UnreadablePage):
        walk.source.read_page(walked, None, SourceResponse(200, {}, body), walk.context)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("active", AffiliateStatus.Approved),
        ("pending", AffiliateStatus.Pending),
        ("rejected", AffiliateStatus.Rejected),
        ("suspended", AffiliateStatus.Paused),
        ("archived", None),
        (None, None),
    ],
)
def test_states_of_partners(walk, word, status):
    record = _read_one(walk, "partners", Collection.Affiliates, status=word)

    assert (record.status, record.word, record.campaign) == (status, word or "", _PROGRAM)


@pytest.mark.parametrize(
    ("value", "token"),
    [("Anna Bell", "Anna Bell"), ("Anna%20Bell", "Anna Bell"), ("UPPER", "UPPER"), ("x", "x"), (7, "7")],
)
def test_values_of_links_keep_their_spelling(walk, value, token):
    record = _read_one(walk, "links", Collection.Links, value=value, param="aff")

    assert (record.token, record.parameter) == (token, "aff")
    assert record.affiliate.id == walk.account["links"][0]["partner"]["id"]


def test_a_link_without_parameter_has_the_usual_one(walk):
    assert _read_one(walk, "links", Collection.Links, param=None).parameter == "ref"


@pytest.mark.parametrize("value", ["", None, "x" * 191, []])
def test_a_link_without_a_usable_value_is_unreadable(walk, value):
    with pytest.raises(UnreadableRow):
        _read_one(walk, "links", Collection.Links, value=value)


def test_a_code_of_a_group_belongs_to_no_partner(walk):
    record = _read_one(walk, "promotion-codes", Collection.Codes, partner_id=None, group_id="grp_1")

    assert record.affiliate == AffiliateRef()


@pytest.mark.parametrize(("active", "is_archived"), [(True, False), (False, True), (None, False)])
def test_inactive_codes_are_archived(walk, active, is_archived):
    assert _read_one(walk, "promotion-codes", Collection.Codes, active=active).is_archived is is_archived


def test_own_id_of_a_customer_is_never_the_billing_id(walk):
    walk.account["customers"].append(
        {**walk.account["customers"][0], "id": "cus_tolt", "customer_id": "user-9", "subscription_id": "sub_9"}
    )

    walk.walk()

    record = walk.record(Collection.Customers, "cus_tolt")
    assert (record.billing_id, record.claimed_id, record.subscription_id) == (None, "user-9", "sub_9")


def test_a_customer_has_their_times_and_partner(walk):
    record = _read_customer(walk, lead_at="2026-01-01T00:00:00Z", active_at="2026-02-01T00:00:00Z")

    assert record.became_lead_at == datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    assert record.first_paid_at == datetime.fromisoformat("2026-02-01T00:00:00+00:00")
    assert record.affiliate.id == walk.account["customers"][0]["partner"]["id"]
    assert record.campaign == _PROGRAM


def test_a_customer_without_a_partner_names_no_affiliate(walk):
    assert _read_customer(walk, partner=None).affiliate is None


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("pending", CommissionKind.Pending),
        ("approved", CommissionKind.Owed),
        ("paid", CommissionKind.Paid),
        ("rejected", CommissionKind.Denied),
        ("refunded", CommissionKind.Refunded),
        ("new", None),
        (None, None),
    ],
)
def test_states_of_commissions(walk, word, kind):
    assert _read_commission(walk, status=word).kind == kind


@pytest.mark.parametrize(
    ("amount", "revenue", "cents"),
    [("570", "1900", (570, 1900)), (570, 1900, (570, 1900)), ("570.00", None, (570, 0)), (0, "", (0, 0))],
)
def test_amounts_are_text_or_numbers(walk, amount, revenue, cents):
    record = _read_commission(walk, amount=amount, revenue=revenue)

    assert (record.commission_cents, record.amount_cents) == cents
    assert record.problem is None


def test_fractions_of_a_cent_leave_a_commission_out(walk):
    record = _read_commission(walk, amount="570.5")

    assert (record.problem, record.commission_cents) == ("amount_out_of_range", 0)


@pytest.mark.parametrize(
    ("stated", "of_program", "chosen", "currency"),
    [
        ("eur", "USD", "GBP", "EUR"),
        (None, "USD", "GBP", "USD"),
        (None, None, "GBP", "GBP"),
        (None, None, None, None),
    ],
)
def test_a_commission_without_currency_has_the_programs(walk, stated, of_program, chosen, currency):
    walk.context = replace(
        walk.context,
        currencies={_PROGRAM: of_program} if of_program else {},
        options=replace(walk.context.options, currency=chosen),
    )

    assert _read_commission(walk, currency=stated).currency == currency


def test_a_commission_names_its_sale_and_customer(walk):
    walk.walk()

    row = walk.account["commissions"][1]
    record = walk.record(Collection.Commissions, row["id"])
    assert (record.payment, record.charge_id) == (row["transaction_id"], row["charge_id"])
    assert record.customer == row["customer"]["id"]
    assert (record.claimed_id, record.customer_email) == (row["customer"]["customer_id"], row["customer"]["email"])
    assert record.affiliate.id == row["partner"]["id"]
    assert record.due_at == datetime.fromisoformat(row["scheduled_approval_date"])
    assert record.occurred_at == datetime.fromisoformat(row["created_at"])


@pytest.mark.parametrize("amount", ["-570", 570])
def test_a_refund_takes_back(walk, amount):
    record = _read_commission(walk, type="refund", amount=amount, revenue="-1900", status="approved")

    assert (record.commission_cents, record.amount_cents) == (-570, -1900)
    assert record.kind == CommissionKind.Owed


@pytest.mark.parametrize("kind", ["bonus", None, "something"])
def test_other_types_are_ordinary_commissions(walk, kind):
    record = _read_commission(walk, type=kind, amount=500, revenue=None, customer=None, transaction_id=None)

    assert (record.commission_cents, record.amount_cents, record.customer) == (500, 0, None)
    assert record.is_sale == (kind != "bonus")


def test_a_partner_who_is_only_named_is_a_rejected_mention(walk):
    gone = {"id": "part_gone", "email": "gone@example.com", "first_name": "Gone", "last_name": None}
    walk.account["customers"].append({**walk.account["customers"][0], "id": "new", "partner": gone})

    walk.walk()

    [mention] = walk.mentions()
    record = walk.source.understand(mention, walk.context)
    assert (record.source_id, record.status, record.campaign) == ("part_gone", AffiliateStatus.Rejected, _PROGRAM)
    assert walk.record(Collection.Customers, "new").affiliate == AffiliateRef(
        "part_gone", "gone@example.com", name="Gone"
    )

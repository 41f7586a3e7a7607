"""Dub: partners of every status, short links, clawbacks, and what its objects mean."""

from datetime import UTC, datetime

import pytest

from adapters.switches.base import SourceResponse, SourceRow, UnreadablePage, UnreadableRow
from commands.demo.played.sample import Sample
from domain.statuses import AffiliateStatus
from domain.switches.records import AffiliateRef, CommissionKind
from domain.switches.sources import Collection
from tests.support.switches.walking import Walk

_LISTS = {
    Collection.Affiliates: "partners",
    Collection.Codes: "discount_codes",
    Collection.Customers: "customers",
    Collection.Commissions: "commissions",
}


@pytest.fixture
def walk(start):
    return start("dub")


def _list(walk: Walk, name: str):
    return next(walked for walked in walk.source.lists(walk.context) if walked.name == name)


def _understand(walk: Walk, collection: Collection, **data):
    return walk.source.understand(SourceRow(collection, data.get("id", "content-1"), data), walk.context)


def _commission(walk: Walk, **values):
    data = {
        "id": "cm_1",
        "type": "sale",
        "amount": 5_000,
        "earnings": 1_000,
        "currency": "usd",
        "status": "processed",
        "invoiceId": "in_1",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "partner": {"id": "pn_1", "name": "Ann Berg", "email": "ann@example.com"},
        "customer": {"id": "cus_1", "externalId": "user-1", "stripeCustomerId": "cus_S", "email": "b@example.com"},
    }
    return _understand(walk, Collection.Commissions, **(data | values))


def test_all_lists_bring_the_account(start):
    walk = start("dub", Sample(affiliates=230, customers=210, commissions=430)).walk()

    for collection, name in _LISTS.items():
        assert {row.source_id for row in walk.rows_of(collection)} == {row["id"] for row in walk.account[name]}
    assert {record.source_id: record.token for record in walk.understand(Collection.Links)} == {
        link["id"]: link["key"] for row in walk.account["partners"] for link in row["links"]
    }


@pytest.mark.parametrize("count", [1, 99, 100, 101, 200])
def test_no_row_is_lost_where_pages_end(start, count):
    walk = start("dub", Sample(affiliates=count, customers=count, commissions=count)).walk()

    assert len(walk.rows_of(Collection.Affiliates)) == count
    assert len(walk.rows_of(Collection.Customers)) == count
    assert len(walk.rows_of(Collection.Commissions)) == count


def test_a_list_that_knows_no_pages_ends(walk):
    response = SourceResponse(200, {}, [{"id": "dcode_1", "code": "SAVE", "partnerId": "pn_000000"}])
    codes = _list(walk, "discount_codes")

    first = walk.source.read_page(codes, None, response, walk.context)
    second = walk.source.read_page(codes, first.cursor, response, walk.context)

    assert first.cursor is not None
    assert second.cursor is None


def test_a_page_after_an_id_that_ends_with_it_is_read_again(walk):
    response = SourceResponse(200, {}, [{"id": "cm_1"}])

    with pytest.raises(UnreadablePage):
        walk.source.read_page(_list(walk, "commissions"), {"after": "cm_1"}, response, walk.context)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("approved", AffiliateStatus.Approved),
        ("pending", AffiliateStatus.Pending),
        ("invited", AffiliateStatus.Pending),
        ("rejected", AffiliateStatus.Rejected),
        ("declined", AffiliateStatus.Rejected),
        ("deactivated", AffiliateStatus.Paused),
        ("archived", AffiliateStatus.Paused),
        ("banned", AffiliateStatus.Banned),
    ],
)
def test_partners_of_every_status_are_listed(walk, status, expected):
    walk.account["partners"].update(0, status=status)

    walk.walk()

    assert walk.record(Collection.Affiliates, "pn_000000").status == expected


def test_an_unknown_status_is_kept_as_a_word(walk):
    record = _understand(walk, Collection.Affiliates, id="pn_1", status="unheard_of", email=None)

    assert (record.status, record.word, record.email) == (None, "unheard_of", None)


def test_a_partner_has_name_group_and_wallet(walk):
    walk.walk()

    record = walk.record(Collection.Affiliates, "pn_000000")
    assert (record.full_name, record.email) == ("Anna Berg", "partner0@example.com")
    assert (record.wallet_email, record.group.name) == ("paypal0@example.com", "grp_standard")
    assert record.created_at == datetime(2024, 11, 10, 4, tzinfo=UTC)


def test_links_are_short_links_whose_key_is_also_the_parameter(walk):
    walk.walk()

    links = [record for record in walk.understand(Collection.Links) if record.affiliate.id == "pn_000000"]
    assert [(record.token, record.place, record.parameter) for record in links] == [
        ("Anna.Bell", 0, "via"),
        ("blog-0", 1, "via"),
    ]
    assert links[0].url == "https://go.example.com/Anna.Bell"


def test_a_disabled_code_is_archived(walk):
    walk.walk()

    codes = {record.code: record.is_archived for record in walk.understand(Collection.Codes)}
    assert codes == {"SAVE0": False, "SAVE5": True, "SAVE10": False, "SAVE15": True}


def test_a_customer_has_stripe_id_and_first_sale(walk):
    walk.walk()

    paying, lead = (walk.record(Collection.Customers, f"cus_dub_{index:08d}") for index in (0, 59))
    assert (paying.billing_id, paying.claimed_id) == ("cus_00000000000000", "user-0")
    assert paying.first_paid_at == datetime(2024, 11, 12, tzinfo=UTC)
    assert paying.payments == 4
    assert (lead.billing_id, lead.first_paid_at, lead.payments) == (None, None, 0)
    assert paying.affiliate == AffiliateRef(id="pn_000000", email="partner0@example.com", name="Anna Berg")


@pytest.mark.parametrize("partner", [None, {}, "text"])
def test_a_customer_may_have_no_partner(walk, partner):
    record = _understand(walk, Collection.Customers, id="cus_1", partner=partner, link=None)

    assert record.affiliate is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("paid", CommissionKind.Paid),
        ("processed", CommissionKind.Owed),
        ("pending", CommissionKind.Pending),
        ("hold", CommissionKind.Held),
        ("fraud", CommissionKind.Held),
        ("refunded", CommissionKind.Refunded),
        ("canceled", CommissionKind.Denied),
        ("duplicate", CommissionKind.Denied),
        ("unheard_of", None),
        (None, None),
    ],
)
def test_statuses_become_kinds(walk, status, kind):
    assert _commission(walk, status=status).kind == kind


def test_a_commission_has_its_sale_and_names_both_sides(walk):
    record = _commission(walk)

    assert (record.currency, record.amount_cents, record.commission_cents) == ("USD", 5_000, 1_000)
    assert record.affiliate == AffiliateRef(id="pn_1", email="ann@example.com", name="Ann Berg")
    assert (record.customer, record.billing_id, record.claimed_id) == ("cus_1", "cus_S", "user-1")
    assert (record.payment, record.charge_id) == ("in_1", "in_1")
    assert record.occurred_at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("currency", ["jpy", "kwd"])
def test_amounts_are_minor_units_of_their_currency(walk, currency):
    record = _commission(walk, currency=currency, amount=1_234, earnings=123)

    assert (record.currency, record.amount_cents, record.commission_cents) == (currency.upper(), 1_234, 123)


def test_a_click_reward_has_no_customer_and_no_sale(walk):
    record = _commission(walk, type="click", amount=0, customer=None, invoiceId=None)

    assert (record.amount_cents, record.customer, record.billing_id, record.payment) == (0, None, None, None)
    assert not record.is_sale


def test_a_clawback_takes_back(walk):
    record = _commission(
        walk, type="custom", amount=0, earnings=-1_000, customer=None, invoiceId=None, status="pending"
    )

    assert (record.amount_cents, record.commission_cents) == (0, -1_000)
    assert record.kind == CommissionKind.Pending


def test_an_amount_that_is_no_number_is_unreadable(walk):
    with pytest.raises(UnreadableRow):
        _commission(walk, earnings={"cents": 5})


def test_sums_that_dub_states_are_those_of_the_rows(walk):
    walk.account["partners"].update(1, totalSaleAmount=None)

    walk.walk()

    sums: dict[tuple[str, str], int] = {}
    for record in walk.understand(Collection.Commissions):
        is_lost = record.kind in (CommissionKind.Refunded, CommissionKind.Denied)
        for name, subject, cents in (
            ("sale_amount", record.affiliate.id, record.amount_cents),
            ("commission_amount", record.affiliate.id, 0 if is_lost else record.commission_cents),
            ("customer_sale_amount", record.customer, record.amount_cents),
            ("customer_sales", record.customer, 1),
        ):
            sums[name, subject] = sums.get((name, subject), 0) + cents
    del sums["sale_amount", "pn_000001"]
    assert {key: value for key, value in sums.items() if value} == {
        (name, subject): value for (name, subject, _), value in walk.figures.items() if value
    }


def test_a_partner_whom_only_customers_name_is_a_mention(walk):
    walk.account["partners"].delete(3)

    walk.walk()

    record = walk.source.understand(walk.mentions()[0], walk.context)
    assert len(walk.mentions()) == 1
    assert (record.source_id, record.email) == ("pn_000003", "partner3@example.com")
    assert (record.status, record.is_mention) == (AffiliateStatus.Rejected, True)

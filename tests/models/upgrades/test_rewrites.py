"""No migration rewrites a table; if one is rewritten anyway, no request gets "not found" for an existing row.

docs/upgrades.md, "Table rewrites".
"""

import importlib
import itertools
import pkgutil
import re
import sys
from pathlib import Path
from uuid import UUID

import pytest

import models
from adapters import clock
from models import db, migrate
from models.prepared_statements import FreshSelect, Lookup, PreparedStatement
from models.schema import steps
from pipelines.conversions import settlement
from tests.models.upgrades import rewriting
from tests.support import databases
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.rows import link_visits
from tests.support.rows.leads import slug_of
from tests.support.running.trips import record_round_trips

_FOLDER = Path(migrate.__file__).parent / "migrations"


def test_migration_rewrites_no_existing_table(empty_database):
    rewritten = {}
    with databases.owner_cursor(empty_database) as cursor:
        for name in migrate.names():
            before = rewriting.read_storage(cursor)
            text = (_FOLDER / f"{name}.sql").read_text()
            steps.apply(cursor.connection, text, name=name, record=lambda cursor: None, report=lambda line: None)
            if tables := rewriting.rewritten_tables(before, rewriting.read_storage(cursor)):
                rewritten[name] = tables

    # A rewrite hides the table's rows from prepared statements that wait for it. docs/upgrades.md has other ways.
    assert rewritten == {}


_SHOP = """
create table shop (id int primary key, name varchar(10), size int not null, opened timestamptz default now());
create unlogged table visit (id int, shop_id int);
create access method heap_again type table handler heap_tableam_handler;
create index shop_name on shop (name);
"""
_REWRITING = [
    "alter table shop add column twice int generated always as (size * 2) stored",
    "alter table shop alter column size type bigint",
    "alter table shop alter column name type text using name || ''",
    "alter table shop alter column opened type date",
    "alter table shop add column key uuid default gen_random_uuid()",
    "alter table shop add column seen timestamptz default clock_timestamp()",
    "alter table shop add column number serial",
    "alter table shop add column number bigint generated always as identity",
    "alter table shop set unlogged",
    "alter table shop set access method heap_again",
    "cluster shop using shop_name",
    "truncate shop",
    "create table other (like shop); drop table shop; alter table other rename to shop",
    "do $$ begin execute 'alter table shop add column drawn float default random()'; end $$",
]
_KEEPING = [
    "alter table shop add column owner text",
    "alter table shop add column owner text not null default ''",
    "alter table shop add column seen timestamptz default now()",
    "alter table shop add column twice int; alter table shop alter column twice set default 3",
    "alter table shop alter column name type varchar(20)",
    "alter table shop alter column name type text",
    "alter table shop alter column size drop not null",
    "alter table shop drop column size",
    "create table other (id int generated always as identity, size int generated always as (1) stored)",
    "create table other (id int); alter table other alter column id type bigint",
    "create index on shop (size)",
    "drop table visit",
]


def test_every_rewriting_change_is_reported_and_no_other(empty_database):
    databases.run_as_owner(empty_database, _SHOP)
    with databases.owner_cursor(empty_database) as cursor:
        before = rewriting.read_storage(cursor)
        for change, expected in [
            *((change, {"shop"}) for change in _REWRITING),
            *((change, set()) for change in _KEEPING),
        ]:
            cursor.execute(f"begin; {change}")
            tables = rewriting.rewritten_tables(before, rewriting.read_storage(cursor))
            cursor.execute("rollback")
            assert tables == expected, change
        cursor.execute("begin; alter table visit set logged")
        assert rewriting.rewritten_tables(before, rewriting.read_storage(cursor)) == {"visit"}


@pytest.mark.parametrize(
    "statement", ["vacuum full shop", "vacuum (full) shop", "cluster shop", "cluster", "reindex table shop"]
)
def test_rewriting_statement_outside_a_transaction_is_refused(statement):
    with pytest.raises(steps.MigrationHalted, match="Not repeatable"):
        steps.statements(f"-- outside a transaction\n{statement};\n")


def test_prepared_statement_that_waits_for_a_rewrite_sees_no_row(brand):
    """The reason for these tests: PostgreSQL takes the snapshot of a prepared select before it waits for the lock."""
    brand.program()
    statement = PreparedStatement("select name from program where id = %s")

    def names():
        with db.unit_of_work(brand.id):
            return db.db.run(statement, brand.programs)

    assert rewriting.answer_across_rewrite("program", names) == []
    assert names() == [("Campaign",)]


_NUMBERS = itertools.count()


def _sale(brand):
    return brand.sale(affiliateSlug=slug_of(brand))


def _lead(brand):
    body = {"affiliateSlug": slug_of(brand), "email": f"ada-{next(_NUMBERS)}@example.com"}
    return brand.post_signed("/api/tracking/lead", body)


def _click(brand):
    return link_visits.post_click(brand.app, slug_of(brand))


def _click_of_program(brand):
    return link_visits.post_click(brand.app, slug_of(brand), programId=str(brand.programs[-1]))


def _short_link(brand):
    return link_visits.follow(brand.app, slug_of(brand))


def _door(brand):
    return link_visits.visit(brand.app, f"/door/{brand.programs[-1]}/{slug_of(brand)}")


def _refund(brand):
    return brand.refund("order-of-ada", 1)


def _conversion(brand):
    (conversion_id,) = brand.rows("select id from sale where external_event_id = 'order-of-ada'")[0]
    return brand.get(f"/api/v1/conversions/{conversion_id}")


def _landing(brand):
    return brand.app.test_client().get(f"/api/p/by-handle/h-{brand.id.hex}")


def _portal_host(brand):
    return brand.app.test_client().get("/", headers={"Host": f"{brand.id.hex}.test"})


def _served_host(brand):
    return brand.app.test_client().get(f"/api/p/by-domain?host={brand.id.hex}.test")


# The request of each public or hot endpoint, its status if the row exists, and the tables it reads.
_REQUESTS = [
    (_sale, 200, "tracking_link affiliate program sale api_key"),
    (_lead, 200, "tracking_link affiliate program organization lead api_key"),
    (_click, 200, "tracking_link affiliate program organization"),
    (_click_of_program, 200, "tracking_link affiliate program organization"),
    (_short_link, 302, "tracking_link affiliate program organization"),
    (_door, 302, "tracking_link affiliate program organization"),
    (_refund, 200, "sale conversion api_key"),
    (_conversion, 200, "conversion api_key organization"),
    (_landing, 200, "organization program"),
    (_portal_host, 200, "organization program"),
    (_served_host, 200, "organization program"),
]


@pytest.fixture
def shop(brand):
    brand.set(subdomain=f"h-{brand.id.hex}")
    brand.program(
        hosted_checkout_door_enabled=True,
        hosted_checkout_door_mode="redirect",
        referral_destination_url="https://shop.test/",
        custom_domain=f"{brand.id.hex}.test",
        custom_domain_verified=True,
    )
    brand.affiliate(slug_of(brand))
    assert brand.sale(externalEventId="order-of-ada", affiliateSlug=slug_of(brand)).status_code == 200
    return brand


def _requests_and_tables():
    for send_request, status, tables in _REQUESTS:
        name = send_request.__name__.strip("_")
        yield from (pytest.param(send_request, status, table, id=f"{name}-{table}") for table in tables.split())


@pytest.mark.parametrize(("send_request", "status", "table"), list(_requests_and_tables()))
def test_request_during_a_rewrite_of_its_table_finds_its_row(shop, send_request, status, table):
    response = rewriting.answer_across_rewrite(table, lambda: send_request(shop))

    assert response.status_code == status, response.text
    if "click" in send_request.__name__:
        assert "clickId" in response.json


def test_gateway_webhook_during_a_rewrite_finds_its_connection(brand):
    with play_gateway() as stage:
        path = "/" + connect_gateway(brand.person(), stage)["webhookUrl"].split("/", 3)[3]

        def send():
            return brand.app.test_client().post(path, data=b"{}").status_code

        assert send() == 401  # the connection is known, the signature is not valid
        assert rewriting.answer_across_rewrite("gateway_connection", send) == 401


@pytest.mark.parametrize("table", ["sale", "affiliate", "program"])
def test_sale_is_settled_during_a_rewrite(shop, table):
    slug = slug_of(shop)
    sale_ids = iter([UUID(shop.sale(affiliateSlug=slug).json["conversionId"]) for _ in range(2)])

    def settle_next():
        sale_id = next(sale_ids)
        with db.unit_of_work(shop.id):
            settlement.settle_sale(organization_id=shop.id, sale_id=sale_id, now=clock.now())
        return sale_id

    sale_id = rewriting.answer_across_rewrite(table, settle_next)

    assert shop.rows("select count(*) from conversion where id = %s", sale_id) == [(1,)]


def test_only_a_missing_row_costs_a_second_statement(shop):
    lookup = Lookup("select id from program where id = %s")
    with db.unit_of_work(shop.id):
        db.db.run(lookup, shop.programs)  # prepared
        with record_round_trips() as existing:
            assert db.db.run(lookup, shop.programs) != []
        with record_round_trips() as missing:
            assert db.db.run(lookup, (shop.id,)) == []

    assert (len(existing), len(missing)) == (1, 2)


def prepared_selects():
    """Return the prepared selects of the models by module and name. Statements that write take their own snapshot."""
    for module in pkgutil.walk_packages(models.__path__, "models."):
        importlib.import_module(module.name)
    return {
        f"{module.removeprefix('models.')}.{name}": value
        for module, loaded in sorted(sys.modules.items())
        if module.startswith("models.")
        for name, value in vars(loaded).items()
        if isinstance(value, PreparedStatement) and not _WRITES.search(value.prepare.decode())
    }


_WRITES = re.compile(r"\b(insert into|update \w+( as)?( \w+)?\s+set|delete from)\b", re.IGNORECASE)
# Prepared selects that are executed only once, by the meaning of a missing row.
_ONCE = {
    "a list, which is read again": """
        affiliates.embed_tokens._PAGE affiliates.own_links._ANY_ORG_LINKS affiliates.timeline._TIMELINE
        affiliates.tracking_links._OF_AFFILIATES
        deals.milestones._OF_DEAL payouts.lists._LINES payouts.lists._FIRST_LINES payouts.lists._NEXT_LINES
        payouts.receipts._OF_PERSON payouts.receipts._OF_AFFILIATE payouts.receipts._LINES
        payouts.run_lists._PAGE payouts.run_lists._NEXT_PAGE
        search._SEARCH
        switches.listing._LIST_CAMPAIGNS switches.listing._LIST_PROGRESS switches.staging.reading._LIST_ALL
        programs.own_numbers._BY_DAY programs.own_numbers._BY_CHANNEL programs.own_numbers._OF_AFFILIATE""",
    "a pointer of a job that is done: a job that is not comes again after its deadline": """
        jobs.batches._LOCK jobs.rows._LOCK""",
    "never: it takes an advisory lock": "advisory_locks._LOCK_PREPARED advisory_locks._LOCK_ALL",
    "never: its function looks anew for each of its statements": """
        conversions.customers._COUNT conversions.customers._COUNT_OF_SUBSCRIPTION""",
}


def test_prepared_selects_with_significant_missing_rows_see_rewritten_rows():
    safe = (Lookup, FreshSelect)
    once = {name for name, statement in prepared_selects().items() if not isinstance(statement, safe)}

    # A missing row that ends a request or a job needs a `Lookup`, missing rows that a decision is based on a
    # `FreshSelect` (models.prepared_statements).
    assert once == {name for names in _ONCE.values() for name in names.split()}


# An existing row with a missing part does not execute a `Lookup` again.
_PARTS = re.compile(r"left join|exists\s*\(|\bcount\(|\bsum\(|\(\s*select\b")
_WHOLE = {
    "conversions.sales._LOOK_UP": "it reports a missing link by its first columns",
    "leads.rows._BY_SLUG": "it reports a missing link by its first columns",
    "clicks.public_links._FIND": "a slug without a link or old token leaves no row",
    "clicks.public_links._FIND_BARE": "a slug without a link or old token leaves no row",
    "clicks.public_links._FIND_BY_ID": "a slug without a link or old token leaves no row",
    "clicks.public_links._FIND_BY_PIXEL": "a pixel that is not found leaves no row",
    "clicks.public_links._FIND_BY_TAG": "a slug without a link in the organization of the tag leaves no row",
    "clicks.public_links._FIND_BY_SLUG": "an organization that is not found leaves no row",
    "coupons.affiliate_coupons._FIND": "the gateway of its connection is only shown",
    "coupons.affiliate_coupons._LOCK": "the gateway of its connection is only shown",
    "payouts.receipts._FIND": "it is a page to read, which is read again",
    "payouts.run_lists._ONE": "it is a page to read, which is read again",
    "storefront._BY_SLUG": "it is a page to read, which is read again",
    "storefront._MAIN": "it is a page to read, which is read again",
}


def test_lookup_selects_whole_rows_only():
    with_parts = {
        name
        for name, statement in prepared_selects().items()
        if isinstance(statement, Lookup) and _PARTS.search(statement.prepare.decode())
    }

    assert with_parts == set(_WHOLE)

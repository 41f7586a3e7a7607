"""Every table has a placement on a distributed PostgreSQL; obstacles are reported. Source: docs/scale.md."""

import os

import pytest

from models import db
from models.schema import distribution, owners
from tests.models.keys import prepared_plans
from tests.support import databases

# Operators and people look these up by their id alone, or a conflict names a key without the organization. Lines are to
# be listed by their payout first.
_WITHOUT_ORGANIZATION = {"deal", "deal_milestone", "gateway_event", "payout", "payout_line", "payout_run", "web_pixel"}
# The secret identifies the organization, so an index of the secret alone must be unique.
_FOUND_BY_SECRET = {"api_key", "gateway_connection"}
# Prepared statements join these by their id alone; a program's own host is unique in the whole service, too.
_JOINED_BY_ID = {"affiliate", "partner_group", "program"}
# The sandbox is one rail and one processor for all brands: a key that one of them used is taken.
_OF_ONE_RAIL = {"sandbox_charge", "sandbox_transfer"}
# Tables are removed from these lists over time, never added.
_WITH_TRIGGERS = {"click", "conversion", "day_change", "payout_line"}
_REFERRING_ELSEWHERE = {"organization", "rail_event", "restored_transfer"}
# Read before the organization is known, or for a person with rows at several brands.
_OF_ANY_ORGANIZATION = {
    "affiliates.own_links._ANY_ORG_LINKS",
    "clicks.doors._FIND",
    "clicks.public_links._FIND",
    "clicks.public_links._FIND_BARE",
    "clicks.public_links._FIND_BY_ID",
    "clicks.public_links._FIND_BY_PIXEL",
    "clicks.public_links._FIND_BY_SLUG",
    "clicks.public_links._FIND_BY_TAG",
    "gateways.connections._BY_TOKEN",
    "payouts.receipts._FIND",
    "payouts.receipts._OF_PERSON",
    "programs.own_numbers._BY_DAY",
    "programs.own_numbers._BY_CHANNEL",
}
# Join affiliates, programs, groups or endpoints by their id alone, which decision 49 explains.
_BY_ID_ALONE = {
    "affiliates.tracking_links._OF_AFFILIATES",
    "clicks.batches._PAID_FOR_CLICKS",
    "conversions.partners._FIND",
    "conversions.sales._LOOK_UP",
    "conversions.sales._ACCEPT",
    "conversions.sales._FACTS",
    "gateways.credit_candidates._CANDIDATES",
    "leads.rows._BY_ID",
    "leads.rows._BY_SLUG",
    "programs.budgets._TERMS",
}


@pytest.fixture(scope="module")
def plans(app):
    return distribution.plan_database(os.environ["DATABASE_OWNER_URL"])


def test_every_table_has_a_placement(plans):
    unplaced = [plan.table for plan in plans if any("no listed placement" in refusal for refusal in plan.refusals)]

    assert unplaced == []
    assert {plan.placement for plan in plans} == {"distributed", "reference", "local"}
    assert all(plan.reason for plan in plans)


def test_obstacles_to_distribution_match_the_documented_list(plans):
    plans_by_table = {
        word: {plan.table for plan in plans if any(refusal.startswith(word) for refusal in plan.refusals)}
        for word in ("unique index", "trigger", "foreign key")
    }

    assert plans_by_table == {
        "unique index": _WITHOUT_ORGANIZATION | _FOUND_BY_SECRET | _JOINED_BY_ID | _OF_ONE_RAIL,
        "trigger": _WITH_TRIGGERS,
        "foreign key": _REFERRING_ELSEWHERE,
    }
    assert {plan.table for plan in plans if plan.refusals} == set().union(*plans_by_table.values())


def test_referenced_tables_are_placed_first(plans):
    placed = set()
    for plan in plans:
        placed.add(plan.table)
        unplaced = plan.refers_to - placed
        # Brands refer to pictures and pictures to a brand: a circular reference, which is refused.
        assert unplaced == ({"stored_file"} if plan.table == "organization" else set()), plan.table


def test_prepared_statement_reads_rows_of_one_organization(isolated_database, plans):
    distributed = {plan.table for plan in plans if plan.placement == "distributed"}
    with db.any_org_work():
        accesses_by_statement = {
            name: prepared_plans.read_accesses(statement)
            for name, statement in prepared_plans.list_statements().items()
        }
    crossing = {
        name
        for name, accesses in accesses_by_statement.items()
        if any(access.table in distributed and not access.requires("organization_id") for access in accesses)
    }

    assert crossing == _OF_ANY_ORGANIZATION | _BY_ID_ALONE


def test_undistributable_table_is_refused_with_its_reason(empty_database):
    databases.run_as_owner(
        empty_database,
        "create table organization (id uuid primary key);"
        "create table member (id uuid primary key, organization_id uuid not null references organization);"
        "create table thing (organization_id uuid, id uuid, primary key (organization_id, id));"
        "create table part (organization_id uuid not null, id uuid not null, thing_id uuid not null unique,"
        "  primary key (organization_id, id),"
        "  foreign key (organization_id, thing_id) references thing (organization_id, id));"
        "create table other (id int primary key); create table job (id int primary key);"
        "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'kept'; end $$;"
        "create trigger kept before truncate on thing for each statement execute function refuse();"
        "create trigger counted after insert on part for each statement execute function refuse();",
    )

    with owners.connect(empty_database) as connection, connection.cursor() as cursor:
        plans_by_table = {plan.table: plan for plan in distribution.plan(cursor)}

    assert plans_by_table["member"].refusals == ["unique index member_pkey has no organization_id"]
    assert plans_by_table["part"].refusals == [
        "unique index part_thing_id_key has no organization_id",
        "trigger counted fires once per statement",
    ]
    assert plans_by_table["other"].refusals == [
        "it has no organization_id and no listed placement",
        "unique index other_pkey has no organization_id",
    ]
    assert (plans_by_table["thing"].refusals, plans_by_table["job"].statement) == ([], None)
    assert plans_by_table["organization"].statement == "select create_reference_table('organization')"
    assert list(plans_by_table).index("thing") < list(plans_by_table).index("part")


def test_command_prints_every_statement_and_runs_none_with_obstacles(flask):
    code, output = flask("db", "distribute")

    assert code == 1
    assert "create_distributed_table('conversion', 'organization_id'" in output
    assert "Nothing was done" in output
    assert flask("db", "distribute", "--print")[0] == 0
    assert {plan["table"] for plan in flask.json("db", "distribute", "--print")} >= {"click", "job", "organization"}

"""The states of deals in the code equal those in the database's constraints."""

import pytest

from domain.deals.funding import FundingKind
from domain.deals.states import DealStatus, MilestoneStatus, Side
from domain.payouts.states import AttemptState, SandboxState
from models import db

_COLUMNS = {
    ("deal", "status"): DealStatus,
    ("deal_milestone", "status"): MilestoneStatus,
    ("deal_milestone", "opened_by"): Side,
    ("deal_request", "kind"): FundingKind,
    ("deal_request", "state"): AttemptState,
    ("sandbox_charge", "kind"): FundingKind,
    ("sandbox_charge", "state"): SandboxState,
}


@pytest.mark.parametrize(("table", "column"), _COLUMNS)
def test_constraint_lists_the_same_states(app, table, column):
    with db.any_org_work():
        rows = db.db.run(
            "select regexp_matches(pg_get_constraintdef(k.oid), '''(\\w+)''::text', 'g') from pg_constraint k"
            " join pg_attribute a on a.attrelid = k.conrelid and k.conkey = array[a.attnum]"
            " where k.conrelid = %s::regclass and a.attname = %s and k.contype = 'c'",
            (table, column),
        )

    assert {state for ((state,),) in rows} == set(_COLUMNS[table, column])

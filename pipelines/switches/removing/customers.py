"""Takes brought customers back with the count of their payments; changed ones become what they were."""

from domain.switches import decision_json
from domain.switches.decisions import CustomerDecision
from models.switches import brought_customers
from models.switches.brought_customers import BroughtCustomer
from models.switches.undo import obstacles
from pipelines.switches.removing.slices import UndoSlice


def remove(slice_: UndoSlice) -> list[str]:
    """Stage a slice and return the source ids of the rows that go. Budget: 2 round trips.

    Customers who paid, bought or signed up here since the run, for the same affiliate, are kept.
    """
    rows = slice_.read(CustomerDecision)
    ids = [decision.customer_id for _, decision in rows]
    paying = obstacles.find_later_customers(**slice_.switch.key, customer_ids=ids, since=slice_.since)
    there = {customer.id for customer in brought_customers.list_by_ids(organization_id=slice_.organization_id, ids=ids)}
    gone = [(row, decision) for row, decision in rows if decision.customer_id not in paying]
    brought_customers.stage_delete_all(
        organization_id=slice_.organization_id,
        ids=[decision.customer_id for row, decision in gone if row.former is None],
    )
    brought_customers.stage_insert_all(
        [
            decision_json.read(BroughtCustomer, row.former)
            for row, decision in gone
            if row.former is not None and decision.customer_id in there
        ]
    )
    brought_customers.stage_uncount(
        brought_customers.list_counts(decision for _, decision in gone),
        organization_id=slice_.organization_id,
        switch_id=slice_.switch.id,
    )
    return [row.source_id for row, _ in gone]

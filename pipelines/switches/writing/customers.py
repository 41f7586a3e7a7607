"""Writes brought customers, and counts their payments. Source: the switch-over rules, "First payment and ordinals"."""

from dataclasses import asdict

from domain import emails
from domain.switches.decisions import CustomerDecision
from models.switches import brought_customers
from models.switches.brought_customers import BroughtCustomer
from models.switches.written_rows.written import RowToWrite
from pipelines.switches.writing.slices import Slice, WrittenRows, leave_out_deleted


def write(slice_: Slice) -> WrittenRows:
    """Stage a slice: the former state of changed customers is kept for undo, uncredited payments are booked again.

    Budget: 4 round trips for any number of rows.
    """
    organization_id, switch = slice_.organization_id, slice_.switch
    written = WrittenRows()
    rows = leave_out_deleted(slice_, slice_.read(CustomerDecision), written)
    before = {
        customer.id: customer
        for customer in brought_customers.list_by_ids(
            organization_id=organization_id, ids=[decision.customer_id for _, decision in rows]
        )
    }
    written.former |= {
        row.source_id: asdict(before[decision.customer_id]) for row, decision in rows if decision.customer_id in before
    }
    brought = [_customer(slice_, row, decision) for row, decision in rows]
    brought_customers.stage_insert_all(brought)
    brought_customers.stage_counts(
        brought_customers.list_counts(decision for _, decision in rows),
        organization_id=organization_id,
        switch_id=switch.id,
    )
    brought_customers.stage_reopening(brought, organization_id=organization_id)
    return written


def _customer(slice_: Slice, row: RowToWrite, decision: CustomerDecision) -> BroughtCustomer:
    switch = slice_.switch
    return BroughtCustomer(
        id=decision.customer_id,
        organization_id=slice_.organization_id,
        program_id=decision.program_id,
        affiliate_id=decision.affiliate_id,
        switch_id=switch.id,
        source=switch.source,
        source_id=decision.source_id or row.source_id,
        customer_id=decision.processor_customer_id,
        subscription_id=decision.processor_subscription_id,
        email=decision.email,
        email_normalized=emails.normalize(decision.email) if decision.email else None,
        name=decision.name,
        first_paid_at=decision.first_paid_at,
        payments=decision.payments,
        seen_at=decision.seen_at,
        cut_over_at=slice_.switch.effective_cut_over_at,
        created_at=slice_.now,
        brought_payments=decision.brought_payments,
        names_affiliate=decision.names_affiliate,
    )

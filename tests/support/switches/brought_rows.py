"""What a switch brought, inserted by the model functions that writing uses."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from domain import emails
from models import db
from models.switches import brought_customers, old_tokens, switches
from models.switches.brought_customers import BroughtCount, BroughtCustomer
from models.switches.old_tokens import OldToken
from tests.support.running import row_ids

#: When the customer first paid in the former system, when they last did, and when the brand switched.
FIRST_PAID_AT = datetime(2026, 1, 31, tzinfo=UTC)
SEEN_AT = datetime(2026, 6, 30, tzinfo=UTC)
CUT_OVER_AT = datetime(2026, 7, 1, tzinfo=UTC)


def insert_switch(brand: Any, *, state: str = "Completed") -> UUID:
    """Insert a switch of the brand and return its id."""
    switch_id = row_ids.new_id()
    now = datetime.now(UTC)
    with db.unit_of_work(brand.id):
        switches.insert(
            {
                "id": switch_id,
                "organization_id": brand.id,
                "source": "rewardful",
                "state": state,
                "account_name": "Acme",
                "account_reference": "acme",
                "created_at": now,
                "touched_at": now,
            }
        )
    return switch_id


def add_old_token(brand: Any, slug: str, token: str, *, switch_id: UUID | None = None) -> None:
    """Insert an old token that leads to the link with this slug."""
    ((link_id,),) = brand.rows("select id from tracking_link where slug = %s and deleted_at is null", slug)
    switch_id = switch_id or insert_switch(brand)
    with db.unit_of_work(brand.id):
        old_tokens.stage_insert_all(
            [OldToken(brand.id, token, link_id, switch_id, datetime.now(UTC))],
            organization_id=brand.id,
            switch_id=switch_id,
        )


def bring_customer(
    brand: Any, affiliate_id: UUID, *, payments: int = 0, switch_id: UUID | None = None, **fields: Any
) -> BroughtCustomer:
    """Insert a customer of the former system with the count of their payments, and reopen their later payments."""
    switch_id = switch_id or insert_switch(brand)
    customer_id = row_ids.new_id()
    email = fields.get("email")
    values = {
        "id": customer_id,
        "organization_id": brand.id,
        "program_id": brand.programs[-1],
        "affiliate_id": affiliate_id,
        "switch_id": switch_id,
        "source": "rewardful",
        "source_id": str(customer_id),
        "customer_id": None,
        "subscription_id": None,
        "email": None,
        "email_normalized": emails.normalize(email) if email else None,
        "name": None,
        "first_paid_at": FIRST_PAID_AT if payments else None,
        "payments": payments,
        "seen_at": SEEN_AT,
        "cut_over_at": CUT_OVER_AT,
        "created_at": datetime.now(UTC),
    } | fields
    customer = BroughtCustomer(**values)
    with db.unit_of_work(brand.id):
        brought_customers.stage_insert_all([customer])
        brought_customers.stage_counts(
            [build_count(customer)] if payments else [], organization_id=brand.id, switch_id=switch_id
        )
        brought_customers.stage_reopening([customer], organization_id=brand.id)
    return customer


def take_back(brand: Any, *customers: BroughtCustomer) -> None:
    """Delete brought customers with their counts, as undo does."""
    with db.unit_of_work(brand.id):
        for customer in customers:
            brought_customers.stage_uncount(
                [build_count(customer)] if customer.payments else [],
                organization_id=brand.id,
                switch_id=customer.switch_id,
            )
        brought_customers.stage_delete_all(organization_id=brand.id, ids=[customer.id for customer in customers])


def build_count(customer: BroughtCustomer) -> BroughtCount:
    """Return the payments of a brought customer as they are counted."""
    return BroughtCount(
        customer.program_id,
        customer.customer_id,
        customer.subscription_id,
        customer.email,
        customer.first_paid_at or SEEN_AT,
        customer.payments,
    )

"""A brand of the demo as it begins: an organization and its key."""

from uuid import UUID

from adapters import clock
from commands import output
from pipelines.organization import key_creation, tenancy
from pipelines.organization.key_creation import IssuedKey


def make(name: str, *, owner_email: str) -> tuple[UUID, IssuedKey]:
    """Make a brand on the Growth plan whose payouts move no money; return its id and a live key."""
    with output.every_tenant():
        organization_id = tenancy.create(
            name=name, plan="Growth", status="Active", currency="USD", owner_email=owner_email, now=clock.now()
        )
        tenancy.change(
            organization_id=organization_id, assignments={"verified": "on", "sandboxRail": "ok"}, now=clock.now()
        )
        key = key_creation.create(
            organization_id=organization_id,
            scope="read_write",
            is_test=False,
            name="demo",
            user_email=None,
            now=clock.now(),
        )
    return organization_id, key

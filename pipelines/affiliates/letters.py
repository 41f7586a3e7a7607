"""What affiliates are told by mail of what a brand decided about them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import settings
from models.organization import organizations
from pipelines import mail


def tell_approved(*, organization_id: UUID, emails: Sequence[str], now: datetime) -> None:
    """Stage the letter to those whom the brand has just approved: where they sign in, and no link that does it."""
    brand = organizations.find(organization_id) if emails else None
    if brand is None:
        return
    name = " ".join(brand.name.split())
    text = (
        f"{name} has approved you as an affiliate.\n\nYour links and what you earn are here; sign in with this address:"
        f"\n{settings.current().web.url}/sign-in\n"
    )
    for email in emails:
        mail.send(
            organization_id=organization_id,
            to=email,
            subject=f"{name} has approved you",
            text=text,
            kind="affiliate.approved",
            at=now,
        )

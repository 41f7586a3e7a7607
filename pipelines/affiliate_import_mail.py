"""Tells imported affiliates where their campaign is run from now on.

Source: core spec, "Affiliates" (import body: notifyAffiliates, notificationMessageHtml).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

import settings
from adapters import html
from domain.statuses import AffiliateStatus
from models import organizations
from models.programs import Program
from pipelines import mail

# Who was turned down, paused or banned elsewhere is not written to.
_WELCOME = (AffiliateStatus.Approved, AffiliateStatus.Pending)


def send(program: Program, rows: Sequence[Mapping[str, Any]], *, message: str, now: datetime) -> None:
    """Stage one message per imported row, with what the brand wrote (HTML, any) above ours."""
    brand = organizations.find(program.organization_id)
    assert brand is not None  # the program is one of its
    said = html.clean(message)
    ours = (
        f"{brand.name} moved the affiliate program {program.name} to a new home, and you with it. "
        f"Sign in with this address: {settings.current().public_base_url}"
    )
    for row in rows:
        if row["status"] not in _WELCOME:
            continue
        mail.send(
            organization_id=program.organization_id,
            to=row["email"],
            subject=" ".join(f"Your affiliate account at {brand.name}".split()),
            text="\n\n".join(part for part in (html.to_text(said), ours) if part),
            html=f"{said}<p>{escape(ours)}</p>",
            kind="affiliate.imported",
            at=now,
        )

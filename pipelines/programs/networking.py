"""The creator network: what listing a program needs, an operator's decision about it, and what affiliates find.

Source: core spec, "Program fields accepted on create or update", rule 5.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import settings
from adapters.funding import registry
from domain import listing
from domain.listing import NetworkReview
from domain.refusals import Refused
from domain.statuses import NetworkVisibility
from models.organization import organizations
from models.programs import network, programs
from models.programs.network import NetworkProgram, ReviewedProgram
from models.programs.programs import Program
from pipelines import mail


def may_list(organization_id: UUID, wanted: Mapping[str, Any]) -> bool:
    """Say whether a program that these columns would list may be; the database is asked only for one that is to be."""
    if wanted.get("network_visibility") != NetworkVisibility.Networked:
        return False
    return network.may_list(organization_id=organization_id, sandbox=registry.is_stood_in_for())


def approve(
    *, program: Program, by: str, why: str | None = None, asked_at: datetime | None = None, now: datetime
) -> Program:
    """List a locked program that waits for its review and tell its Owners; return it as it is now.

    `by` is who decides, for operators alone. `asked_at`: see `domain.listing.decide_review`.
    Raises Refused 409: invalid_status_transition, network_request_changed.
    """
    columns = listing.decide_review(program, NetworkReview.Approved, by=by, why=why, asked_at=asked_at, now=now)
    return _told(program, columns, now)


def reject(*, program: Program, by: str, why: str, asked_at: datetime | None = None, now: datetime) -> Program:
    """Turn down a locked program that waits for its review, which makes it Private, and tell its Owners why.

    Raises Refused like `approve`.
    """
    columns = listing.decide_review(program, NetworkReview.Rejected, by=by, why=why, asked_at=asked_at, now=now)
    return _told(program, columns, now)


def revoke(*, program: Program, by: str, why: str, now: datetime) -> Program:
    """Take a locked program that was approved out of the network, which makes it Private, and tell its Owners why.

    Raises Refused 409 invalid_status_transition.
    """
    return _told(program, listing.revoke_review(program, by=by, why=why, now=now), now)


def any_org_page(
    *,
    account_id: UUID | None,
    email: str | None,
    filters: Mapping[str, str | None],
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[NetworkProgram]:
    """Return what an affiliate finds in the network, as `models.programs.network` does. Budget: 1 statement."""
    return network.any_org_page(
        account_id=account_id,
        email=email,
        sandbox=registry.is_stood_in_for(),
        filters=filters,
        after=after,
        limit=limit,
    )


def any_org_find(program_id: UUID, *, account_id: UUID | None, email: str | None) -> NetworkProgram:
    """Return one program of the network. Raises Refused 404 not_found for what affiliates do not see now."""
    found = network.any_org_find(program_id, account_id=account_id, email=email, sandbox=registry.is_stood_in_for())
    if found is None:
        raise not_listed()
    return found


def any_org_queue(*, status: str, after: tuple[datetime, UUID] | None, limit: int) -> list[ReviewedProgram]:
    """Return programs whose review stands so, for an operator. Budget: 1 statement."""
    return network.any_org_list_queue(status=status, sandbox=registry.is_stood_in_for(), after=after, limit=limit)


def any_org_reviewed(program_id: UUID) -> ReviewedProgram:
    """Return one program with its review. Raises Refused 404 not_found where nobody asked for one."""
    found = network.any_org_find_reviewed(program_id, sandbox=registry.is_stood_in_for())
    if found is None:
        raise Refused(404, "not_found", f"Nobody asked to list a program {program_id} in the network.")
    return found


def not_listed() -> Refused:
    """Return the refusal for what affiliates do not see: one and the same, whatever the reason."""
    return Refused(404, "not_found", "There is no such program in the network.")


def _told(program: Program, columns: Mapping[str, Any], now: datetime) -> Program:
    changed = programs.change(program, {**columns, "updated_at": now})
    brand = organizations.find(changed.organization_id)
    assert brand is not None  # it has this program
    name = " ".join(changed.name.split())
    where = f"{settings.current().web.url}/dashboard/programs/{changed.id}"
    if changed.network_review == NetworkReview.Approved:
        subject = f"{name} is in the network"
        said = "Affiliates of every brand find it now and may apply, while your plan and your funding stand."
    else:
        subject = f"{name} is not listed in the network"
        said = "It is private now, and goes on for everybody who is in it. Listing it again asks for another review."
    reason = f"\n\nWhat the review says:\n{changed.network_reason}" if changed.network_reason else ""
    text = f"{brand.name}: {subject}.\n\n{said}{reason}\n\n{where}\n"
    mail.send_to_owners(
        organization_id=changed.organization_id, subject=subject, text=text, kind="program.network_review", at=now
    )
    return changed

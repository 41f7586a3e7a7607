"""The creator network: conditions for listing a program, an operator's review of it, and the affiliates' search.

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


def may_list(organization_id: UUID, fields: Mapping[str, Any]) -> bool:
    """Return whether an organization may list a program. Queries the database only if the sent fields list it."""
    if fields.get("network_visibility") != NetworkVisibility.Networked:
        return False
    return network.may_list(organization_id=organization_id, sandbox=registry.is_replaced_by_sandbox())


def approve(
    *, program: Program, by: str, why: str | None = None, asked_at: datetime | None = None, now: datetime
) -> Program:
    """List a locked program that waits for its review and email its Owners; return the updated row.

    `by` names the operator, visible to operators only. `asked_at`: see `domain.listing.decide_review`.
    Raises Refused 409: invalid_status_transition, network_request_changed.
    """
    columns = listing.decide_review(program, NetworkReview.Approved, by=by, why=why, asked_at=asked_at, now=now)
    return _change_and_notify(program, columns, now)


def reject(*, program: Program, by: str, why: str, asked_at: datetime | None = None, now: datetime) -> Program:
    """Reject a locked program that waits for its review, which makes it Private, and email its Owners the reason.

    Raises Refused like `approve`.
    """
    columns = listing.decide_review(program, NetworkReview.Rejected, by=by, why=why, asked_at=asked_at, now=now)
    return _change_and_notify(program, columns, now)


def revoke(*, program: Program, by: str, why: str, now: datetime) -> Program:
    """Remove an approved, locked program from the network, which makes it Private, and email its Owners the reason.

    Raises Refused 409 invalid_status_transition.
    """
    return _change_and_notify(program, listing.revoke_review(program, by=by, why=why, now=now), now)


def any_org_list(
    *,
    account_id: UUID | None,
    email: str | None,
    filters: Mapping[str, str | None],
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[NetworkProgram]:
    """Return a page of the network's programs as an affiliate sees them. Budget: 1 statement."""
    return network.any_org_page(
        account_id=account_id,
        email=email,
        sandbox=registry.is_replaced_by_sandbox(),
        filters=filters,
        after=after,
        limit=limit,
    )


def any_org_has_programs() -> bool:
    """Return whether the network has any program that affiliates see now. Budget: 1 statement."""
    return network.any_org_exists(sandbox=registry.is_replaced_by_sandbox())


def any_org_find(program_id: UUID, *, account_id: UUID | None, email: str | None) -> NetworkProgram:
    """Return one program of the network. Raises Refused 404 not_found for one that affiliates cannot see now."""
    program = network.any_org_find(
        program_id, account_id=account_id, email=email, sandbox=registry.is_replaced_by_sandbox()
    )
    if program is None:
        raise not_listed_refusal()
    return program


def any_org_list_reviews(*, status: str, after: tuple[datetime, UUID] | None, limit: int) -> list[ReviewedProgram]:
    """Return programs with this review status, for an operator. Budget: 1 statement."""
    return network.any_org_list_queue(
        status=status, sandbox=registry.is_replaced_by_sandbox(), after=after, limit=limit
    )


def any_org_find_review(program_id: UUID) -> ReviewedProgram:
    """Return one program with its review. Raises Refused 404 not_found where no review was requested."""
    row = network.any_org_find_reviewed(program_id, sandbox=registry.is_replaced_by_sandbox())
    if row is None:
        raise Refused(404, "not_found", f"No listing in the network was requested for program {program_id}.")
    return row


def not_listed_refusal() -> Refused:
    """Return the refusal for a program that affiliates cannot see: always the same, whatever the reason."""
    return Refused(404, "not_found", "There is no such program in the network.")


def _change_and_notify(program: Program, columns: Mapping[str, Any], now: datetime) -> Program:
    after = programs.change(program, {**columns, "updated_at": now})
    brand = organizations.find(after.organization_id)
    assert brand is not None  # it has this program
    name = " ".join(after.name.split())
    url = f"{settings.current().web.url}/dashboard/programs/{after.id}"
    if after.network_review == NetworkReview.Approved:
        subject = f"Your program {name} is now listed in the network"
        result = "Affiliates can find it and apply, as long as you have a paid plan and a funding source."
    else:
        subject = f"Your program {name} is not listed in the network"
        result = "It is private now; its affiliates keep their links. You can change it and submit it again."
    reason = f"\n\nReason:\n{after.network_reason}" if after.network_reason else ""
    text = f"{brand.name}: {subject}.\n\n{result}{reason}\n\nView the program:\n{url}\n"
    mail.send_to_owners(
        organization_id=after.organization_id, subject=subject, text=text, kind="program.network_review", at=now
    )
    return after

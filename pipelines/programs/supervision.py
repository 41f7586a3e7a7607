"""What an operator does to a program of any organization: suspend it, resume it, say that its domain is its own."""

from datetime import datetime
from uuid import UUID

from domain.refused import Refused
from models import turns
from models.programs import programs
from pipelines.programs import lifecycle


def any_org_lock(program_id: UUID) -> programs.Program:
    """Return a program, locked until the transaction ends. Raises Refused 404 not_found."""
    organization_id = programs.any_org_owner(program_id)
    if organization_id is None:
        raise Refused(404, "not_found", f"There is no program {program_id}; `flask program list` shows them.")
    return lifecycle.lock(organization_id=organization_id, program_id=program_id)


def suspend(*, program: programs.Program, now: datetime) -> programs.Program:
    """Stop a locked program from earning until it is resumed; return it as it is now, itself when it is so already."""
    if program.suspended_at:
        return program
    return programs.change(program, {"suspended_at": now, "updated_at": now})


def resume(*, program: programs.Program, now: datetime) -> programs.Program:
    """Let a suspended program earn again; return it as it is now, itself when it is not suspended."""
    if not program.suspended_at:
        return program
    return programs.change(program, {"suspended_at": None, "updated_at": now})


def any_org_verify_domain(*, program: programs.Program, now: datetime) -> programs.Program:
    """Say that a locked program's domain belongs to its brand; return it as it is now, itself when that was known.

    Raises Refused 409: no_custom_domain, custom_domain_already_taken, invalid_status_transition for an archived one.
    """
    if program.custom_domain is None:
        message = f"Program {program.id} has no custom domain; its brand sets customDomain first."
        raise Refused(409, "no_custom_domain", message)
    if program.archived_at:
        raise Refused(409, "invalid_status_transition", f"Program {program.id} is archived.")
    if program.custom_domain_verified:
        return program
    turns.stage_domain(program.custom_domain)
    holder = programs.any_org_domain_holder(program.custom_domain)
    if holder is not None:
        message = f"{program.custom_domain} is verified for program {holder}; one program answers for a domain."
        raise Refused(409, "custom_domain_already_taken", message)
    return programs.change(program, {"custom_domain_verified": True, "updated_at": now})

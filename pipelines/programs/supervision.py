"""An operator's actions on a program of any organization: suspend it, resume it, verify its domain."""

from datetime import datetime
from uuid import UUID

from domain.refusals import Refused
from models import advisory_locks
from models.host_proofs import holders, proof_records
from models.host_proofs.holders import HostHolder
from models.programs import programs
from pipelines.programs import lifecycle


def any_org_lock(program_id: UUID) -> programs.Program:
    """Return a program, locked until the transaction ends. Raises Refused 404 not_found."""
    organization_id = programs.any_org_find_organization(program_id)
    if organization_id is None:
        raise Refused(404, "not_found", f"There is no program {program_id}. `flask program list` lists programs.")
    return lifecycle.lock(organization_id=organization_id, program_id=program_id)


def any_org_lock_with_domain(program_id: UUID) -> programs.Program:
    """Return a program, locked after the advisory lock of its custom domain.

    Raises Refused: 404 not_found; 409 domain_changed when its domain has just changed.
    """
    organization_id = programs.any_org_find_organization(program_id)
    before = programs.find(organization_id=organization_id, program_id=program_id) if organization_id else None
    if before is not None and before.custom_domain is not None:
        advisory_locks.stage_domain_lock(before.custom_domain)
    program = any_org_lock(program_id)
    if before is None or program.custom_domain != before.custom_domain:
        raise Refused(409, "domain_changed", f"The domain of program {program_id} has just changed. Check it again.")
    return program


def suspend(*, program: programs.Program, now: datetime) -> programs.Program:
    """Stop a locked program from earning until it is resumed; return the updated row, the same if it is suspended."""
    if program.suspended_at:
        return program
    return programs.change(program, {"suspended_at": now, "updated_at": now})


def resume(*, program: programs.Program, now: datetime) -> programs.Program:
    """Resume a locked, suspended program: it earns again. Return the updated row, the same if it is not suspended."""
    if not program.suspended_at:
        return program
    return programs.change(program, {"suspended_at": None, "updated_at": now})


def any_org_verify_domain(*, program: programs.Program, now: datetime) -> programs.Program:
    """Mark the domain of a program as verified; return the updated row, the same if it is verified already.

    The program is locked by `any_org_lock_with_domain`. DNS is not checked; the mark lasts until the domain changes.
    Raises Refused 409: no_custom_domain, custom_domain_already_taken, invalid_status_transition for an archived one.
    """
    if program.custom_domain is None:
        message = f"Program {program.id} has no custom domain. Its brand has to set customDomain first."
        raise Refused(409, "no_custom_domain", message)
    if program.archived_at:
        raise Refused(409, "invalid_status_transition", f"Program {program.id} is archived.")
    if program.custom_domain_verified:
        return program
    holder = programs.any_org_find_by_domain(program.custom_domain)
    if holder is not None:
        message = f"{program.custom_domain} is verified for program {holder}. A domain belongs to one program only."
        raise Refused(409, "custom_domain_already_taken", message)
    if holders.is_held_elsewhere(HostHolder(program.organization_id, program.id, program.custom_domain)):
        message = (
            f"{program.custom_domain} is another organization's tracking domain or portal, or another organization"
            f" left it less than 90 days ago. `flask org free-host {program.custom_domain}` frees a host that was left."
        )
        raise Refused(409, "custom_domain_already_taken", message)
    proof_records.stage_forget(organization_id=program.organization_id, holder_id=program.id)
    return programs.change(program, {"custom_domain_verified": True, "updated_at": now})

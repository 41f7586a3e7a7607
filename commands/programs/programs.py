"""`flask program`: list, suspend and resume brands' campaigns, and verify their domains."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
from commands.programs import network
from models.programs import programs
from pipelines.programs import supervision

group = AppGroup("program", help="Programs (campaigns) of all organizations.")
group.add_command(network.group)

_COLUMNS = ("id", "organization", "name", "slug", "model", "state", "domain", "verified")


@group.command("list")
@click.option("--org", "organization", type=click.UUID)
@output.json_option
def list_programs(organization: UUID | None, as_json: bool) -> None:
    """List programs, archived ones too, oldest first."""
    with output.operator_transaction():
        listed = programs.any_org_list(organization)
    rows = [
        (row.id, row.organization_id, row.name, row.slug, row.default_commission_model, _state(row),
         row.custom_domain, row.custom_domain_verified if row.custom_domain else None) for row in listed
    ]  # fmt: skip
    output.show(
        [dict(zip(_COLUMNS, row, strict=True)) for row in rows],
        as_json=as_json,
        print_text=lambda: output.table(_COLUMNS, rows, empty=f"There is no program{'' if organization else ' yet'}."),
    )


@group.command("suspend")
@click.argument("program_id", type=click.UUID, metavar="ID")
@click.option("--why", default="", help="Recorded in the audit log.")
@output.json_option
def suspend(program_id: UUID, why: str, as_json: bool) -> None:
    """Suspend a program: it earns nothing until it is resumed; past earnings stay."""
    changed = _change(program_id, "program.suspended", supervision.suspend, {"why": why} if why else {})
    text = "is suspended" if changed else "was suspended already"
    _print_outcome(
        program_id, {"suspended": True, "changed": changed}, as_json, f"{text}. Next: flask program resume {program_id}"
    )


@group.command("resume")
@click.argument("program_id", type=click.UUID, metavar="ID")
@output.json_option
def resume(program_id: UUID, as_json: bool) -> None:
    """Resume a suspended program."""
    changed = _change(program_id, "program.resumed", supervision.resume, {})
    text = "earns again." if changed else "was not suspended."
    _print_outcome(program_id, {"suspended": False, "changed": changed}, as_json, text)


@group.command("verify-domain")
@click.argument("program_id", type=click.UUID, metavar="ID")
@output.json_option
def verify_domain(program_id: UUID, as_json: bool) -> None:
    """Mark a program's custom domain as verified, whatever DNS says; it is no longer looked up."""
    lock = supervision.any_org_lock_with_domain
    changed = _change(program_id, "program.domain_verified", supervision.any_org_verify_domain, {}, lock=lock)
    text = "has a verified domain now." if changed else "had a verified domain already."
    _print_outcome(program_id, {"customDomainVerified": True, "changed": changed}, as_json, text)


def _change(
    program_id: UUID,
    action: str,
    work: Callable[..., programs.Program],
    extra: dict[str, Any],
    *,
    lock: Callable[[UUID], programs.Program] = supervision.any_org_lock,
) -> bool:
    with output.operator_transaction():
        before = lock(program_id)
        program = work(program=before, now=clock.now())
        if program != before:
            after = {
                "suspendedAt": program.suspended_at.isoformat() if program.suspended_at else None,
                "customDomain": program.custom_domain,
                "customDomainVerified": program.custom_domain_verified,
                **extra,
            }
            audit_trail.record(action, after, about=program_id, organization_id=program.organization_id)
    return program != before


def _print_outcome(program_id: UUID, answer: dict[str, Any], as_json: bool, text: str) -> None:
    output.show(
        {"id": str(program_id), **answer},
        as_json=as_json,
        print_text=lambda: click.echo(f"Program {program_id} {text}"),
    )


def _state(program: programs.Program) -> str:
    if program.archived_at:
        return "archived"
    if program.suspended_at:
        return "suspended"
    return "active" if program.is_active else "inactive"

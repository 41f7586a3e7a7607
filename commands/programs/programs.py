"""`flask program`: what an operator does to a brand's campaign."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from commands.programs import network
from models.programs import programs
from pipelines.programs import supervision

group = AppGroup("program", help="Programs (campaigns) of all organizations.")
group.add_command(network.group)

_COLUMNS = ("id", "organization", "name", "slug", "model", "state", "domain", "verified")


@group.command("list")
@click.option("--org", "organization", type=click.UUID)
@output.json_option
def every(organization: UUID | None, as_json: bool) -> None:
    """List programs, archived ones too, oldest first."""
    with output.every_tenant():
        listed = programs.any_org_list(organization)
    rows = [
        (one.id, one.organization_id, one.name, one.slug, one.default_commission_model, _state(one),
         one.custom_domain, one.custom_domain_verified if one.custom_domain else None) for one in listed
    ]  # fmt: skip
    output.show(
        [dict(zip(_COLUMNS, row, strict=True)) for row in rows],
        as_json=as_json,
        person=lambda: output.table(_COLUMNS, rows, empty=f"There is no program{'' if organization else ' yet'}."),
    )


@group.command("suspend")
@click.argument("program_id", type=click.UUID, metavar="ID")
@click.option("--why", default="", help="Kept in the audit log.")
@output.json_option
def suspend(program_id: UUID, why: str, as_json: bool) -> None:
    """Refuse what a program would earn until it is resumed; what it has earned stays."""
    changed = _done(program_id, "program.suspended", supervision.suspend, {"why": why} if why else {})
    said = "is suspended" if changed else "was suspended already"
    _say(
        program_id, {"suspended": True, "changed": changed}, as_json, f"{said}. Next: flask program resume {program_id}"
    )


@group.command("resume")
@click.argument("program_id", type=click.UUID, metavar="ID")
@output.json_option
def resume(program_id: UUID, as_json: bool) -> None:
    """Let a suspended program earn again."""
    changed = _done(program_id, "program.resumed", supervision.resume, {})
    said = "earns again." if changed else "was not suspended."
    _say(program_id, {"suspended": False, "changed": changed}, as_json, said)


@group.command("verify-domain")
@click.argument("program_id", type=click.UUID, metavar="ID")
@output.json_option
def verify_domain(program_id: UUID, as_json: bool) -> None:
    """Say that a program's custom domain is its brand's, whatever DNS says: it is not looked up any more."""
    lock = supervision.any_org_lock_with_domain
    changed = _done(program_id, "program.domain_verified", supervision.any_org_verify_domain, {}, lock=lock)
    said = "answers for its domain." if changed else "answered for its domain already."
    _say(program_id, {"customDomainVerified": True, "changed": changed}, as_json, said)


def _done(
    program_id: UUID,
    action: str,
    work: Callable[..., programs.Program],
    more: dict[str, Any],
    *,
    lock: Callable[[UUID], programs.Program] = supervision.any_org_lock,
) -> bool:
    with output.every_tenant():
        before = lock(program_id)
        program = work(program=before, now=clock.now())
        if program != before:
            after = {
                "suspendedAt": _moment(program.suspended_at),
                "customDomain": program.custom_domain,
                "customDomainVerified": program.custom_domain_verified,
                **more,
            }
            trail.record(action, after, about=program_id, organization_id=program.organization_id)
    return program != before


def _say(program_id: UUID, answer: dict[str, Any], as_json: bool, said: str) -> None:
    output.show(
        {"id": str(program_id), **answer}, as_json=as_json, person=lambda: click.echo(f"Program {program_id} {said}")
    )


def _state(program: programs.Program) -> str:
    if program.archived_at:
        return "archived"
    if program.suspended_at:
        return "suspended"
    return "active" if program.is_active else "inactive"


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None

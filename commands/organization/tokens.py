"""`flask token`: sign in without an identity provider, while none is configured."""

from collections.abc import Callable
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from adapters.fraud import human_check
from adapters.identity import tokens
from commands import output, trail
from commands.organization import people
from domain.organization.access import Role
from domain.refusals import Refused
from models.organization import organizations

group = AppGroup("token", help="Tokens for the dashboard, the affiliate portal and agents.")

_SCOPES = {"read": [tokens.READ_SCOPE], "read_write": [tokens.READ_SCOPE, tokens.WRITE_SCOPE]}

_unverified = click.option("--unverified-email", is_flag=True, help="The e-mail address counts as not verified.")


@group.command("dashboard")
@click.option("--org", "organization", type=click.UUID, required=True)
@click.option("--role", type=click.Choice(list(Role)), required=True)
@click.option("--email", help="Who it is; default: the role at example.com.")
@_unverified
@people.ttl_option
@output.json_option
def dashboard(
    *, organization: UUID, role: str, email: str | None, unverified_email: bool, ttl_s: int, as_json: bool
) -> None:
    """Issue a token of a member of an organization."""
    address = people.address(email or people.usual_address(role))
    with output.every_tenant():
        _check_organization(organization)
        token = _issued(
            lambda: tokens.issue_dashboard(
                organization_id=organization,
                role=role,
                email=address,
                is_email_verified=not unverified_email,
                ttl_s=ttl_s,
            )
        )
        what = {
            "kind": "dashboard",
            "role": role,
            "email": address,
            "emailVerified": not unverified_email,
            "ttlS": ttl_s,
        }
        trail.record("token.issued", what, about=f"local:{address}", organization_id=organization)
    output.show({"token": token}, as_json=as_json, person=lambda: click.echo(token))


@group.command("mcp")
@click.option("--org", "organization", type=click.UUID, required=True)
@click.option("--scope", type=click.Choice(["read", "read_write"]), required=True, help="What the program may do.")
@click.option("--role", type=click.Choice(list(Role)), default=Role.Owner, show_default=True)
@click.option("--email", help="Who lets it in; default: the role at example.com.")
@people.ttl_option
@output.json_option
def mcp(*, organization: UUID, scope: str, role: str, email: str | None, ttl_s: int, as_json: bool) -> None:
    """Issue a token with which a program works at /mcp for a member of an organization."""
    address = people.address(email or people.usual_address(role))
    with output.every_tenant():
        _check_organization(organization)
        token = _issued(
            lambda: tokens.issue_program(
                organization_id=organization, role=role, email=address, scopes=_SCOPES[scope], ttl_s=ttl_s
            )
        )
        what = {"kind": "mcp", "role": role, "email": address, "scope": scope, "ttlS": ttl_s}
        trail.record("token.issued", what, about=f"local:{address}", organization_id=organization)
    output.show({"token": token}, as_json=as_json, person=lambda: click.echo(token))


@group.command("affiliate")
@click.option("--email", required=True, help="Who it is.")
@_unverified
@people.ttl_option
@output.json_option
def affiliate(email: str, unverified_email: bool, ttl_s: int, as_json: bool) -> None:
    """Issue a token of an affiliate, known by the e-mail address."""
    address = people.address(email)
    with output.every_tenant():
        token = _issued(
            lambda: tokens.issue_affiliate(email=address, is_email_verified=not unverified_email, ttl_s=ttl_s)
        )
        trail.record(
            "token.issued",
            {"kind": "affiliate", "email": address, "emailVerified": not unverified_email, "ttlS": ttl_s},
            about=f"local:{address}",
        )
    output.show({"token": token}, as_json=as_json, person=lambda: click.echo(token))


@group.command("human")
@output.json_option
def human(as_json: bool) -> None:
    """Issue a token that passes for a person at the paid lead, while HUMAN_CHECK_URL names no service."""
    with output.reaching_the_database():  # else the secret of no service would sign it
        local = human_check.local()
        if local is None:
            raise click.ClickException("HUMAN_CHECK_URL is not `local`, so tokens of this service are not accepted.")
        token = local.issue(now=clock.now())
    output.show({"token": token}, as_json=as_json, person=lambda: click.echo(token))


def _check_organization(organization: UUID) -> None:
    if organizations.find(organization) is None:
        raise Refused(404, "not_found", f"There is no organization {organization}; `flask org list` shows them.")


def _issued(issue: Callable[[], str]) -> str:
    try:
        return issue()
    except tokens.NotLocal as error:
        raise click.ClickException(str(error)) from error

"""`flask sign-in`: one-time links that sign a browser in where no identity provider is configured.

Anyone with a shell is the operator already, so a link to the console is always available.
"""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

import click
from flask.cli import AppGroup

import settings
from adapters import clock
from adapters.identity import tokens
from adapters.safe_http import addresses
from commands import audit_trail, output
from commands.organization import people
from domain.organization.access import Role
from domain.refusals import Refused
from models.organization import organizations, second_factors
from models.organization.web_sessions import SignInLink
from pipelines.organization import sessions

#: The operator's identity at the console of a service that only its own machine can reach.
LOCAL_OPERATOR = SignInLink("operator", None, None, people.default_address("operator"))

_PROVIDERS = {"member": "dashboard", "account": "affiliate"}

group = AppGroup("sign-in", help="One-time links that sign a browser in.")


@dataclass(frozen=True, slots=True)
class IssuedLink:
    """A one-time sign-in URL and its expiry."""

    url: str
    expires_at: datetime


@group.command("owner")
@click.option("--org", "organization", type=click.UUID, required=True)
@click.option("--role", type=click.Choice(list(Role)), default=Role.Owner, show_default=True)
@click.option("--email", help="Who it is; default: the role at example.com.")
@people.ttl_option
@output.json_option
def owner(*, organization: UUID, role: str, email: str | None, ttl_s: int, as_json: bool) -> None:
    """Print a link to the dashboard for a member of an organization."""
    address = people.parse_address(email or people.default_address(role))
    with output.operator_transaction():
        if organizations.find(organization) is None:
            raise Refused(404, "not_found", f"There is no organization {organization}; `flask org list` shows them.")
    _show(issue(SignInLink("member", organization, role, address), ttl_s=ttl_s), as_json=as_json)


@group.command("affiliate")
@click.option("--email", required=True, help="Who it is.")
@people.ttl_option
@output.json_option
def affiliate(email: str, ttl_s: int, as_json: bool) -> None:
    """Print a link to the portal for an affiliate, known by the e-mail address."""
    _show(issue(SignInLink("account", None, None, people.parse_address(email)), ttl_s=ttl_s), as_json=as_json)


@group.command("operator")
@click.option(
    "--email",
    help=f"Who it is, for the audit log. Default, if only this machine can reach the service: {LOCAL_OPERATOR.email}.",
)
@people.ttl_option
@output.json_option
def operator(email: str | None, ttl_s: int, as_json: bool) -> None:
    """Print a link to the console for an operator; the audit log names them by the e-mail address."""
    if email is None and not _is_local_only():
        message = "Give --email YOU@EXAMPLE.COM: the audit log names the operator of the console by it."
        raise click.UsageError(message)
    who = SignInLink("operator", None, None, people.parse_address(email)) if email is not None else LOCAL_OPERATOR
    _show(issue(who, ttl_s=ttl_s), as_json=as_json)


@group.command("reset-second-factor")
@click.option("--email", required=True, help="Who lost the authenticator app and the recovery codes.")
@output.json_option
def reset_second_factor(email: str, as_json: bool) -> None:
    """Turn the second factor of a person off, in all their organizations; they sign in by email and set up another."""
    address = people.parse_address(email)
    with output.operator_transaction():
        if not second_factors.delete(address):
            raise Refused(404, "not_found", f"{address} has no second factor.")
        audit_trail.record("second_factor.reset", {"email": address}, about=sessions.local_subject(address))
    output.show(
        {"email": address},
        as_json=as_json,
        print_text=lambda: click.echo(f"{address} signs in without a code now, and can set up another app."),
    )


def issue(link: SignInLink, *, ttl_s: int) -> IssuedLink:
    """Create a link. Raises ClickException if an identity provider signs in users of its kind."""
    if link.kind in _PROVIDERS:
        try:
            tokens.check_local(_PROVIDERS[link.kind])
        except tokens.NotLocal as error:
            raise click.ClickException(str(error)) from error
    with output.operator_transaction():
        token, expires_at = sessions.any_org_issue_link(link, now=clock.now(), ttl_s=ttl_s)
        audit_trail.record(
            "session.link_issued",
            {"kind": link.kind, "role": link.role, "email": link.email, "ttlS": ttl_s},
            about=sessions.local_subject(link.email),
            organization_id=link.organization_id,
        )
    return IssuedLink(f"{settings.current().web.url}/sign-in/link/{token}", expires_at)


def _is_local_only() -> bool:
    """Return whether only this machine can reach the service."""
    host = urlsplit(settings.current().web.url).hostname or ""
    try:
        return host == "localhost" or addresses.is_loopback(host)
    except ValueError:  # a name
        return False


def _show(issued: IssuedLink, *, as_json: bool) -> None:
    document = {"url": issued.url, "expiresAt": issued.expires_at.isoformat()}
    output.show(document, as_json=as_json, print_text=lambda: click.echo(issued.url))

"""`flask sign-in`: one-time links that sign a browser in, where no identity provider does.

Who has the shell is the operator already, so a link of the console is always to be had.
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
from commands import output, trail
from commands.organization import people
from domain.organization.access import Role
from domain.refusals import Refused
from models.organization import organizations
from models.organization.web_sessions import SignInLink
from pipelines.organization import sessions

#: Whom the console knows the operator of a machine as that nobody else reaches.
LOCAL_OPERATOR = SignInLink("operator", None, None, people.usual_address("operator"))

_PROVIDERS = {"member": "dashboard", "account": "affiliate"}

group = AppGroup("sign-in", help="One-time links that sign a browser in.")


@dataclass(frozen=True, slots=True)
class IssuedLink:
    """A link for the address line of a browser, and until when it is good for one use."""

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
    address = people.address(email or people.usual_address(role))
    with output.every_tenant():
        if organizations.find(organization) is None:
            raise Refused(404, "not_found", f"There is no organization {organization}; `flask org list` shows them.")
    _show(issue(SignInLink("member", organization, role, address), ttl_s=ttl_s), as_json=as_json)


@group.command("affiliate")
@click.option("--email", required=True, help="Who it is.")
@people.ttl_option
@output.json_option
def affiliate(email: str, ttl_s: int, as_json: bool) -> None:
    """Print a link to the portal for an affiliate, known by the e-mail address."""
    _show(issue(SignInLink("account", None, None, people.address(email)), ttl_s=ttl_s), as_json=as_json)


@group.command("operator")
@click.option(
    "--email",
    help=f"Who it is, for the audit log. Default, where only this machine is reached: {LOCAL_OPERATOR.email}.",
)
@people.ttl_option
@output.json_option
def operator(email: str | None, ttl_s: int, as_json: bool) -> None:
    """Print a link to the console for an operator, whom the audit log names by the e-mail address."""
    if email is None and not _is_private():
        message = "Say who signs in: --email YOU@EXAMPLE.COM. The audit log names by it who did what at the console."
        raise click.UsageError(message)
    who = SignInLink("operator", None, None, people.address(email)) if email is not None else LOCAL_OPERATOR
    _show(issue(who, ttl_s=ttl_s), as_json=as_json)


def issue(link: SignInLink, *, ttl_s: int) -> IssuedLink:
    """Make a link. Raises ClickException where an identity provider signs such people in."""
    if link.kind in _PROVIDERS:
        try:
            tokens.check_local(_PROVIDERS[link.kind])
        except tokens.NotLocal as error:
            raise click.ClickException(str(error)) from error
    with output.every_tenant():
        token, expires_at = sessions.any_org_issue_link(link, now=clock.now(), ttl_s=ttl_s)
        trail.record(
            "session.link_issued",
            {"kind": link.kind, "role": link.role, "email": link.email, "ttlS": ttl_s},
            about=sessions.local_subject(link.email),
            organization_id=link.organization_id,
        )
    return IssuedLink(f"{settings.current().web.url}/sign-in/link/{token}", expires_at)


def _is_private() -> bool:
    """Say whether this service is reached from its own machine alone, as when one tries it out."""
    host = urlsplit(settings.current().web.url).hostname or ""
    try:
        return host == "localhost" or addresses.is_loopback(host)
    except ValueError:  # a name
        return False


def _show(issued: IssuedLink, *, as_json: bool) -> None:
    shown = {"url": issued.url, "expiresAt": issued.expires_at.isoformat()}
    output.show(shown, as_json=as_json, person=lambda: click.echo(issued.url))

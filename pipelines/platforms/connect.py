"""Connecting a platform, and changing its credentials and options.

The platform is called before anything is written, outside of any transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from adapters.gateways.base import CredentialsRefused
from adapters.platforms import registry
from adapters.platforms.base import PATIENT_S, PlatformAccount, PlatformAdapter, PlatformUnreachable
from domain.platforms.names import PlatformStatus
from domain.refusals import Refused
from models import ids
from models.platforms import connections
from models.platforms.connections import PlatformConnection
from pipelines import credentials


@dataclass(frozen=True, slots=True)
class CheckedPlatform:
    """Credentials that a platform accepted; nothing is written yet. `warning` is about the account that they open."""

    platform: PlatformAdapter
    credentials: Mapping[str, str]
    warning: str | None


def check_new(*, platform: str, values: Mapping[str, str]) -> CheckedPlatform:
    """Check new credentials at a platform. Calls the platform.

    Raises Refused: 400 invalid_request; 422 platform_credentials_refused; 503 platform_unreachable.
    """
    adapter = registry.get(platform)
    valid = credentials.validate(adapter.label, adapter.fields, values, is_whole=True)
    return CheckedPlatform(adapter, valid, _try_credentials(adapter, valid))


def check_changes(connection: PlatformConnection, values: Mapping[str, str]) -> CheckedPlatform:
    """Check changed credentials of a connection. Calls the platform. Raises Refused as `check_new`."""
    adapter = registry.get(connection.platform)
    valid = credentials.validate(adapter.label, adapter.fields, values, is_whole=False)
    merged = {**account_from_row(connection).credentials, **valid}
    return CheckedPlatform(adapter, valid, _try_credentials(adapter, merged))


def store(
    checked: CheckedPlatform, *, organization_id: UUID, slug_field: str | None, now: datetime
) -> PlatformConnection:
    """Write a checked connection; it may credit sales from now on. Raises Refused 409."""
    connection_id = ids.new_id()
    row = connections.insert(
        {
            "id": connection_id,
            "organization_id": organization_id,
            "platform": checked.platform.name,
            "status": PlatformStatus.Active.value,
            "credits_since": now,
            "slug_field": slug_field,
            "credentials_sealed": credentials.seal(checked.credentials, connection_id),
            "connected_at": now,
            "last_checked_at": now,
            "last_error": checked.warning,
        }
    )
    if row is None:
        raise already_connected_refusal(checked.platform.name)
    return row


def check_not_connected(*, organization_id: UUID, platform: str) -> None:
    """Raise Refused 409 platform_already_connected if the organization has one, before the platform is called."""
    if connections.is_connected(organization_id=organization_id, platform=platform):
        raise already_connected_refusal(platform)


def already_connected_refusal(platform: str) -> Refused:
    """Return the refusal of a second connection to a platform."""
    message = f"{platform} is connected already; change that connection's credentials, or remove it first."
    return Refused(409, "platform_already_connected", message)


def check_slug_field(platform: str, value: str | None) -> str | None:
    """Return the brand's custom field, None for the platform's default. Raises Refused 400 invalid_request."""
    name = (value or "").strip().strip("%")
    max_length = registry.get(platform).slugs.longest
    if len(name) > max_length or not name.isprintable():
        message = f"A custom field's name at {platform} has at most {max_length} characters."
        raise Refused(400, "invalid_request", message, field="slugField")
    return name or None


def change(
    connection: PlatformConnection,
    body: Mapping[str, Any],
    *,
    checked: CheckedPlatform | None,
    now: datetime,
) -> PlatformConnection:
    """Change the options of a locked connection, and its credentials if they were checked, which makes it Active.

    `body` may have credit_sales and slug_field. Sales from a time without credit_sales stay uncredited.
    """
    changes: dict[str, Any] = {}
    if "credit_sales" in body and body["credit_sales"] != connection.credit_sales:
        changes["credits_since"] = now if body["credit_sales"] else None
    if "slug_field" in body:
        changes["slug_field"] = body["slug_field"]
    if checked is not None:
        merged = {**account_from_row(connection).credentials, **checked.credentials}
        changes |= {
            "credentials_sealed": credentials.seal(merged, connection.id),
            "status": PlatformStatus.Active.value,
            "last_checked_at": now,
            "last_error": checked.warning,
        }
    return connections.change(connection, changes)


def account_from_row(connection: PlatformConnection, *, within_s: float = PATIENT_S) -> PlatformAccount:
    """Return the account for the adapter, with the time limit of a call."""
    return PlatformAccount(credentials.unseal(connection.credentials_sealed, connection.id), within_s)


def list_slug_fields(connection: PlatformConnection) -> tuple[str, ...]:
    """Return the custom fields that may have the slug; the first one with a value counts."""
    usual = registry.get(connection.platform).slugs.fields
    return tuple(dict.fromkeys([connection.slug_field or usual[0], *usual]))


def unreachable_refusal(adapter: PlatformAdapter, error: Exception) -> Refused:
    """Return the refusal of a request whose platform is unreachable."""
    message = f"{adapter.label} cannot be reached now ({error}). Nothing was changed; try again."
    return Refused(503, "platform_unreachable", message)


def _try_credentials(adapter: PlatformAdapter, values: Mapping[str, str]) -> str | None:
    try:
        return adapter.check(PlatformAccount(values))
    except CredentialsRefused as error:
        message = f"{adapter.label} does not accept these credentials: {error}"
        raise Refused(422, "platform_credentials_refused", message) from error
    except PlatformUnreachable as error:
        raise unreachable_refusal(adapter, error) from error

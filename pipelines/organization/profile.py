"""A brand's changes to its own organization: profile, home currency, attribution parameters.

The caller has locked the organization; every function returns it after the change.
Source: core spec, "Organization profile" and "Home currency"; tracking spec, "Attribution parameters".
"""

from collections.abc import Mapping
from datetime import datetime

from domain import slugs
from domain.clicks import attribution_params
from domain.money import currencies
from domain.payouts import cadence
from domain.refusals import Refused
from models.organization import organizations
from models.organization.organizations import Organization
from pipelines import owed_days
from pipelines.conversions import renewal

#: How often an organization may change the subdomain of its portal: links with the old one stop working.
SUBDOMAIN_CHANGES_MAX = 3


def change(organization: Organization, body: Mapping[str, object], *, now: datetime) -> Organization:
    """Change the profile. `body` is `schemas.organization.organization.ProfileChanges` loaded.

    A new hold applies to every Pending conversion; a new cadence counts from today. A minimum payout and the
    amount of a large sale keep the home currency of the time when they are set.
    Raises Refused: 400 payout_grace_days_out_of_range, slug_reserved; 409 subdomain_change_limit_reached,
    subdomain_already_taken.
    """
    for amount in ("min_payout", "large_sale"):
        if f"{amount}_cents" in body:
            is_set = body[f"{amount}_cents"] is not None
            body = {**body, f"{amount}_currency": organization.home_currency if is_set else None}
    changes = {column: value for column, value in body.items() if getattr(organization, column) != value}
    _check_grace_days(organization, changes)
    if "subdomain" in changes:
        changes |= _change_subdomain(organization, str(changes["subdomain"]))
    if "automatic_payout_cadence" in changes:
        timezone = str(changes.get("timezone", organization.timezone))
        name = changes["automatic_payout_cadence"]
        changes["automatic_payout_since"] = cadence.start_day(name, timezone=timezone, now=now)
    changed = organizations.change(organization, changes)
    if "payout_grace_days" in changes:
        renewal.renew_holds(organization.id)
    return changed


def set_home_currency(organization: Organization, code: str, now: datetime) -> Organization:
    """Set the home currency. Stored amounts keep their currency; a job recomputes what is owed.

    Raises Refused 400 unsupported_currency.
    """
    currency = currencies.normalize(code)
    if currency is None:
        message = "It must be a supported ISO 4217 code."
        raise Refused(400, "unsupported_currency", message, field="homeCurrency")
    if currency == organization.home_currency:
        return organization
    owed_days.enqueue(organization.id)
    return organizations.change(organization, {"home_currency": currency, "home_currency_changed_at": now})


def set_attribution_params(organization: Organization, params: str | None) -> Organization:
    """Set the custom attribution parameters.

    Raises Refused: what `attribution_params.settle` raises.
    """
    custom = attribution_params.normalize(params)
    if custom == organization.attribution_params:
        return organization
    return organizations.change(organization, {"attribution_params": custom})


def _check_grace_days(organization: Organization, changes: Mapping[str, object]) -> None:
    days = changes.get("payout_grace_days")
    if isinstance(days, int) and days > organization.payout_grace_days_max:
        raise Refused(
            400,
            "payout_grace_days_out_of_range",
            f"It must be from 0 to {organization.payout_grace_days_max} days.",
            field="payoutGraceDays",
        )


def _change_subdomain(organization: Organization, subdomain: str) -> dict[str, object]:
    if subdomain in slugs.RESERVED:
        raise Refused(400, "slug_reserved", f"{subdomain} is reserved for the service.", field="subdomain")
    if organization.subdomain_change_count >= SUBDOMAIN_CHANGES_MAX:
        message = f"The subdomain can be changed only {SUBDOMAIN_CHANGES_MAX} times."
        raise Refused(409, "subdomain_change_limit_reached", message, field="subdomain")
    if not organizations.update_unless_taken(organization.id, {"subdomain": subdomain}):
        message = "Another organization has this subdomain."
        raise Refused(409, "subdomain_already_taken", message, field="subdomain")
    return {"subdomain_change_count": organization.subdomain_change_count + 1}

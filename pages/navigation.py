"""The navigation: an area per kind of person, with the screens in its bar.

A bar has only screens that are enabled and whose operations the person may call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from api.access.persons import Person, PersonKind
from api.affiliates.affiliates import list_affiliates
from api.conversions.conversions import list_conversions
from api.copilot import toolbox
from api.copilot.conversations import list_copilot_conversations
from api.coupons.lists import list_coupon_codes
from api.deals.deals import list_deals
from api.fraud import list_fraud_events
from api.gateways.connections import list_connections
from api.imports.history import list_imports
from api.invites.invites import list_invites
from api.organization.audit_log import list_audit_log
from api.organization.keys import list_api_keys
from api.organization.organization import get_organization
from api.payouts.payouts import list_payouts
from api.programs.assets import list_assets
from api.programs.numbers import list_program_stats
from api.programs.programs import list_programs
from api.webhooks.endpoints import list_webhook_endpoints
from pages import api_client
from pages.api_client import View


@dataclass(frozen=True, slots=True)
class BarPlace:
    """A screen in a bar, shown to persons who may call the operation that it `needs`, while `is_on` is true."""

    path: str
    label: str
    icon: str
    needs: View | None = None
    is_on: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Area:
    """The screens of one kind of person: its name, its first address and its bar."""

    name: str
    sign: str
    home: str
    places: Sequence[BarPlace]


AREAS: Mapping[PersonKind, Area] = MappingProxyType(
    {
        "member": Area(
            "Dashboard",
            "Finderfee",
            "/dashboard",
            (
                BarPlace("/dashboard", "Overview", "home", list_program_stats),
                BarPlace("/dashboard/programs", "Programs", "megaphone", list_programs),
                BarPlace("/dashboard/affiliates", "Affiliates", "people", list_affiliates),
                BarPlace("/dashboard/invites", "Invites", "mail", list_invites),
                BarPlace("/dashboard/conversions", "Conversions", "coins", list_conversions),
                BarPlace("/dashboard/review", "Review", "flag", list_fraud_events),
                BarPlace("/dashboard/payouts", "Payouts", "banknote", list_payouts),
                BarPlace("/dashboard/coupons", "Coupons", "ticket", list_coupon_codes),
                BarPlace("/dashboard/assets", "Assets", "image", list_assets),
                BarPlace("/dashboard/deals", "Deals", "briefcase", list_deals),
                BarPlace("/dashboard/imports", "Imports", "upload", list_imports),
                BarPlace("/dashboard/connections", "Connections", "plug", list_connections),
                BarPlace("/dashboard/webhooks", "Webhooks", "hook", list_webhook_endpoints),
                BarPlace("/dashboard/api-keys", "API keys", "key", list_api_keys),
                BarPlace("/dashboard/co-pilot", "Co-pilot", "spark", list_copilot_conversations, toolbox.is_on),
                BarPlace("/dashboard/audit-log", "Audit log", "history", list_audit_log),
                BarPlace("/dashboard/settings", "Settings", "sliders", get_organization),
            ),
        ),
        "account": Area(
            "Portal",
            "Finderfee",
            "/portal",
            (
                BarPlace("/portal", "Home", "home"),
                BarPlace("/portal/links", "Links", "link"),
                BarPlace("/portal/earnings", "Earnings", "coins"),
                BarPlace("/portal/payouts", "Payouts", "banknote"),
                BarPlace("/portal/payout-account", "Payout account", "wallet"),
                BarPlace("/portal/programs", "Programs", "squares"),
                BarPlace("/portal/discover", "Discover", "pulse"),
                BarPlace("/portal/recruits", "Recruits", "people"),
                BarPlace("/portal/coupons", "Coupons", "ticket"),
                BarPlace("/portal/deals", "Deals", "paper"),
                BarPlace("/portal/assets", "Assets", "image"),
            ),
        ),
        "operator": Area(
            "Console",
            "Console",
            "/console",
            (
                BarPlace("/console", "Now", "pulse"),
                BarPlace("/console/dead", "Dead letters", "mail-x"),
                BarPlace("/console/schedule", "Schedule", "clock"),
                BarPlace("/console/ledger", "Ledger", "scale"),
                BarPlace("/console/payouts", "Payouts", "banknote"),
                BarPlace("/console/disputes", "Disputes", "briefcase"),
                BarPlace("/console/rates", "Rates", "coins"),
                BarPlace("/console/mail", "Mail", "mail"),
                BarPlace("/console/tenants", "Tenants", "building"),
                BarPlace("/console/programs", "Programs", "megaphone"),
                BarPlace("/console/network", "Network", "people"),
                BarPlace("/console/connections", "Connections", "plug"),
                BarPlace("/console/style", "Style", "swatch"),
            ),
        ),
    }
)


def area_of(person: Person) -> Area:
    """Return the area of a person."""
    return AREAS[person.kind]


def visible_places(person: Person) -> list[BarPlace]:
    """Return the places in a person's bar."""
    return [place for place in area_of(person).places if _is_open(place)]


def _is_open(place: BarPlace) -> bool:
    return (place.is_on is None or place.is_on()) and (place.needs is None or api_client.is_allowed(place.needs))


def is_own_path(path: str) -> bool:
    """Return whether a text is the path of an own screen, and cannot lead to another host."""
    if "\\" in path or "//" in path or not path.isascii() or not path.isprintable():
        return False
    before_query = path.partition("?")[0].partition("#")[0]
    if ".." in before_query or "%" in before_query:
        return False
    return any(before_query == area.home or before_query.startswith(f"{area.home}/") for area in AREAS.values())

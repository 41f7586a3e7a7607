"""The navigation: an area per kind of person, with its screens in groups, and the chapter of the docs for each screen.

A group has only screens that are enabled and whose operations the person may call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
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
from api.switches.switches import create_switch
from api.webhooks.endpoints import list_webhook_endpoints
from pages import api_client
from pages.api_client import View


@dataclass(frozen=True, slots=True)
class Place:
    """A screen in the navigation, shown to persons who may call the operation that it `needs`, while `is_on` is true.

    Screens below its address belong to it; those below the addresses `also` do as well.
    """

    path: str
    label: str
    icon: str
    needs: View | None = None
    is_on: Callable[[], bool] | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlaceGroup:
    """Screens under one heading. A group without a label has none; one whose first screen has its name needs none."""

    label: str
    places: Sequence[Place]


@dataclass(frozen=True, slots=True)
class Area:
    """The screens of one kind of person: its name, its first address and its groups."""

    name: str
    sign: str
    home: str
    groups: Sequence[PlaceGroup]

    @property
    def places(self) -> list[Place]:
        """All places, in the order in which they are shown."""
        return [place for group in self.groups for place in group.places]


@dataclass(frozen=True, slots=True)
class Menu:
    """The navigation on a screen: the visible groups, the current place, and the address of the screen's docs."""

    groups: Sequence[PlaceGroup]
    current: Place | None
    help_address: str


_DASHBOARD = Area(
    "Dashboard",
    "Finderfee",
    "/dashboard",
    (
        PlaceGroup(
            "",
            (
                Place(
                    "/dashboard",
                    "Overview",
                    "home",
                    list_program_stats,
                    also=("/dashboard/notifications", "/dashboard/onboarding"),
                ),
                Place("/dashboard/co-pilot", "Co-pilot", "spark", list_copilot_conversations, toolbox.is_on),
            ),
        ),
        PlaceGroup(
            "Grow",
            (
                Place("/dashboard/programs", "Programs", "megaphone", list_programs),
                Place("/dashboard/affiliates", "Affiliates", "people", list_affiliates),
                Place("/dashboard/invites", "Invites", "mail", list_invites),
                Place("/dashboard/coupons", "Coupons", "ticket", list_coupon_codes),
                Place("/dashboard/assets", "Assets", "image", list_assets),
                Place("/dashboard/deals", "Deals", "briefcase", list_deals),
            ),
        ),
        PlaceGroup(
            "Money",
            (
                Place("/dashboard/conversions", "Conversions", "coins", list_conversions),
                Place("/dashboard/review", "Review", "flag", list_fraud_events),
                Place("/dashboard/payouts", "Payouts", "banknote", list_payouts),
            ),
        ),
        PlaceGroup(
            "Develop",
            (
                Place("/dashboard/connections", "Connections", "plug", list_connections),
                Place("/dashboard/webhooks", "Webhooks", "hook", list_webhook_endpoints),
                Place("/dashboard/api-keys", "API keys", "key", list_api_keys),
                Place("/dashboard/imports", "Imports", "upload", list_imports),
                Place("/dashboard/switch", "Switch", "out", create_switch),
            ),
        ),
        PlaceGroup(
            "Settings",
            (
                Place("/dashboard/settings", "Settings", "sliders", get_organization, also=("/dashboard/embed",)),
                Place("/dashboard/audit-log", "Audit log", "history", list_audit_log),
            ),
        ),
    ),
)
_PORTAL = Area(
    "Portal",
    "Finderfee",
    "/portal",
    (
        PlaceGroup("", (Place("/portal", "Home", "home"),)),
        PlaceGroup(
            "Promote",
            (
                Place("/portal/links", "Links", "link"),
                Place("/portal/coupons", "Coupons", "ticket"),
                Place("/portal/assets", "Assets", "image"),
                Place("/portal/recruits", "Recruits", "people"),
            ),
        ),
        PlaceGroup(
            "Money",
            (
                Place("/portal/earnings", "Earnings", "coins"),
                Place("/portal/payouts", "Payouts", "banknote"),
                Place("/portal/payout-account", "Payout account", "wallet"),
            ),
        ),
        PlaceGroup(
            "Brands",
            (
                Place("/portal/programs", "Programs", "squares", also=("/portal/applications",)),
                Place("/portal/discover", "Discover", "pulse"),
                Place("/portal/deals", "Deals", "paper"),
            ),
        ),
    ),
)
_CONSOLE = Area(
    "Console",
    "Console",
    "/console",
    (
        PlaceGroup("", (Place("/console", "Now", "pulse", also=("/console/attention", "/console/queues")),)),
        PlaceGroup(
            "Operations",
            (
                Place("/console/dead", "Dead letters", "mail-x"),
                Place("/console/schedule", "Schedule", "clock"),
                Place("/console/mail", "Mail", "mail"),
                Place("/console/connections", "Connections", "plug"),
            ),
        ),
        PlaceGroup(
            "Money",
            (
                Place("/console/ledger", "Ledger", "scale"),
                Place("/console/payouts", "Payouts", "banknote"),
                Place("/console/disputes", "Disputes", "briefcase"),
                Place("/console/rates", "Rates", "coins"),
            ),
        ),
        PlaceGroup(
            "Brands",
            (
                Place("/console/tenants", "Tenants", "building"),
                Place("/console/programs", "Programs", "megaphone"),
                Place("/console/network", "Network", "people"),
            ),
        ),
        PlaceGroup("", (Place("/console/style", "Style", "swatch"),)),
    ),
)
AREAS: Mapping[PersonKind, Area] = MappingProxyType({"member": _DASHBOARD, "account": _PORTAL, "operator": _CONSOLE})

#: The address of a chapter of the docs.
CHAPTER_ADDRESS = "/docs/{}"
#: The chapter for a screen and the screens below it; `*` is any id. The most specific one counts.
CHAPTERS: Mapping[str, str] = MappingProxyType(
    {
        "/dashboard": "programs",
        "/dashboard/affiliates": "affiliates",
        "/dashboard/affiliates/applications": "storefront",
        "/dashboard/api-keys": "keys",
        "/dashboard/assets": "programs",
        "/dashboard/audit-log": "audit",
        "/dashboard/co-pilot": "copilot",
        "/dashboard/connections": "connections",
        "/dashboard/connections/new/platform": "platforms",
        "/dashboard/conversions": "conversions",
        "/dashboard/coupons": "coupons",
        "/dashboard/deals": "deals",
        "/dashboard/embed": "embed",
        "/dashboard/imports": "imports",
        "/dashboard/invites": "invites",
        "/dashboard/payouts": "payouts",
        "/dashboard/programs/*/application-form": "storefront",
        "/dashboard/programs/*/install": "clicks",
        "/dashboard/programs/*/landing-page": "storefront",
        "/dashboard/programs/*/recruiting": "recruiting",
        "/dashboard/review": "fraud",
        "/dashboard/settings": "organization",
        "/dashboard/settings/developers": "keys",
        "/dashboard/settings/payouts": "payouts",
        "/dashboard/settings/tracking": "clicks",
        "/dashboard/settings/tracking-domain": "clicks",
        "/dashboard/switch": "switches",
        "/dashboard/webhooks": "webhooks",
        "/portal": "me",
        "/portal/deals": "deals",
        "/portal/recruits": "recruiting",
        "/console": "operator",
    }
)


def area_of(person: Person) -> Area:
    """Return the area of a person."""
    return AREAS[person.kind]


def build_menu(person: Person, path: str) -> Menu:
    """Return the navigation of a person on the screen at `path`; groups without a visible place are left out."""
    area = area_of(person)
    groups = [replace(group, places=[place for place in group.places if _is_open(place)]) for group in area.groups]
    return Menu([group for group in groups if group.places], find_place(area, path), find_help(path))


def _is_open(place: Place) -> bool:
    return (place.is_on is None or place.is_on()) and (place.needs is None or api_client.is_allowed(place.needs))


def find_place(area: Area, path: str) -> Place | None:
    """Return the place that a screen of the area belongs to; None for a screen that belongs to none."""
    addresses = {address: place for place in area.places for address in (place.path, *place.also)}
    matching = [address for address in addresses if _is_below(path, address, is_exact=address == area.home)]
    return addresses[max(matching, key=len)] if matching else None


def _is_below(path: str, address: str, *, is_exact: bool) -> bool:
    return path == address or (not is_exact and path.startswith(f"{address}/"))


def find_help(path: str) -> str:
    """Return the address of the docs for a screen: its chapter, else their first page."""
    matching = [pattern for pattern in CHAPTERS if fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern}/*")]
    return CHAPTER_ADDRESS.format(CHAPTERS[max(matching, key=len)]) if matching else "/docs"


def is_own_path(path: str) -> bool:
    """Return whether a text is the path of an own screen, and cannot lead to another host."""
    if "\\" in path or "//" in path or not path.isascii() or not path.isprintable():
        return False
    before_query = path.partition("?")[0].partition("#")[0]
    if ".." in before_query or "%" in before_query:
        return False
    return any(before_query == area.home or before_query.startswith(f"{area.home}/") for area in AREAS.values())

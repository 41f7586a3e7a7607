"""The frame of every screen of the portal, with the brand's logo and colour for affiliates of one brand only."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from flask import Response

from api.me.person import get_own_account
from pages import api_client, screens, static_files
from pages.forms import FormState
from pages.times import zone

#: Operations that every screen of the portal uses for its frame.
USES = (get_own_account,)


def render(template: str, form: FormState | None = None, **values: Any) -> Response:
    """Return a template of the portal in its frame, like `screens.render`. Costs 2 round trips."""
    return render_for(read_brands(), template, form, **values)


def read_brands() -> Sequence[Mapping[str, Any]]:
    """Return the brands that the affiliate works for. Costs 2 round trips."""
    brands: Sequence[Mapping[str, Any]] = api_client.require(get_own_account)["brands"]
    return brands


def render_for(
    brands: Sequence[Mapping[str, Any]], template: str, form: FormState | None = None, **values: Any
) -> Response:
    """Return a template of the portal like `render`, for an affiliate of these brands."""
    zone.use_zone_of_brands([brand["timezone"] for brand in brands])
    return screens.render(f"portal/{template}", form, brand=_only_brand(brands), brands=brands, **values)


def name_programs(programs: Sequence[Mapping[str, Any]], status: str | None = None) -> list[tuple[str, str]]:
    """Return the id of each program in which the affiliate has this status, and its name with its brand's name."""
    return [
        (brand["programId"], f"{brand['name']}, {brand['organizationName']}")
        for brand in programs
        if status in (None, brand["status"])
    ]


def _only_brand(brands: Sequence[Mapping[str, Any]]) -> Mapping[str, object] | None:
    """Return the name, logo and style sheet of the one brand that the affiliate works for; None with several."""
    if len(brands) != 1:
        return None
    (brand,) = brands
    color = brand["primaryBrandColor"]
    return {
        "name": brand["name"],
        # The path alone: a page loads files of its own origin only.
        "logo": urlsplit(brand["logoUrl"]).path if brand["logoUrl"] else None,
        "theme": f"/portal/theme/{brand['organizationId']}.css?{_theme_version(color)}" if color else None,
    }


def _theme_version(color: str) -> str:
    return f"{static_files.version_of('app.css')}-{color.removeprefix('#')}"

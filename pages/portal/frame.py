"""What every screen of the portal has: the logo and the colour of the brand, for who works for one brand alone."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from flask import Response

from api.me.person import get_own_account
from pages import calls, forms, screens, statics
from pages.calls import CallAnswer
from pages.forms import FormState
from pages.times import zone

#: What each screen of the portal uses for its frame.
USES = (get_own_account,)

_MALFORMED, _TO_MEND = 400, 422


def show(template: str, *, status: int = 200, form: FormState = forms.EMPTY, **shown: Any) -> Response:
    """Return a template of the portal in its frame, like `screens.show`. Costs 2 round trips."""
    brands = calls.needed(get_own_account)["brands"]
    zone.use_brands([one["timezone"] for one in brands])
    return screens.show(f"portal/{template}", status=status, form=form, brand=_only(brands), **shown)


def status(answer: CallAnswer) -> int:
    """Return the status of a form that comes back: what the API calls malformed is here to be mended."""
    return _TO_MEND if answer.status == _MALFORMED else answer.status


def _only(brands: Sequence[Mapping[str, Any]]) -> Mapping[str, object] | None:
    """Return the name, logo and style sheet of the one brand that the affiliate works for; None with several."""
    if len(brands) != 1:
        return None
    (one,) = brands
    color = one["primaryBrandColor"]
    return {
        "name": one["name"],
        # The path alone: what a page loads is of its own origin.
        "logo": urlsplit(one["logoUrl"]).path if one["logoUrl"] else None,
        "theme": f"/portal/theme/{one['organizationId']}.css?{_version(color)}" if color else None,
    }


def _version(color: str) -> str:
    return f"{statics.version('app.css')}-{color.removeprefix('#')}"

"""Texts and images that brands give their affiliates: copied, looked at, downloaded."""

from flask import Blueprint, Response, request

from api.me.assets import get_own_asset_file, list_own_assets
from api.me.person import list_own_programs
from pages import calls, forms
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_assets_page", __name__)

_HERE = "/portal/assets"
#: So many a page, with all that the texts say.
_TAKE = 20


@blueprint.get(_HERE)
@screen("account", uses=(*frame.USES, list_own_assets, list_own_programs))
def show_own_assets() -> Response:
    """Show texts and images by the filter in the address. Budget: 3 round trips, however many there are."""
    wanted = {name: request.args.get(name) or None for name in ("programId", "cursor")}
    answer = calls.call(list_own_assets, query=wanted | {"take": _TAKE})
    form, page = forms.EMPTY, answer.data
    if answer.refusal is not None:
        said = " ".join(answer.refusal.fields.values()) or answer.refusal.message
        form, page = FormState(alert=said), {"items": [], "nextCursor": None}
    programs = [one for one in calls.needed(list_own_programs) if one["status"] == "Approved"]
    return frame.show(
        "assets.html",
        status=answer.status,
        form=form,
        assets=page["items"],
        next_cursor=page["nextCursor"],
        is_narrowed=any(wanted.values()),
        programs=[(one["programId"], f"{one['name']}, {one['organizationName']}") for one in programs],
    )


@blueprint.get(f"{_HERE}/<asset_id>/file")
@screen("account", uses=(get_own_asset_file,))
def download_own_asset(asset_id: str) -> Response:
    """Give an image out as the API does. Budget: 2 round trips."""
    return calls.passed_on(get_own_asset_file, path={"asset_id": asset_id})

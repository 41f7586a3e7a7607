"""Texts and images from brands for their affiliates, to copy and download."""

from flask import Blueprint, Response

from api.me.assets import get_own_asset_file, list_own_assets
from api.me.person import list_own_programs
from pages import api_client
from pages.list_pages import RowList
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_assets_page", __name__)

_HERE = "/portal/assets"
# The rows contain the whole texts, so a page has few.
_ASSETS = RowList(list_own_assets, ("programId",), query={"take": 20})


@blueprint.get(_HERE)
@screen("account", uses=(*frame.USES, list_own_assets, list_own_programs))
def show_own_assets() -> Response:
    """Show texts and images by the filter in the address. Budget: 3 round trips, however many there are."""
    programs = frame.name_programs(api_client.require(list_own_programs), status="Approved")
    return frame.render("assets.html", **_ASSETS.read().values(), programs=programs)


@blueprint.get(f"{_HERE}/<asset_id>/file")
@screen("account", uses=(get_own_asset_file,))
def download_own_asset(asset_id: str) -> Response:
    """Send an image as the API does. Budget: 2 round trips."""
    return api_client.forward_file(get_own_asset_file, path={"asset_id": asset_id})

"""Texts and images from brands for the signed-in affiliate."""

from collections.abc import Mapping

from flask import Blueprint, Response

import settings
from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging, path
from api.edge.operations import operation, page, text
from api.programs import asset_files
from domain.refusals import Refused
from models import db
from models.programs import assets
from models.programs.assets import ListedAsset
from schemas.programs.asset import AssetsQuery, OwnAssetRecord

blueprint = Blueprint("own_assets", __name__)

_READ = Guard(audience="affiliate", verified_email=True)
_RECORD = OwnAssetRecord(exclude=("file_url",))
_ASSETS = "/api/me/assets"


@blueprint.get(_ASSETS)
@operation(_READ, page(OwnAssetRecord()), asks=AssetsQuery(), may_lag="answer")
def list_own_assets() -> Mapping[str, object]:
    """List the texts and images of the programs that the caller is Approved in, newest first.

    Budget: 1 statement.
    """
    query, account = body.query(), guards.account()
    page_request = paging.read_page_request(query)
    with db.any_org_work():
        rows = assets.any_org_list_own(
            account_id=account.id, email=account.email, program_id=query["program_id"], **page_request.window
        )
    return paging.serialize_page(page_request, rows, lambda rows: [_serialize(row) for row in rows])


@blueprint.get(f"{_ASSETS}/<asset_id>/file")
@operation(_READ, text("image/*"), refuses=("404 not_found",))
def get_own_asset_file(asset_id: str) -> Response:
    """Download a listed image; its file name comes from the asset's name."""
    wanted_id, account = path.uuid(asset_id, "asset"), guards.account()
    with db.any_org_work():
        file = assets.any_org_find_own_file(account_id=account.id, email=account.email, asset_id=wanted_id)
    if file is None:
        raise Refused(404, "not_found", f"You have no image {wanted_id}.")
    return asset_files.download_response(file.content, name=file.name, content_type=file.content_type)


def _serialize(row: ListedAsset) -> dict[str, object]:
    address = f"{settings.current().web.url}{_ASSETS}/{row.id}/file"
    return _RECORD.dump(row) | {"fileUrl": address if row.content_type else None}

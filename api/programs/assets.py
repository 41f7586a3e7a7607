"""Texts and images for the affiliates of a brand. An addition to the interface."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

import settings
from adapters import clock
from api.access import guards
from api.access.guards import KIB, Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page, text
from api.programs import asset_files
from domain.organization.images import Image
from domain.programs.assets import MAX_IMAGE_BYTES
from domain.refusals import not_found
from models import db
from models.programs import assets
from models.programs.assets import ListedAsset
from pipelines.programs import brand_assets
from schemas.programs.asset import AssetBody, AssetRecord, AssetsQuery

blueprint = Blueprint("assets", __name__)

_READ = Guard(audience="brand")
_WRITE = Guard(audience="dashboard", scope="read_write")
# An image that is base64 in JSON takes a third more than the image itself; a text has four bytes a character at most.
_UPLOAD = Guard(audience="dashboard", scope="read_write", max_body_bytes=MAX_IMAGE_BYTES * 4 // 3 + 32 * KIB)

_RECORD = AssetRecord(exclude=("file_url",))
_ASSETS = "/api/v1/assets"


@blueprint.get(_ASSETS)
@operation(_READ, page(AssetRecord()), asks=AssetsQuery(), may_lag="answer")
def list_assets() -> Mapping[str, object]:
    """List texts and images for affiliates, newest first; with `programId` those for its affiliates."""
    query, organization_id = body.query(), guards.organization_id()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(organization_id):
        rows = assets.page(organization_id=organization_id, program_id=query["program_id"], **page_request.window)
    return paging.serialize_page(page_request, rows, lambda rows: [_serialize(row) for row in rows])


@blueprint.post(_ASSETS)
@operation(
    _UPLOAD,
    object_of(AssetRecord()),
    status=201,
    takes=AssetBody(),
    refuses=("400 invalid_image", "404 not_found", "409 asset_limit_reached", "413 payload_too_large"),
)
def create_asset() -> Response:
    """Create a text or an image (PNG, JPEG, WebP or GIF) for the affiliates of one program or of all. 201 with it."""
    values = body.load()
    image = brand_assets.check_image(values)
    return idempotency.run_once(lambda: _create(values, image))


def _create(values: Mapping[str, Any], image: Image | None) -> idempotency.Answer:
    now, organization_id = clock.now(), guards.organization_id()
    asset_id = brand_assets.add(organization_id=organization_id, body=values, image=image, now=now)
    record = _find(asset_id)
    audit.record("asset.created", asset_id, after=record, now=now)
    return 201, record


@blueprint.delete(f"{_ASSETS}/<asset_id>")
@operation(_WRITE, status=204, refuses=("404 not_found",))
def delete_asset(asset_id: str) -> Response:
    """Delete a text or an image. 204."""
    wanted_id = path.uuid(asset_id, "asset")
    with db.unit_of_work(guards.organization_id()):
        before = _find(wanted_id)
        brand_assets.remove(organization_id=guards.organization_id(), asset_id=wanted_id)
        audit.record("asset.deleted", wanted_id, before=before, now=clock.now())
    return Response(status=204)


@blueprint.get(f"{_ASSETS}/<asset_id>/file")
@operation(_READ, text("image/*"), refuses=("404 not_found",))
def get_asset_file(asset_id: str) -> Response:
    """Download an image; its file name comes from the asset's name."""
    wanted_id = path.uuid(asset_id, "asset")
    with db.unit_of_work(guards.organization_id()):
        file = assets.find_file(organization_id=guards.organization_id(), asset_id=wanted_id)
    if file is None:
        raise not_found("image", wanted_id)
    return asset_files.download_response(file.content, name=file.name, content_type=file.content_type)


def _find(asset_id: UUID) -> Mapping[str, Any]:
    row = assets.find(organization_id=guards.organization_id(), asset_id=asset_id)
    if row is None:
        raise not_found("asset", asset_id)
    return _serialize(row)


def _serialize(row: ListedAsset) -> dict[str, Any]:
    address = f"{settings.current().web.url}{_ASSETS}/{row.id}/file"
    return _RECORD.dump(row) | {"fileUrl": address if row.content_type else None}

"""The advertising material of a brand for its affiliates: texts, and images whose content is checked."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.organization import images
from domain.programs.assets import MAX_ASSETS, MAX_BYTES, MAX_IMAGE_BYTES, AssetKind
from domain.refusals import Refused, not_found
from models import advisory_locks, ids, stored_files
from models.programs import assets
from models.stored_files import StoredFile
from pipelines.programs import lifecycle


def check_image(body: Mapping[str, Any]) -> images.Image | None:
    """Return type and size of a new asset's image, None for a text.

    `body` is `schemas.programs.asset.AssetBody` loaded. Raises Refused: 413 payload_too_large; 400 invalid_image.
    """
    if body["content"] is None:
        return None
    return images.check(body["content"], declared_type=body["content_type"], max_bytes=MAX_IMAGE_BYTES)


def add(*, organization_id: UUID, body: Mapping[str, Any], image: images.Image | None, now: datetime) -> UUID:
    """Add an asset whose image was checked, and return its id.

    Raises Refused: 404 not_found for a program; 409 asset_limit_reached.
    """
    if body["program_id"] is not None:
        lifecycle.find(organization_id=organization_id, program_id=body["program_id"])
    content: bytes = body["text"].encode() if image is None else body["content"]
    _check_room(organization_id, len(content))
    asset_id = ids.new_id()
    assets.insert(
        {
            "id": asset_id,
            "organization_id": organization_id,
            "program_id": body["program_id"],
            "kind": AssetKind.Text if image is None else AssetKind.Image,
            "name": body["name"],
            "text": body["text"],
            "file_id": None if image is None else _store_file(organization_id, image, content, now),
            "width": image and image.width,
            "height": image and image.height,
            "size_bytes": len(content),
            "created_at": now,
        }
    )
    return asset_id


def remove(*, organization_id: UUID, asset_id: UUID) -> None:
    """Delete an asset with its file. Raises Refused 404 not_found."""
    asset = assets.remove(organization_id=organization_id, asset_id=asset_id)
    if asset is None:
        raise not_found("asset", asset_id)
    if asset.file_id is not None:
        stored_files.stage_delete(organization_id=organization_id, file_id=asset.file_id)


def _check_room(organization_id: UUID, size_bytes: int) -> None:
    advisory_locks.stage_assets_lock(organization_id)
    number, stored_bytes = assets.measure_usage(organization_id)
    if number >= MAX_ASSETS or stored_bytes + size_bytes > MAX_BYTES:
        message = (
            f"An organization has at most {MAX_ASSETS} assets of {MAX_BYTES // 1024**2} MiB in total."
            " Delete some first."
        )
        raise Refused(409, "asset_limit_reached", message)


def _store_file(organization_id: UUID, image: images.Image, content: bytes, now: datetime) -> UUID:
    file_id = ids.new_id()
    stored_files.insert(StoredFile(file_id, organization_id, "asset", image.content_type, content, now))
    return file_id

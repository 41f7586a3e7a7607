"""Texts and images for affiliates, in the API. An addition to the interface."""

from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain.programs.assets import MAX_TEXT_CHARS, AssetKind
from schemas.base import Instant, Wire, from_base64, line, not_blank, one_of, text
from schemas.paging import PageQuery


class AssetBody(Wire):
    """A new text, or a new image in standard base64. Loads to columns by name, with `content` in bytes or None."""

    name = line(longest=120, required=True, validate=[not_blank])
    program_id = fields.UUID(load_default=None, allow_none=True)
    words = text(longest=MAX_TEXT_CHARS, load_default=None, allow_none=True, data_key="text", validate=[not_blank])
    data_base64 = fields.String(load_default=None, allow_none=True)
    content_type = text(longest=100, load_default=None, allow_none=True)

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        words, encoded = body.pop("words"), body.pop("data_base64")
        if (words is None) == (encoded is None):
            raise ValidationError("An asset is either a text or an image: send text or dataBase64.", "text")
        content = None if encoded is None else from_base64(encoded, "dataBase64")
        return body | {"name": " ".join(body["name"].split()), "text": words, "content": content}


class AssetsQuery(PageQuery):
    """The list of assets, optionally of one program, including those for all programs."""

    program_id = fields.UUID(load_default=None)


class AssetRecord(Wire):
    """A text, or an image with its address and its size in pixels."""

    id = fields.UUID()
    program_id = fields.UUID(allow_none=True)
    program_name = fields.String(allow_none=True)
    kind = one_of(AssetKind)
    name = fields.String()
    text = fields.String(allow_none=True)
    content_type = fields.String(allow_none=True)
    width = fields.Integer(allow_none=True)
    height = fields.Integer(allow_none=True)
    size_bytes = fields.Integer()
    file_url = fields.String(allow_none=True)
    created_at = Instant()


class OwnAssetRecord(AssetRecord):
    """An asset for affiliates, who may work for several brands."""

    organization_name = fields.String()

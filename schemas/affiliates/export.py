"""The query of the file of affiliates."""

from typing import Any
from uuid import UUID

from marshmallow import ValidationError, fields

from schemas.affiliates.affiliate import AffiliateFilterQuery

_MAX_IDS = 200


class _Ids(fields.Field[list[UUID]]):
    """Ids separated by commas, at most 200."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[UUID]:
        parts = str(value).split(",", _MAX_IDS)
        if len(parts) > _MAX_IDS:
            raise ValidationError(f"At most {_MAX_IDS} ids are allowed.")
        try:
            return [UUID(part.strip()) for part in parts]
        except ValueError as error:
            raise ValidationError("These are not ids separated by commas.") from error


class AffiliatesExportQuery(AffiliateFilterQuery):
    """The filters and the order of the list; `affiliateIds` exports these affiliates and no others, newest first."""

    affiliate_ids = _Ids(load_default=None)

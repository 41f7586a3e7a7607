"""A switch whose source is files: parts, mapping and raw rows, without the routes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from models import db
from models.switches import switches
from models.switches.staging import file_parts
from models.switches.switches import Switch, SwitchCampaign
from pipelines.switches.files import file_mapping, file_previews, part_storage
from pipelines.switches.files.file_previews import FileCollection, FilePreviewRow
from pipelines.switches.files.part_storage import StoredPart
from tests.support.rows.brands import Brand
from tests.support.running import row_ids


class FileSwitch:
    """A switch of a brand: a new one, or the one with this id."""

    def __init__(self, brand: Brand, *, source: str = "files", switch_id: UUID | None = None) -> None:
        self.brand, self.id = brand, switch_id or row_ids.new_id()
        if switch_id is not None:
            return
        now = datetime.now(UTC)
        values = {
            "id": self.id,
            "organization_id": brand.id,
            "source": source,
            "state": "Connected",
            "account_name": "Files",
            "account_reference": "",
            "created_at": now,
            "touched_at": now,
        }
        with db.unit_of_work(brand.id):
            assert switches.insert(values)

    @property
    def _key(self) -> dict[str, UUID]:
        return {"organization_id": self.brand.id, "switch_id": self.id}

    def put(self, collection: str, content: str | bytes, part: int = 1) -> StoredPart:
        """Send a part."""
        data = content if isinstance(content, bytes) else content.encode()
        with db.unit_of_work(self.brand.id):
            return part_storage.store_part(
                **self._key, collection=collection, part=part, data=data, now=datetime.now(UTC)
            )

    def delete(self, collection: str, part: int = 1) -> None:
        """Delete a part."""
        with db.unit_of_work(self.brand.id):
            part_storage.delete_part(**self._key, collection=collection, part=part, now=datetime.now(UTC))

    def change(self, **columns: Any) -> Switch:
        """Set columns of the table `switch`, and store what the mapping derives."""
        with db.unit_of_work(self.brand.id):
            switch = switches.lock(**self._key)
            assert switch is not None
            return file_mapping.derive(switches.update(switch, columns))

    def find(self) -> Switch:
        """Return the switch."""
        with db.unit_of_work(self.brand.id):
            switch = switches.find(**self._key)
        assert switch is not None
        return switch

    def rows(self, collection: str, take: int = 100) -> dict[str, Mapping[str, Any]]:
        """Return the raw rows of a collection by source id."""
        with db.unit_of_work(self.brand.id):
            return dict(file_parts.list_rows(**self._key, collection=collection, take=take))

    def count_rows(self, collection: str) -> int:
        """Return the number of raw rows of a collection."""
        count = self.brand.rows(
            "select count(*) from switch_row where switch_id = %s and collection = %s", self.id, collection
        )
        return int(count[0][0])

    def campaigns(self) -> list[SwitchCampaign]:
        """Return the campaigns, by name."""
        with db.unit_of_work(self.brand.id):
            return switches.list_campaigns(**self._key)

    def preview(self, collection: str, **mapping: Any) -> list[FilePreviewRow]:
        """Return the first rows as they will be."""
        with db.unit_of_work(self.brand.id):
            rows = file_previews.preview_rows(**self._key, collections=[collection], now=datetime.now(UTC), **mapping)
        return rows[collection]

    def collections(self) -> list[FileCollection]:
        """Return the collections that have files."""
        with db.unit_of_work(self.brand.id):
            return file_previews.list_collections(**self._key)

    def require_mapping(self) -> None:
        """Check that the files can be read."""
        with db.unit_of_work(self.brand.id):
            switch = switches.find(**self._key)
            assert switch is not None
            file_mapping.require_mapping(switch)

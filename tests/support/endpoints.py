"""Webhook endpoints inserted directly into the database, and their deliveries."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from adapters.secret_key import sealing
from models import db
from models.webhooks import endpoints
from tests.support.rows.brands import Brand
from tests.support.running import row_ids


@dataclass(slots=True)
class Endpoint:
    """A brand's webhook endpoint, with its secret."""

    brand: Brand
    id: UUID
    secret: str

    @classmethod
    def create(cls, brand: Brand, url: str, *events: str) -> "Endpoint":
        """Subscribe a URL to event types, by default to everything."""
        endpoint_id, secret = row_ids.new_id(), _new_secret()
        with db.unit_of_work(brand.id):
            endpoints.insert(
                endpoint_id=endpoint_id,
                organization_id=brand.id,
                url=url,
                events=list(events) or ["*"],
                secret_sealed=sealing.seal(secret, belongs_to=str(endpoint_id)),
                now=datetime.now(UTC),
            )
        return cls(brand, endpoint_id, secret)

    def rotate(self) -> None:
        """Replace the secret."""
        self.secret = _new_secret()
        self._change(secret_sealed=sealing.seal(self.secret, belongs_to=str(self.id)))

    def delete(self) -> None:
        """Delete the endpoint."""
        self._change(deleted_at=datetime.now(UTC))

    def deliveries(self, columns: str) -> list[tuple[Any, ...]]:
        """Return columns of the deliveries (`d`) and their events (`e`)."""
        return self.brand.rows(
            f"select {columns} from delivery d join event e on e.id = d.event_id where endpoint_id = %s"
            " order by d.created_at, d.id",
            self.id,
        )

    def make_deliveries_due(self) -> None:
        """Make the brand's waiting delivery jobs due now."""
        with db.unit_of_work(self.brand.id):
            db.db.run("update job set run_at = now() where name = 'webhook.deliver'")

    def _change(self, **changes: object) -> None:
        with db.unit_of_work(self.brand.id):
            endpoints.update(organization_id=self.brand.id, endpoint_id=self.id, changes=changes)


def _new_secret() -> str:
    return f"whsec_{secrets.token_urlsafe(32)}"

"""The settings of an organization that the fraud rules use."""

from dataclasses import dataclass
from uuid import UUID

from models.db import db
from models.prepared_statements import Lookup


@dataclass(frozen=True, slots=True)
class FraudSettings:
    """The organization's strictness, the referrer hosts that it bans, and its own risk score from 0 to 100.

    `strictness` is a `domain.fraud.Strictness`; `lead_preview`: browsers may send it paid leads.
    """

    strictness: str
    banned_referrers: frozenset[str]
    fraud_score: int
    lead_preview: bool


_READ = Lookup("select fraud_strictness, banned_referrers, fraud_score, lead_preview from organization where id = %s")


def read(organization_id: UUID) -> FraudSettings:
    """Return the settings of the organization of this unit of work, in one round trip."""
    row = db.row(_READ, (organization_id,))
    assert row is not None  # it is the caller's
    strictness, banned, score, lead_preview = row
    return FraudSettings(strictness, frozenset(banned), score, lead_preview)

"""How much of the model an organization used on a day (UTC)."""

from datetime import date
from uuid import UUID

from models.db import db

_CHARGE = """
insert into copilot_day as d (organization_id, day, requests, tokens) values (%(org)s, %(day)s, 1, %(tokens)s)
on conflict (organization_id, day) do update set requests = d.requests + 1, tokens = d.tokens + excluded.tokens
  where d.requests < %(most_requests)s and d.tokens + excluded.tokens <= %(most_tokens)s
returning 1
"""


def charge(*, organization_id: UUID, day: date, tokens: int, most_tokens: int, most_requests: int) -> bool:
    """Count a request of about so many tokens; False, and nothing, where it is more than a day has left."""
    if tokens > most_tokens:
        return False
    params = {"org": organization_id, "day": day, "tokens": tokens}
    return bool(db.run(_CHARGE, params | {"most_tokens": most_tokens, "most_requests": most_requests}))


def stage_correct(*, organization_id: UUID, day: date, by: int) -> None:
    """Stage that a request took so many more tokens (or fewer) than were counted."""
    db.stage(
        "update copilot_day set tokens = greatest(tokens + %s, 0) where organization_id = %s and day = %s",
        (by, organization_id, day),
    )

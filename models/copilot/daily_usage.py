"""An organization's use of the model per day (UTC)."""

from datetime import date
from uuid import UUID

from models.db import db

_CHARGE = """
insert into copilot_day as d (organization_id, day, requests, tokens) values (%(org)s, %(day)s, 1, %(tokens)s)
on conflict (organization_id, day) do update set requests = d.requests + 1, tokens = d.tokens + excluded.tokens
  where d.requests < %(most_requests)s and d.tokens + excluded.tokens <= %(most_tokens)s
returning 1
"""


def charge(*, organization_id: UUID, day: date, tokens: int, max_tokens: int, max_requests: int) -> bool:
    """Count a request of about so many tokens; return False and count nothing if it exceeds the rest of the day."""
    if tokens > max_tokens:
        return False
    params = {"org": organization_id, "day": day, "tokens": tokens}
    return bool(db.run(_CHARGE, params | {"most_tokens": max_tokens, "most_requests": max_requests}))


def stage_correct(*, organization_id: UUID, day: date, by: int) -> None:
    """Stage the difference between the tokens that a request used and those that were counted."""
    db.stage(
        "update copilot_day set tokens = greatest(tokens + %s, 0) where organization_id = %s and day = %s",
        (by, organization_id, day),
    )

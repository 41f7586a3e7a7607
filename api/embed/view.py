"""What the page in the frame is shown by: who may frame it. Everything else it asks for by the token."""

from uuid import UUID

from adapters import clock
from models import db
from models.affiliates import embed_tokens


def find_frame_origins(embed_id: str) -> tuple[str, ...]:
    """Return the origins that may frame the page of a live token; none for every other text. Budget: 1 statement."""
    try:
        token_id = UUID(embed_id)
    except ValueError:
        return ()
    with db.any_org_work():
        return embed_tokens.any_org_find_frame_origins(token_id, now=clock.now())

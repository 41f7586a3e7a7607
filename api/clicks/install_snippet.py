"""The HTML snippet for a brand's pages.

Source: tracking spec, "Install snippet".
"""

from collections.abc import Mapping

from flask import Blueprint

import settings
from api.access import guards
from api.access.guards import Guard
from api.edge import body
from api.edge.operations import object_of, operation
from domain.clicks.install_snippet import TagOptions
from models import db
from pipelines.clicks import install_snippet
from schemas.clicks.install_snippet import Snippet, SnippetQuery

blueprint = Blueprint("install_snippet", __name__)

_SNIPPET = Snippet()


@blueprint.get("/api/v1/r/install-snippet")
@operation(
    Guard(audience="brand"),
    object_of(_SNIPPET),
    asks=SnippetQuery(),
    refuses=("404 no_program_found", "409 pixel_not_provisioned"),
)
def get_install_snippet() -> Mapping[str, object]:
    """Show the tag of a program, by its id or of the newest open program."""
    query = body.query()
    with db.unit_of_work(guards.organization_id()):
        snippet = install_snippet.build(
            TagOptions(
                with_pixel=query["with_pixel"],
                captures_emails=query["email_capture"],
                requires_consent=query["consent_required"],
                respects_gpc=query["respect_gpc"],
            ),
            organization_id=guards.organization_id(),
            program_id=query["program_id"],
            base_url=settings.current().web.url,
        )
    return _SNIPPET.dump(snippet)

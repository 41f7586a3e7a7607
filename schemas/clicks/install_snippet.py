"""The install snippet on the wire. Source: tracking spec, "Install snippet"."""

from marshmallow import fields

from schemas.base import Wire
from schemas.paging import QueryFlag


class LoaderQuery(Wire):
    """Whose script: that of the organization which has this program."""

    program_id = fields.UUID(load_default=None)


class SnippetQuery(Wire):
    """Which snippet: of which program (None: the newest that is open), with what on its tag."""

    program_id = fields.UUID(load_default=None)
    with_pixel = QueryFlag(load_default=False)
    email_capture = QueryFlag(load_default=True)


class Snippet(Wire):
    """The HTML to put on a page, and what it was made of."""

    snippet = fields.String()
    program_id = fields.UUID()
    program_slug = fields.String()
    with_pixel = fields.Boolean()
    has_custom_attribution_params = fields.Boolean()
    custom_attribution_params = fields.String(allow_none=True)
    script_host = fields.String()
    using_tracking_domain = fields.Boolean()
    email_capture = fields.Boolean()

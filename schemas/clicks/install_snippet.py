"""The install snippet in the API. Source: tracking spec, "Install snippet"."""

from marshmallow import fields

from schemas.base import Wire
from schemas.paging import QueryFlag


class LoaderQuery(Wire):
    """The program whose organization's script is requested."""

    program_id = fields.UUID(load_default=None)


class SnippetQuery(Wire):
    """The program of the snippet (None: the newest open one), and the options of its tag."""

    program_id = fields.UUID(load_default=None)
    with_pixel = QueryFlag(load_default=False)
    email_capture = QueryFlag(load_default=True)
    consent_required = QueryFlag(load_default=False)
    respect_gpc = QueryFlag(load_default=False)


class Snippet(Wire):
    """The HTML to put on a page, and its parts; `attributes` are those of the script, by name."""

    snippet = fields.String()
    attributes = fields.Dict(keys=fields.String(), values=fields.String())
    program_id = fields.UUID()
    program_slug = fields.String()
    with_pixel = fields.Boolean()
    has_custom_attribution_params = fields.Boolean()
    custom_attribution_params = fields.String(allow_none=True)
    script_host = fields.String()
    using_tracking_domain = fields.Boolean()
    email_capture = fields.Boolean()
    consent_required = fields.Boolean()
    respect_gpc = fields.Boolean()

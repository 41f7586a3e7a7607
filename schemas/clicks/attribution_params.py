"""Attribution parameters in the API. Source: tracking spec, "Attribution parameters"."""

from marshmallow import fields

from schemas.base import Wire


class AttributionParamsBody(Wire):
    """The organization's own parameters, comma-separated; null or empty clears them."""

    custom = fields.String(required=True, allow_none=True)


class AttributionParamsRecord(Wire):
    """The parameters that an organization's pages look for, in order of priority."""

    custom = fields.String(allow_none=True)
    defaults = fields.List(fields.String())
    effective_order = fields.List(fields.String())
    max_custom_entries = fields.Integer()
    max_total_chars = fields.Integer()


class AttributionDefaults(Wire):
    """The service's own parameters and the limits of custom ones."""

    defaults = fields.List(fields.String())
    max_custom_entries = fields.Integer()
    max_total_chars = fields.Integer()
    min_param_length = fields.Integer()
    max_param_length = fields.Integer()

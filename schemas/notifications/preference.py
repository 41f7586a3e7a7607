"""A person's switches of notifications in the API."""

from marshmallow import fields

from domain.notifications.kinds import NotificationKind
from schemas.base import Flag, Wire, one_of
from schemas.collection_fields import Items

_KINDS = tuple(NotificationKind)


class PreferenceRecord(Wire):
    """The switches of a kind. `email` is null where the person's role gets no email of the kind."""

    kind = one_of(_KINDS)
    in_app = fields.Boolean()
    email = fields.Boolean(allow_none=True)


class PreferencesRecord(Wire):
    """A person's switches, and the address that gets the emails; an unverified one gets none.

    The last two are the organization's: from which amount a sale is large.
    """

    email_address = fields.String()
    is_email_verified = fields.Boolean()
    items = fields.List(fields.Nested(PreferenceRecord))
    large_sale_cents = fields.Integer()
    large_sale_currency = fields.String()


class PreferenceChange(Wire):
    """Switches of a kind; a missing one stays as it is."""

    kind = one_of(_KINDS, required=True)
    in_app = Flag(load_default=None)
    email = Flag(load_default=None)


class PreferencesChange(Wire):
    """Switches to set; kinds that are not named stay as they are."""

    items = Items(fields.Nested(PreferenceChange), most=len(_KINDS), required=True)

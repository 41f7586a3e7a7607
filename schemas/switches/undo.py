"""The effect of undoing a switch. Source: the switch-over rules, "Undo"."""

from marshmallow import fields

from schemas.base import MAY_LACK, Flag, Instant, Wire
from schemas.switches.preview import CurrencyCents


class CountsByCollection(Wire):
    """How many records of each collection."""

    affiliates = fields.Integer(metadata=MAY_LACK)
    links = fields.Integer(metadata=MAY_LACK)
    codes = fields.Integer(metadata=MAY_LACK)
    customers = fields.Integer(metadata=MAY_LACK)
    commissions = fields.Integer(metadata=MAY_LACK)


class SwitchUndoPreview(Wire):
    """What an undo would remove and keep now, why, and the commission that would no longer be owed."""

    possible = Flag()
    until = Instant(allow_none=True)
    would_remove = fields.Nested(CountsByCollection)
    would_keep = fields.Nested(CountsByCollection)
    kept_because = fields.Dict(keys=fields.String(), values=fields.Integer())
    taken_back = fields.List(fields.Nested(CurrencyCents))

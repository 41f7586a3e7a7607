"""A switch from another affiliate system, the systems, and the bodies that start, change and confirm it.

Unknown fields of bodies are refused: an ignored one could change what is written.
Source: the switch-over rules, "Words and records" and "Routes".
"""

from collections.abc import Mapping
from typing import Any

from marshmallow import RAISE, ValidationError, fields, post_load, validate, validates, validates_schema

from domain.money import currencies
from domain.statuses import AffiliateStatus
from domain.switches.files import file_fields
from domain.switches.sources import MAX_CAMPAIGNS, Collection, SourceName
from domain.switches.states import ErrorCode, SwitchState
from schemas.base import MAY_LACK, Amount, Flag, Instant, Wire, integer, line, one_of, rate, text
from schemas.collection_fields import Entries, Items
from schemas.paging import PageQuery

_MAX_CREDENTIALS, _MAX_CREDENTIAL_CHARS = 10, 4_096
_MAX_SOURCE_ID_CHARS = 300
_MAX_COLUMNS, _MAX_WORDS, _MAX_HEADING_CHARS = 40, 200, 255
_MAX_TOTALS = 200
_CURRENCY_CHARS = 3
_NO_CURRENCY = "This is not a supported currency. Enter its code of three letters, such as USD."
_MAX_ASSUMED = {"Percentage": 100, "Fixed": 1_000_000}


class _StrictBody(Wire):
    """A body whose unknown fields are refused."""

    class Meta:
        unknown = RAISE


def _credentials(**options: Any) -> Entries:
    return Entries(
        most=_MAX_CREDENTIALS,
        keys=text(shortest=1, longest=64),
        values=text(shortest=1, longest=_MAX_CREDENTIAL_CHARS),
        **options,
    )


def _currency(value: str) -> None:
    if len(value) <= _CURRENCY_CHARS and currencies.normalize(value) is None:
        raise ValidationError(_NO_CURRENCY)


class SwitchBody(_StrictBody):
    """A switch to start: the system and its credentials, as the list of sources names them."""

    source = one_of(SourceName, required=True)
    credentials = _credentials(required=True)


class SwitchCampaignBody(_StrictBody):
    """A campaign there and the program that it leads to; null leaves it out."""

    source_id = line(shortest=1, longest=_MAX_SOURCE_ID_CHARS, required=True)
    program_id = fields.UUID(required=True, allow_none=True)


class AssumedCommissionBody(_StrictBody):
    """The commission of a source that states none: percent of the sale, or major units of its currency."""

    type = one_of(("Percentage", "Fixed"), required=True)
    value = rate(required=True)

    @validates_schema
    def _check_range(self, body: dict[str, Any], **_: object) -> None:
        if body.get("value") is None:
            return
        if body["value"] < 0 or body["value"] > _MAX_ASSUMED.get(body.get("type", ""), 0):
            message = "It must be at least 0, a percentage at most 100, and an amount at most 1,000,000."
            raise ValidationError(message, "value")


class SwitchOptionsBody(_StrictBody):
    """Options to change; the others stay."""

    unpaid = one_of(("history", "payable"))
    include_statuses = Items(one_of(AffiliateStatus), most=len(AffiliateStatus), least=1, allow_none=True)
    without_referrals = Flag()
    groups = one_of(("tag", "group", "none"))
    codes = Flag()
    customer_id_is = one_of(("auto", "billing", "own"))
    currency = fields.String(
        allow_none=True, validate=[validate.Length(max=_CURRENCY_CHARS, error=_NO_CURRENCY), _currency]
    )
    assumed_commission = fields.Nested(AssumedCommissionBody, allow_none=True)

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        if body.get("currency"):
            body["currency"] = currencies.normalize(body["currency"])
        if body.get("include_statuses") is not None:
            body["include_statuses"] = tuple(body["include_statuses"])
        return body


class SwitchChanges(_StrictBody):
    """What to change of a switch; what is not sent stays. It loads to what was sent.

    `columns` and `words` are those of files, for each collection that is sent.
    """

    campaigns = Items(fields.Nested(SwitchCampaignBody), most=MAX_CAMPAIGNS + 1)  # one more for rows without any
    options = fields.Nested(SwitchOptionsBody)
    cut_over_at = Instant(allow_none=True)
    credentials = _credentials(least=1)
    columns = Entries(
        most=len(file_fields.FIELDS),
        keys=one_of(file_fields.FIELDS),
        values=Entries(
            most=_MAX_COLUMNS,
            keys=text(shortest=1, longest=40),
            values=text(shortest=1, longest=_MAX_HEADING_CHARS),
        ),
    )
    words = Entries(
        most=2,
        keys=one_of(("affiliates", "commissions")),
        values=Entries(
            most=_MAX_WORDS, keys=text(longest=_MAX_HEADING_CHARS), values=text(shortest=1, longest=_MAX_HEADING_CHARS)
        ),
    )

    @validates("words")
    def _check_meanings(self, words: Mapping[str, Mapping[str, str]], **_: object) -> None:
        for collection, meanings in words.items():
            allowed = file_fields.WORDS[collection]
            unknown = [ours for ours in meanings.values() if ours not in allowed]
            if unknown:
                message = f"{unknown[0]!r} is unknown. Words of {collection} can mean: {', '.join(allowed)}."
                raise ValidationError({collection: [message]})

    @validates("columns")
    def _check_fields(self, columns: Mapping[str, Mapping[str, str]], **_: object) -> None:
        for collection, mapping in columns.items():
            unknown = [name for name in mapping if name not in file_fields.FIELDS[collection]]
            if unknown:
                message = f"Files of {collection} have no field {unknown[0]!r}."
                raise ValidationError({collection: [message]})


class EmptyBody(_StrictBody):
    """An empty object."""


class SwitchTotal(_StrictBody):
    """An amount of one currency, in its minor units."""

    currency = text(shortest=3, longest=3, required=True)
    cents = integer(required=True)


class SwitchConfirmation(_StrictBody):
    """The totals of the preview, repeated by the person who runs the switch."""

    affiliates = integer(required=True, validate=[validate.Range(min=0)])
    customers = integer(required=True, validate=[validate.Range(min=0)])
    commissions = integer(required=True, validate=[validate.Range(min=0)])
    payable = Items(fields.Nested(SwitchTotal), most=_MAX_TOTALS, required=True)


class SwitchRun(_StrictBody):
    """The confirmation of a run."""

    confirm = fields.Nested(SwitchConfirmation, required=True)


class SwitchesQuery(PageQuery):
    """The filter of switches: source and state."""

    source = one_of(SourceName, load_default=None)
    state = one_of(SwitchState, load_default=None)


class SourceSystemField(Wire):
    """One credential of a source; `help` says where to find it."""

    name = fields.String()
    label = fields.String()
    secret = Flag()
    required = Flag()
    help = fields.String()


class SourceSystemRecord(Wire):
    """A system to switch from: its credentials, the parameters of its links, and what is read of it."""

    name = one_of(SourceName)
    label = fields.String()
    fields_ = fields.List(fields.Nested(SourceSystemField), data_key="fields", attribute="fields")
    parameters = fields.List(fields.String())
    collections = fields.List(one_of(Collection))
    needs_currency = Flag()
    assumes_commissions = Flag()
    requests_per_minute = fields.Integer(allow_none=True)


class SwitchAccount(Wire):
    """The account there."""

    name = fields.String()
    reference = fields.String()


class SwitchCampaignTerms(Wire):
    """The terms of a campaign as the source states them; what it does not state is missing."""

    commission_type = one_of(("Percentage", "Fixed"), allow_none=True, metadata=MAY_LACK)
    commission_value = Amount(allow_none=True, metadata=MAY_LACK)
    commission_currency = fields.String(allow_none=True, metadata=MAY_LACK)
    cookie_window_days = fields.Integer(allow_none=True, metadata=MAY_LACK)
    recurring_months = fields.Integer(allow_none=True, metadata=MAY_LACK)
    hold_days = fields.Integer(allow_none=True, metadata=MAY_LACK)
    minimum_payout_cents = fields.Integer(allow_none=True, metadata=MAY_LACK)


class SwitchCampaignRecord(Wire):
    """A campaign of the account, and the program that it leads to; null leaves it out."""

    source_id = fields.String()
    name = fields.String()
    affiliates = fields.Integer(allow_none=True)
    terms = fields.Nested(SwitchCampaignTerms)
    program_id = fields.UUID(allow_none=True)


class AssumedCommissionRecord(Wire):
    """The commission that is assumed of each sale."""

    type = one_of(("Percentage", "Fixed"))
    value = Amount()


class SwitchOptionsRecord(Wire):
    """The options of a switch, defaults included."""

    unpaid = one_of(("history", "payable"))
    include_statuses = fields.List(fields.String(), allow_none=True)
    without_referrals = Flag()
    groups = one_of(("tag", "group", "none"))
    codes = Flag()
    customer_id_is = one_of(("auto", "billing", "own"))
    currency = fields.String(allow_none=True)
    assumed_commission = fields.Nested(AssumedCommissionRecord, allow_none=True)


class SwitchCollectionProgress(Wire):
    """How far a collection is; `total` is null where the source tells none."""

    read = fields.Integer()
    total = fields.Integer(allow_none=True)
    written = fields.Integer()


class SwitchProgress(Wire):
    """How far each collection is; one that was not begun is missing."""

    campaigns = fields.Nested(SwitchCollectionProgress, metadata=MAY_LACK)
    affiliates = fields.Nested(SwitchCollectionProgress, metadata=MAY_LACK)
    links = fields.Nested(SwitchCollectionProgress, metadata=MAY_LACK)
    codes = fields.Nested(SwitchCollectionProgress, metadata=MAY_LACK)
    customers = fields.Nested(SwitchCollectionProgress, metadata=MAY_LACK)
    commissions = fields.Nested(SwitchCollectionProgress, metadata=MAY_LACK)
    payouts = fields.Nested(SwitchCollectionProgress, metadata=MAY_LACK)


class SwitchError(Wire):
    """Why a switch is paused."""

    code = one_of(ErrorCode)
    message = fields.String()
    at = Instant()


class CollectionResult(Wire):
    """What became of the rows of a collection."""

    created = fields.Integer()
    merged = fields.Integer()
    changed = fields.Integer()
    left_out = fields.Integer()
    remaining = fields.Integer(metadata=MAY_LACK)


class SwitchResult(Wire):
    """What a run wrote, by collection."""

    affiliates = fields.Nested(CollectionResult, metadata=MAY_LACK)
    links = fields.Nested(CollectionResult, metadata=MAY_LACK)
    codes = fields.Nested(CollectionResult, metadata=MAY_LACK)
    customers = fields.Nested(CollectionResult, metadata=MAY_LACK)
    commissions = fields.Nested(CollectionResult, metadata=MAY_LACK)


class SwitchRecord(Wire):
    """A switch: one attempt to bring one account of another affiliate system into the organization."""

    id = fields.UUID()
    source = one_of(SourceName)
    state = one_of(SwitchState)
    stage = fields.String(allow_none=True)
    paused_in = one_of(("Reading", "Writing"), allow_none=True)
    account = fields.Nested(SwitchAccount)
    campaigns = fields.List(fields.Nested(SwitchCampaignRecord))
    options = fields.Nested(SwitchOptionsRecord)
    columns = fields.Dict(keys=fields.String(), values=fields.Raw())
    words = fields.Dict(keys=fields.String(), values=fields.Raw())
    cut_over_at = Instant(allow_none=True)
    progress = fields.Nested(SwitchProgress)
    requests = fields.Integer()
    waiting_until = Instant(allow_none=True)
    last_error = fields.Nested(SwitchError, allow_none=True)
    credentials_held = Flag()
    result = fields.Nested(SwitchResult, allow_none=True)
    created_at = Instant()
    reading_at = Instant(allow_none=True)
    read_at = Instant(allow_none=True)
    completed_at = Instant(allow_none=True)
    undo_until = Instant(allow_none=True)
    undone_at = Instant(allow_none=True)

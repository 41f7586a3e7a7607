"""Event payloads match their documented schemas, with all fields and without the optional ones."""

import inspect
from collections.abc import Mapping
from datetime import UTC, date, datetime
from types import UnionType
from typing import Any, get_args, get_type_hints
from uuid import UUID

import pytest

from domain.deals import events as deal_events
from domain.payouts import events as payout_events
from domain.webhooks import events, samples
from schemas.webhooks.event_data import BY_TYPE

_BY_FUNCTION = {
    events.conversion_created: "conversion.created",
    events.conversion_refunded: "conversion.refunded",
    events.conversion_reviewed: "conversion.denied",
    events.conversion_adjusted: "conversion.adjusted",
    events.affiliate_created: "affiliate.created",
    events.affiliate_approved: "affiliate.approved",
    payout_events.serialize_created: "payout.created",
    payout_events.serialize_paid: "payout.paid",
    payout_events.serialize_failed: "payout.failed",
    deal_events.serialize_funded: "deal.funded",
    deal_events.serialize_submitted: "milestone.submitted",
    deal_events.serialize_released: "milestone.released",
    deal_events.serialize_dispute_opened: "dispute.opened",
}
_VALUES: dict[Any, object] = {
    UUID: UUID("0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11"),
    int: 4900,
    str: "Pending",
    bool: True,
    datetime: datetime(2026, 5, 10, tzinfo=UTC),
    date: date(2026, 5, 10),
}


@pytest.mark.parametrize("serialize", _BY_FUNCTION, ids=lambda serialize: serialize.__name__)
@pytest.mark.parametrize("is_full", [True, False])
def test_event_payload_matches_its_schema(serialize, is_full) -> None:
    hints, parameters = get_type_hints(serialize), inspect.signature(serialize).parameters
    arguments = {
        name: _value(hints[name], is_full)
        for name, parameter in parameters.items()
        if is_full or parameter.default is inspect.Parameter.empty
    }
    keys = set(serialize(**arguments))
    fields = BY_TYPE[_BY_FUNCTION[serialize]]().fields.values()
    required = {field.data_key for field in fields if not field.metadata.get("may_lack")}

    assert keys <= {field.data_key for field in fields}
    assert required <= keys
    if is_full and serialize is not payout_events.serialize_paid:  # a payment has the references of one rail only
        assert keys == {field.data_key for field in fields}


def _value(hint: Any, is_full: bool) -> object:
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if type(None) in kinds and not is_full:
        return None
    kind = next(kind for kind in kinds if kind is not type(None))
    if kind in _VALUES:
        return _VALUES[kind]
    return {"walletBatchId": "x"} if getattr(kind, "__origin__", None) is Mapping else [_VALUES[UUID]]


@pytest.mark.parametrize("type", events.TYPES)
def test_every_event_type_has_a_schema_and_a_matching_sample(type) -> None:
    sample = samples.SAMPLES.get(type) or samples.OTHERS[type]
    fields = BY_TYPE[type]().fields.values()

    assert set(sample) <= {field.data_key for field in fields}
    assert {field.data_key for field in fields if not field.metadata.get("may_lack")} <= set(sample)


def test_samples_and_other_samples_do_not_overlap() -> None:
    assert set(samples.OTHERS) == set(events.TYPES) - set(events.TESTABLE)
    assert set(samples.SAMPLES) == {*events.TESTABLE, "test"}

"""Starts a switch: one request to the source proves the credentials and lists the campaigns.

The source is called before anything is written, and outside of any transaction.
"""

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from adapters.gateways.base import CredentialsRefused
from adapters.switches import client, registry
from adapters.switches.base import Source, SourceAccount, UnreadablePage
from domain.refusals import Refused
from domain.switches.records import CampaignTerms, SourceCampaign
from domain.switches.sources import MAX_CAMPAIGNS, ONLY_CAMPAIGN, SourceName
from domain.switches.states import SwitchState
from models import db, ids
from models.switches import switches
from models.switches.switches import Switch, SwitchCampaign
from pipelines import credentials


@dataclass(frozen=True, slots=True)
class ProvedAccount:
    """Credentials that a source accepted, and the account that they open; nothing is written yet."""

    source: Source = field(repr=False)
    credentials: Mapping[str, str] = field(repr=False)
    account: SourceAccount
    requests: int = 1


def connect(
    *, organization_id: UUID, member_id: UUID | None, source: str, credentials: Mapping[str, str], now: datetime
) -> Switch:
    """Return a new switch, Connected. Calls the source outside of transactions, for at most 10 s.

    Raises Refused: 400 invalid_request, 422 switch_credentials_refused, 503 switch_source_unreachable,
    409 switch_in_progress.
    """
    with db.unit_of_work(organization_id):
        check_none_open(organization_id=organization_id)
    proved = prove_new(source=source, values=credentials)
    with db.unit_of_work(organization_id):
        return store(proved, organization_id=organization_id, member_id=member_id, now=now)


def check_none_open(*, organization_id: UUID) -> None:
    """Raise Refused 409 switch_in_progress if the organization has a switch that is not ended."""
    if switches.has_open(organization_id=organization_id):
        raise _in_progress()


def prove_new(*, source: str, values: Mapping[str, str]) -> ProvedAccount:
    """Return the account that new credentials open. Calls the source, except for source files.

    Raises Refused: 400 invalid_request, 422 switch_credentials_refused, 503 switch_source_unreachable.
    """
    adapter = registry.find(source)
    if adapter is None:
        raise Refused(400, "invalid_request", f"There is no source {source}.", field="source")
    valid = credentials.validate(adapter.info.label, adapter.info.fields, values, is_whole=True)
    return _prove(adapter, valid)


def prove_changed(switch: Switch, values: Mapping[str, str]) -> ProvedAccount:
    """Return the account that a switch's credentials open with these changes. Calls the source.

    Raises Refused as `prove_new`.
    """
    source = registry.get(switch.source)
    valid = credentials.validate(source.info.label, source.info.fields, values, is_whole=False)
    sealed = switch.credentials_sealed
    former = {} if sealed is None else credentials.unseal(sealed, switch.id)
    return _prove(source, former | valid)


def store(proved: ProvedAccount, *, organization_id: UUID, member_id: UUID | None, now: datetime) -> Switch:
    """Write a switch, Connected, and return it. Raises Refused 409 switch_in_progress."""
    check_none_open(organization_id=organization_id)
    switch_id = ids.new_id()
    is_files = proved.source.info.name == SourceName.Files
    is_inserted = switches.insert(
        {
            "id": switch_id,
            "organization_id": organization_id,
            "source": proved.source.info.name.value,
            "state": SwitchState.Connected.value,
            "credentials_sealed": None if is_files else credentials.seal(proved.credentials, switch_id),
            "requests": 0 if is_files else proved.requests,
            "created_by": member_id,
            "created_at": now,
            "touched_at": now,
            **describe_account(proved),
        }
    )
    if not is_inserted:  # another request was faster
        raise _in_progress()
    stage_campaigns(proved.account, organization_id=organization_id, switch_id=switch_id)
    switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
    assert switch is not None  # it was inserted
    return switch


def describe_account(proved: ProvedAccount) -> dict[str, Any]:
    """Return the columns of a switch that say which account it brings."""
    account = proved.account
    return {
        "account_name": account.name,
        "account_reference": account.reference,
        "parameters": list(dict.fromkeys([*account.parameters, *proved.source.info.parameters])),
    }


def require_same_account(switch: Switch, proved: ProvedAccount) -> None:
    """Raise Refused 422 switch_credentials_refused if changed credentials open another account than the switch reads.

    A source that does not name its account is trusted.
    """
    account, info = proved.account, proved.source.info
    is_same = not (switch.account_reference and account.reference) or switch.account_reference == account.reference
    if info.recognized_by == "campaigns" and account.campaigns:
        former = {campaign.source_id for campaign in switches.list_campaigns(**switch.key)}
        is_same = bool(former & {campaign.source_id for campaign in account.campaigns})
    if not is_same and info.recognized_by != "nothing":
        message = (
            f"These credentials open another account of {info.label} than the one that this switch reads"
            f" ({switch.account_name}). Cancel this switch and start a new one for the other account."
        )
        raise Refused(422, "switch_credentials_refused", message, field="credentials")


def stage_campaigns(account: SourceAccount, *, organization_id: UUID, switch_id: UUID) -> None:
    """Stage the campaigns of an account; those that are known keep their program."""
    campaigns = list(account.campaigns) or [SourceCampaign(ONLY_CAMPAIGN, account.name)]
    switches.stage_campaigns(
        organization_id=organization_id,
        switch_id=switch_id,
        campaigns=[
            SwitchCampaign(each.source_id, each.name, each.affiliates, _to_json(each.terms), None)
            for each in _without_repeats(campaigns)
        ],
    )


def _prove(source: Source, values: Mapping[str, str]) -> ProvedAccount:
    label = source.info.label
    if source.info.name == SourceName.Files:
        return ProvedAccount(source, values, SourceAccount(label, "", ()))
    try:
        return _read_account(source, values)
    except CredentialsRefused as error:
        message = f"{label} does not accept these credentials: {error}."
        raise Refused(422, "switch_credentials_refused", message) from error
    except client.SourceLacksList as error:
        message = f"{label} has no account for these credentials: {error}."
        raise Refused(422, "switch_credentials_refused", message) from error
    except (client.SourceUnreachable, client.SourceBusy, client.AnswerTooLarge, UnreadablePage) as error:
        message = f"{label} cannot be reached now ({error}). Nothing was changed; try again."
        raise Refused(503, "switch_source_unreachable", message) from error


def _read_account(source: Source, values: Mapping[str, str]) -> ProvedAccount:
    """Return the account with the campaigns of all pages, which are read within 10 s.

    Raises Refused 422 for more campaigns than a switch can bring, and the errors of `client.fetch`.
    """
    deadline = time.monotonic() + client.CONNECT_TIMEOUT_S
    campaigns: dict[str, SourceCampaign] = {}
    parameters: list[str] = []
    cursor: Mapping[str, Any] | None = None
    for number in itertools.count(1):
        timeout_s = math.ceil(deadline - time.monotonic())
        if timeout_s < 1:
            raise client.SourceUnreachable("it did not list all campaigns in time")
        response = client.fetch(source, values, source.account_request(values, cursor), timeout_s=timeout_s)
        account = source.read_account(values, response, cursor)
        before = len(campaigns)
        campaigns |= {each.source_id: each for each in account.campaigns}
        parameters += account.parameters
        cursor = account.cursor
        if len(campaigns) > MAX_CAMPAIGNS:
            message = f"The account has more than {MAX_CAMPAIGNS} campaigns, which one switch cannot bring."
            raise Refused(422, "switch_credentials_refused", message)
        # A source that answers each page with the first one has no further ones.
        if cursor is None or len(campaigns) == before:
            whole = replace(account, campaigns=list(campaigns.values()), parameters=parameters, cursor=None)
            return ProvedAccount(source, values, whole, number)
    raise AssertionError("counting has no end")


def _without_repeats(campaigns: Sequence[SourceCampaign]) -> list[SourceCampaign]:
    return list({each.source_id: each for each in campaigns}.values())


def _to_json(terms: CampaignTerms) -> dict[str, Any]:
    """Return terms as they are stored: what the source states, decimals as text; None is without a limit."""
    stated = {name: value for name, value in asdict(terms).items() if value is not None}
    if stated.pop("is_unlimited"):
        stated["recurring_months"] = None
    return {name: str(value) if isinstance(value, Decimal) else value for name, value in stated.items()}


def _in_progress() -> Refused:
    message = "This organization has a switch that is not finished. Complete or cancel it first."
    return Refused(409, "switch_in_progress", message)

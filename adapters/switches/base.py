"""The Protocol of a source: how its lists are walked, and what its rows mean. Nothing here makes a request.

A source is pure: it names the next request, reads a page into rows, and understands a row. `pipelines.switches` makes
the requests, keeps pace and stores the rows, the same way for every source.
Source: the switch-over rules, part A (what the old systems answer).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from adapters.gateways.base import CredentialField
from domain.switches.options import SwitchOptions
from domain.switches.records import Record, SourceCampaign
from domain.switches.sources import Collection, SourceName


class UnreadablePage(Exception):
    """The answer is no page of the list: another form, or no JSON. Worth another try. The message has no secret."""


class UnreadableRow(Exception):
    """The row cannot be understood at all. `label` names it for people; None: its id does."""

    def __init__(self, message: str, *, label: str | None = None) -> None:
        super().__init__(message)
        self.label = label


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """What people and the pipeline need to know of a source.

    `address` is scheme, host and path of its API; SWITCH_…_BASE_URL replaces scheme and host. `parameters` are the
    parameter names of its links. `requests_per_s` is our own pace; with `paced_by_headers` it is that of the first
    request, and a limit per minute in an answer's headers decides about the next. `needs_currency`: its rows name no
    currency, so that the brand must. `assumes_commissions`: it states no commissions, so that they are assumed.
    `recognized_by`: what tells that two keys open one account: its reference, any campaign that both list, or nothing.
    """

    name: SourceName
    label: str
    address: str
    fields: tuple[CredentialField, ...]
    collections: tuple[Collection, ...]
    parameters: tuple[str, ...]
    requests_per_s: float
    needs_currency: bool = False
    assumes_commissions: bool = False
    paced_by_headers: bool = False
    recognized_by: Literal["reference", "campaigns", "nothing"] = "reference"


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A GET: the path after the source's address, and its query."""

    path: str
    query: Mapping[str, str | Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceResponse:
    """A response with status 200. `headers` are found by any case, `json` is its body.

    Decimals are Decimal here, and text in the rows that were stored.
    """

    status: int
    headers: Mapping[str, str]
    json: Any


@dataclass(frozen=True, slots=True)
class SourceList:
    """A list to walk. `name` is unique within the switch and safe to show.

    `moves`: how rows shift while it is walked. `by_total`: newest first, each page tells the total, so that a fall of
    the total is answered by steps back of whole pages (`page_size`). `unknown`: no total, so that it is walked again
    until a walk brings nothing new. `stable`: by cursor or ascending; requested once more from the last cursor at the
    end. A cursor that names the last row of a page has its id as `after`: the list begins again if that row is gone.
    `is_optional`: a 404 means that the account has no such list. `of_parents`: the list is requested once for each row
    of this collection, in the order of source ids; `parent` in `request` is its source id. The cursor starts again for
    each. `leaves_rows_out`: pages have objects that are no rows, so that a total says nothing of the rows read.
    """

    name: str
    collection: Collection
    moves: Literal["by_total", "unknown", "stable"]
    page_size: int
    is_optional: bool = False
    of_parents: Collection | None = None
    leaves_rows_out: bool = False


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row as it is stored: `data` is the source's object, with what it needs of the object around it.

    A mention is an affiliate named by another list's row only: stored if no list brought a row of this id. An addition
    is no row of its own: its names and values are put into the data of the stored row of this id, and stay when a list
    brings that row again; without such a row it is dropped.
    """

    collection: Collection
    source_id: str
    data: Mapping[str, Any]
    is_mention: bool = False
    is_addition: bool = False


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A figure that the source states: `subject` is the source id of its affiliate, customer or group ('' in all)."""

    name: str
    subject: str
    currency: str
    value: int


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page, read. `cursor` is that of the next page (JSON values), None after the last. `total` if it tells one.

    A row without an id, or that is no object, gets an id from its content; `understand` raises UnreadableRow for it.
    """

    rows: Sequence[SourceRow]
    cursor: Mapping[str, Any] | None
    total: int | None = None
    figures: Sequence[StatedFigure] = ()


@dataclass(frozen=True, slots=True)
class SourceAccount:
    """The account, as a page of its campaigns names it. `reference` identifies it for people, without a secret.

    `cursor` is that of the next page of campaigns, None after the last one, whose name and reference count.
    """

    name: str
    reference: str
    campaigns: Sequence[SourceCampaign]
    parameters: Sequence[str] = ()
    cursor: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SwitchContext:
    """What the meaning of rows depends on besides themselves.

    `campaigns` are the source ids of those that lead to a program, `all_campaigns` those of the account, `currencies`
    the currency of a campaign where the source tells it there. `columns` and `words` are those of source files.
    """

    options: SwitchOptions
    credentials: Mapping[str, str]
    campaigns: Sequence[str]
    all_campaigns: Sequence[str] = ()
    currencies: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Source(Protocol):
    """A system to switch from."""

    info: SourceInfo

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        """Return the headers of every request, with the credentials."""

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        """Return the request that proves the credentials and lists the campaigns; with a cursor their next page."""

    def read_account(
        self, credentials: Mapping[str, str], response: SourceResponse, cursor: Mapping[str, Any] | None = None
    ) -> SourceAccount:
        """Return the account with the campaigns of this page. Raises UnreadablePage."""

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        """Return the lists in the order in which they are walked. Credentials in the context are the typed ones."""

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        """Return the request for a page of a list; `cursor` None is the first."""

    def step_back(self, walked: SourceList, cursor: Mapping[str, Any], pages: int) -> Mapping[str, Any] | None:
        """Return the cursor so many pages earlier, for lists that move `by_total`."""

    def read_page(
        self,
        walked: SourceList,
        cursor: Mapping[str, Any] | None,
        response: SourceResponse,
        context: SwitchContext,
        parent: str | None = None,
    ) -> SourcePage:
        """Return the rows of a page, of any collections. Raises UnreadablePage."""

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return what a stored row means. Raises UnreadableRow."""

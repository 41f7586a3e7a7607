"""Reads one page of the source: a request, then its rows, the next cursor and the next job in one transaction.

Every wait is a new job that is due later, so that it uses neither an attempt nor a worker. A page that is recorded
twice stores the same rows, and only the first time leads to a next job.
Source: the switch-over rules, "Jobs".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import settings
from adapters.gateways.base import CredentialsRefused
from adapters.switches import client, registry
from adapters.switches.base import Source, SourcePage, SourceResponse, SwitchContext, UnreadablePage
from adapters.switches.client import AnswerTooLarge, SourceBusy, SourceLacksList, SourceUnreachable
from domain.switches import lists, pace
from domain.switches.reasons import SwitchWarning
from domain.switches.sources import MAX_COMMISSIONS
from domain.switches.states import JUDGE, ErrorCode, SwitchState
from models.switches import switches
from models.switches.staging import read_rows, reading
from models.switches.staging.read_rows import ReadRow
from models.switches.staging.reading import ReadFigure, SwitchList
from models.switches.switches import Switch
from pipelines import work
from pipelines.switches import contexts, pausing, steps, walking
from pipelines.switches.walking import ListStep


@dataclass(frozen=True, slots=True)
class ListPageRequest:
    """The request of a page, prepared at `at`. `number` is how many requests the switch had made before."""

    organization_id: UUID
    switch_id: UUID
    number: int
    step: ListStep
    source: Source = field(repr=False)
    context: SwitchContext = field(repr=False)  # it has the credentials
    at: datetime


@dataclass(frozen=True, slots=True)
class ListPageResult:
    """What the source answered: a page, or why it has no page. `reason` is for people and has no secret."""

    page: SourcePage | None = None
    failure: Literal["busy", "refused", "missing", "too_large", "unusable"] | None = None
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def prepare(*, organization_id: UUID, switch_id: UUID, now: datetime) -> ListPageRequest | None:
    """Return the next request of a switch that is Reading; None if nothing is left to request.

    Raises work.TryAgain before the time until which the source asked to wait.
    """
    switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
    if switch is None or not _is_read(switch):
        return None
    if switch.waiting_until is not None and switch.waiting_until > now:
        raise work.TryAgain(at=switch.waiting_until, why="the source asked to wait")
    source, context = registry.get(switch.source), contexts.load_context(switch)
    rows = reading.list_lists(organization_id=organization_id, switch_id=switch_id)
    step = walking.find_next(switch, source, context, rows, now=now)
    if step is None:
        walking.begin_judging(switch, source, context, now=now)
        return None
    return ListPageRequest(organization_id, switch_id, switch.requests, step, source, context, now)


def call(request: ListPageRequest) -> ListPageResult:
    """Make the request. Calls the source."""
    walked, row = request.step.walked, request.step.row
    source_request = request.source.request(walked, row.cursor, request.context, row.parent)
    try:
        response = client.fetch(request.source, request.context.credentials, source_request)
        return ListPageResult(_read_page(request, response), headers=response.headers)
    except SourceBusy as busy:
        return ListPageResult(failure="busy", headers=busy.headers)
    except CredentialsRefused as refused:
        return ListPageResult(failure="refused", reason=str(refused))
    except SourceLacksList as missing:
        return ListPageResult(failure="missing", reason=str(missing))
    except AnswerTooLarge as error:
        return ListPageResult(failure="too_large", reason=str(error))
    except SourceUnreachable as error:
        return ListPageResult(failure="unusable", reason=str(error), headers=error.headers)
    except UnreadablePage as error:
        return ListPageResult(failure="unusable", reason=str(error))


def record(request: ListPageRequest, result: ListPageResult, *, now: datetime) -> None:
    """Store the page's rows and the next cursor, and stage the next job: a page, a wait, or judging; or pause.

    Nothing happens if the switch was cancelled or paused meanwhile, or if another job made this request.
    """
    switch = switches.lock(organization_id=request.organization_id, switch_id=request.switch_id)
    if switch is None or not _is_read(switch) or switch.requests != request.number:
        return
    switch = switches.update(switch, {"requests": switch.requests + 1, "touched_at": now})
    if result.page is not None:
        _record_page(switch, request, result.page, result.headers, now)
    elif result.failure == "missing" and (restarted := _restart(request.step)):
        _record_restart(switch, request, restarted, result.headers, now)
    elif result.failure == "missing" and request.step.walked.is_optional:
        _record_page(switch, request, None, result.headers, now)
    else:
        _record_failure(switch, request, result, now)


def _is_read(switch: Switch) -> bool:
    return switch.state == SwitchState.Reading and switch.stage != JUDGE


def _read_page(request: ListPageRequest, response: SourceResponse) -> SourcePage:
    step = request.step
    return request.source.read_page(step.walked, step.row.cursor, response, request.context, step.row.parent)


def _restart(step: ListStep) -> SwitchList | None:
    """Return a list at its first page, if the source may refuse its cursor because that row is gone."""
    position = lists.restart(walking.get_position(step.row), moves=step.walked.moves)
    return None if position is None else walking.with_position(step.row, position)


def _record_restart(
    switch: Switch, request: ListPageRequest, row: SwitchList, headers: Mapping[str, str], now: datetime
) -> None:
    reading.stage_list(**switch.key, changed=row)
    switches.update(switch, {"failures": 0, "busy": 0})
    paced_at = pace.next_at(request.at, _requests_per_s(request.source, headers))
    steps.stage_read(**switch.key, source=switch.source, run_at=paced_at)


def _record_failure(switch: Switch, request: ListPageRequest, result: ListPageResult, now: datetime) -> None:
    label = request.source.info.label
    match result.failure:
        case "busy":
            until = pace.busy_until(result.headers, in_a_row=switch.busy + 1, now=now)
            _wait(switch, until, busy=switch.busy + 1)
        case "refused":
            message = f"{label} does not accept the credentials: {result.reason}. Enter valid ones, then resume."
            pausing.pause(switch, code=ErrorCode.CredentialsRefused, message=message, now=now)
        case "too_large":
            message = f"A page of {label} cannot be read: {result.reason}. Write to support."
            pausing.pause(switch, code=ErrorCode.AnswerTooLarge, message=message, now=now)
        case _:
            failures = switch.failures + 1
            wait_s = pace.retry_wait_s(failures, settings.current().switches.retry_at_s)
            if wait_s is None:
                message = f"{label} did not answer as it should, {failures} times: {result.reason}. Resume it later."
                pausing.pause(switch, code=ErrorCode.SourceUnavailable, message=message, now=now, failures=failures)
                return
            until = pace.after_failure(result.headers, wait_s=wait_s, now=now)
            _wait(switch, until, failures=failures)


def _wait(switch: Switch, until: datetime, **changes: int) -> None:
    """Stage the same request again at a time; no worker and no attempt is used until then."""
    switches.update(switch, {"waiting_until": until, **changes})
    steps.stage_read(**switch.key, source=switch.source, run_at=until)


def _record_page(
    switch: Switch, request: ListPageRequest, page: SourcePage | None, headers: Mapping[str, str], now: datetime
) -> None:
    """Record a page, or with None that the account has no such list."""
    key = switch.key
    stored = _store(switch, request.step, page, now) if page else read_rows.StoredPage(0, {})
    row = _move(switch, request, page, stored.new_rows, now)
    reading.stage_list(**key, changed=row)
    rows = [row if each.name == row.name else each for each in reading.list_lists(**key)]
    if row.total != request.step.row.total:
        _stage_total(switch, request, rows)
    changes: dict[str, Any] = {"failures": 0, "busy": 0}
    too_many = [collection for collection, read in stored.read.items() if read > MAX_COMMISSIONS]
    if too_many:
        message = f"There are more than {MAX_COMMISSIONS:,} {too_many[0]}, which one switch cannot bring."
        pausing.pause(switch, code=ErrorCode.TooManyRows, message=message, now=now, **changes)
        return
    if _is_endless(switch, row):
        message = f"The list of {row.name} has no end: {row.idle_pages:,} pages had no new row. Write to support."
        pausing.pause(switch, code=ErrorCode.SourceUnavailable, message=message, now=now, **changes)
        return
    step = walking.find_next(switch, request.source, request.context, rows, now=now)
    waiting_until = pace.exhausted_until(headers, now=now)
    changes["waiting_until"] = waiting_until
    if step is None:
        walking.begin_judging(switch, request.source, request.context, now=now, **changes)
        return
    switches.update(switch, changes | {"stage": step.stage})
    paced_at = pace.next_at(request.at, _requests_per_s(request.source, headers))
    run_at = max((at for at in (paced_at, waiting_until) if at), default=None)
    steps.stage_read(**key, source=switch.source, run_at=run_at)


def _is_endless(switch: Switch, row: SwitchList) -> bool:
    if row.is_done or row.idle_pages <= lists.MAX_IDLE_PAGES:
        return False
    read = sum(each.read for each in reading.list_collections(**switch.key) if each.collection == row.collection)
    return lists.is_endless(walking.get_position(row), read=read)


def _store(switch: Switch, step: ListStep, page: SourcePage, now: datetime) -> read_rows.StoredPage:
    key = switch.key
    figures = [ReadFigure(each.name, each.subject, each.currency, each.value) for each in page.figures]
    reading.stage_figures(**key, figures=figures)
    # The last page of a list that does not move is read again for rows that were added since.
    is_again = step.row.walk > 1 and step.walked.moves == "stable"
    return read_rows.store(
        **key,
        rows=[
            ReadRow(each.collection, each.source_id, each.data, each.is_mention, each.is_addition) for each in page.rows
        ],
        reading_at=walking.reading_began_at(switch),
        replace_since=step.row.walked_at if is_again else None,
        now=now,
    )


def _move(
    switch: Switch, request: ListPageRequest, page: SourcePage | None, new_rows: int, now: datetime
) -> SwitchList:
    """Return the list after a page, at its next page, the next row that it is requested for, or its end."""
    walked, row = request.step.walked, request.step.row
    position = walking.get_position(row)
    position = replace(position, idle_pages=0 if new_rows else position.idle_pages + 1)
    total = page.total if page else None
    next_cursor = page.cursor if page else None
    pages_back = lists.count_pages_back(position, moves=walked.moves, total=total, page_size=walked.page_size)
    if pages_back:
        assert row.cursor is not None  # of the first page nothing was before
        stepped = request.source.step_back(walked, row.cursor, pages_back)
        moved = lists.after_step_back(position, cursor=stepped, pages=pages_back, total=total, new_rows=new_rows)
        return walking.with_position(row, moved)
    moved = lists.after_page(position, moves=walked.moves, next_cursor=next_cursor, total=total, new_rows=new_rows)
    if moved.is_done and walked.of_parents is not None:
        moved = lists.next_parent(moved, walking.find_parent(switch, walked, row))
    row = walking.with_position(row, moved)
    if page is None and walked.of_parents is None:
        warning = {"code": SwitchWarning.CollectionNotAvailable.value, "count": 1, "example": walked.name}
        row = replace(row, warnings=[warning])
    return replace(row, walked_at=now) if moved.is_done and row.walk == 1 else row


def _stage_total(switch: Switch, request: ListPageRequest, rows: list[SwitchList]) -> None:
    collection = request.step.row.collection
    by_name = {each.name: each for each in request.source.lists(request.context)}
    total = walking.sum_totals([row for row in rows if row.collection == collection], by_name)
    reading.stage_total(**switch.key, collection=collection, total=total)


def _requests_per_s(source: Source, headers: Mapping[str, str]) -> float:
    own = settings.current().switches.requests_per_s
    if own is not None:
        return own
    by_headers = pace.requests_per_s_of(headers) if source.info.paced_by_headers else None
    return by_headers or source.info.requests_per_s

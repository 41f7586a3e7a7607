"""What a mapping of columns derives from the stored rows of files, and what it lacks.

Three things are derived: links from the tokens of affiliates, campaigns from their column of campaigns, and figures.
They are stored again after each part and after each change of columns or currency.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from adapters.switches.base import SourceRow, SwitchContext, UnreadableRow
from adapters.switches.files import NO_CAMPAIGN_NAME, ONLY_CAMPAIGN_NAME, SOURCE, read_figure
from domain.refusals import Refused
from domain.switches.files import file_fields
from domain.switches.files.file_fields import FIGURES, MissingColumn, normalize_heading
from domain.switches.records import SourceAffiliate
from domain.switches.sources import MAX_CAMPAIGNS, ONLY_CAMPAIGN, Collection
from domain.text import one_line
from models.switches import switches
from models.switches.staging import file_parts
from models.switches.staging.file_parts import FilePart
from models.switches.switches import Switch, SwitchCampaign
from pipelines.switches import contexts

_MAX_CAMPAIGN_CHARACTERS: Final = 255
_MAX_FIGURES: Final = 10_000
_MAX_PARAMETERS: Final = 10
_MAX_PARAMETER_CHARACTERS: Final = 64
# Rows whose values are counted.
_MAX_COUNTED_ROWS: Final = 500_000


def derive(switch: Switch, *, collection: str | None = None) -> Switch:
    """Store what the mapping of a locked switch derives from its rows, and return the switch.

    `collection` is the only one whose rows changed; None: the mapping did.
    Raises Refused 400 invalid_request for an unknown field, and for a column of campaigns with too many values.
    """
    if collection is None and (unknown := file_fields.find_unknown(switch.columns, switch.words)):
        raise Refused(400, "invalid_request", unknown, field="columns")
    parts = file_parts.list_parts(**switch.key)
    if collection in (None, Collection.Affiliates):
        file_parts.stage_links_of_affiliates(
            **switch.key,
            heading=_heading(switch, Collection.Affiliates, "token"),
            id_heading=_heading(switch, Collection.Affiliates, "id") if _has_id_links(parts) else None,
        )
        _stage_campaigns(switch, parts)
    if collection in (None, Collection.Affiliates, FIGURES):
        _stage_figures(switch)
    parameters = _list_parameters(switch, parts)
    return switch if parameters == switch.parameters else switches.update(switch, {"parameters": list(parameters)})


def list_missing(switch: Switch, parts: Sequence[FilePart] | None = None) -> list[MissingColumn]:
    """Return what the mapping lacks for the files that have rows."""
    if parts is None:
        parts = file_parts.list_parts(**switch.key)
    headers: dict[str, dict[int, Sequence[str]]] = {}
    for part in parts:
        if part.total:
            headers.setdefault(part.collection, {})[part.part] = part.form["header"]
    return file_fields.missing_fields(switch.columns, headers)


def require_mapping(switch: Switch) -> None:
    """Raise Refused 409 unless the files of a switch can be read: mapping_missing, currency_required."""
    parts = file_parts.list_parts(**switch.key)
    if not any(part.total for part in parts if part.collection != FIGURES):
        raise Refused(409, "mapping_missing", "There are no rows yet. Send a file first.")
    if missing := list_missing(switch, parts):
        raise Refused(409, "mapping_missing", " ".join(gap.message for gap in missing[:5]), field="columns")
    if needs_currency(switch, parts):
        raise Refused(409, "currency_required", "Choose a column of currencies, or the currency of all amounts.")


def needs_currency(switch: Switch, parts: Sequence[FilePart]) -> bool:
    """Return whether commissions have no currency."""
    collections = [part.collection for part in parts if part.total]
    return file_fields.needs_currency(switch.columns, collections, switch.options.get("currency"))


def build_context(
    switch: Switch,
    *,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    words: Mapping[str, Mapping[str, str]] | None = None,
) -> SwitchContext:
    """Return what the meaning of a switch's rows depends on, under its own columns and words or under others."""
    return replace(
        contexts.build_context(switch, ()),
        columns=switch.columns if columns is None else columns,
        words=switch.words if words is None else words,
    )


def _heading(switch: Switch, collection: str, field: str) -> str | None:
    heading = switch.columns.get(collection, {}).get(field)
    return normalize_heading(heading) if heading else None


def _has_id_links(parts: Sequence[FilePart]) -> bool:
    return any(part.form.get("has_id_links") for part in parts if part.collection == Collection.Affiliates)


def _stage_campaigns(switch: Switch, parts: Sequence[FilePart]) -> None:
    """Stage the values of the column of campaigns as campaigns, or the one campaign of files without it."""
    heading = _heading(switch, Collection.Affiliates, "campaign")
    names: dict[str, tuple[str, int]] = {}
    if heading is not None:
        values = file_parts.count_values(
            **switch.key,
            collection=Collection.Affiliates,
            heading=heading,
            max_rows=_MAX_COUNTED_ROWS,
            take=MAX_CAMPAIGNS + 1,
        )
        if len(values) > MAX_CAMPAIGNS:
            message = f"The column of campaigns has more than {MAX_CAMPAIGNS} values. Choose another one."
            raise Refused(400, "invalid_request", message, field="columns")
        # A longer value makes its row unreadable; control characters are left out as in the row.
        counts = [(one_line.clean(value.value).strip(), value.rows) for value in values]
        names = {
            name or ONLY_CAMPAIGN: (name or NO_CAMPAIGN_NAME, count)
            for name, count in counts
            if len(name) <= _MAX_CAMPAIGN_CHARACTERS
        }
    if not names:
        total = sum(part.total for part in parts if part.collection == Collection.Affiliates)
        names = {ONLY_CAMPAIGN: (ONLY_CAMPAIGN_NAME, total)}
    file_parts.stage_delete_campaigns(**switch.key, besides=list(names))
    campaigns = [SwitchCampaign(source_id, name, count, {}, None) for source_id, (name, count) in names.items()]
    switches.stage_campaigns(**switch.key, campaigns=campaigns)


def _stage_figures(switch: Switch) -> None:
    """Stage the figures that a file states; an affiliate's are stored under the id of their row, else their email."""
    rows = file_parts.list_rows(**switch.key, collection=FIGURES, take=_MAX_FIGURES)
    columns = switch.columns.get(FIGURES, {})
    stated = [read_figure(row.data, columns, switch.options.get("currency")) for row in rows]
    figures = [figure for figure in stated if figure is not None]
    ids = _find_affiliate_ids(switch, {figure.subject for figure in figures if figure.subject})
    file_parts.stage_figures(
        **switch.key,
        figures={
            (figure.name, ids.get(figure.subject, figure.subject), figure.currency): figure.value for figure in figures
        },
    )


def _find_affiliate_ids(switch: Switch, emails: set[str]) -> dict[str, str]:
    """Return the source ids of affiliates by email in lower case."""
    heading = _heading(switch, Collection.Affiliates, "email")
    if heading is None or not emails:
        return {}
    rows = file_parts.list_rows_with(
        **switch.key,
        collection=Collection.Affiliates,
        heading=heading,
        values=sorted(emails),
    )
    context, ids = build_context(switch), dict[str, str]()
    for row in rows:
        try:
            record = SOURCE.understand(SourceRow(Collection.Affiliates, row.source_id, row.data), context)
        except UnreadableRow:
            continue
        assert isinstance(record, SourceAffiliate)
        ids.setdefault((record.email or "").lower(), record.source_id)
    return ids


def _list_parameters(switch: Switch, parts: Sequence[FilePart]) -> tuple[str, ...]:
    """Return the parameter names of links: those of known exports, and the values of the column of parameters."""
    parameters = [part.form["parameter"] for part in parts if part.form.get("parameter")]
    heading = _heading(switch, Collection.Links, "parameter")
    if heading is not None:
        values = file_parts.count_values(
            **switch.key,
            collection=Collection.Links,
            heading=heading,
            max_rows=_MAX_COUNTED_ROWS,
            take=_MAX_PARAMETERS,
        )
        parameters += [value.value for value in values if 0 < len(value.value) <= _MAX_PARAMETER_CHARACTERS]
    return tuple(dict.fromkeys(parameters))[:_MAX_PARAMETERS]

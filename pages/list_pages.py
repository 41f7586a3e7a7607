"""Lists of the API on pages, by the filter and the cursor in the page's address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from flask import Response, request

from domain.refusals import Refused
from pages import api_client, forms, screens
from pages.api_client import ApiResult, View
from pages.forms import FormState
from pages.times import time_fields


@dataclass(frozen=True, slots=True)
class ListView:
    """A named filter and order of a list, with an address of its own."""

    label: str
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListPage:
    """Some rows of a list, and the cursor of older ones. `form` has the errors of the filter, if any.

    `views` are the named views of the list, each with its `label`, its `query` and whether it `is_current`.
    """

    rows: Sequence[Any]
    next_cursor: str | None
    is_narrowed: bool
    form: FormState | None = None
    views: Sequence[Mapping[str, object]] = ()

    def values(self, form: FormState | None = None) -> dict[str, Any]:
        """Return the template variables; `form` is the page's own, unless the filter has errors."""
        return {
            "rows": self.rows,
            "next_cursor": self.next_cursor,
            "is_narrowed": self.is_narrowed,
            "form": self.form or form,
            "views": self.views,
        }


@dataclass(frozen=True, slots=True)
class RowList:
    """A list of the API by pages.

    `filters` are the fields of the page's address that go to the operation, `sorts` those that only order the rows, and
    `days` those that are days in the zone of the page. `query` has additional, fixed parameters. Errors of the filter
    appear above the list, or at each field if the list `marks_fields`. `views` are offered above the list.
    """

    operation: View
    filters: Sequence[str] = ()
    sorts: Sequence[str] = ()
    query: Mapping[str, object] = field(default_factory=dict)
    days: Sequence[str] = ()
    marks_fields: bool = False
    views: Sequence[ListView] = ()

    def read(self, *, path: Mapping[str, object] | None = None) -> ListPage:
        """Return the rows by this request's address; no rows and the errors if the API refuses the filter."""
        answer = api_client.call(self.operation, path=path, query=self._query_of_page())
        if answer.refusal is not None:
            return ListPage((), None, self.is_narrowed(), self.form_from_refusal(answer), self._views())
        return self._page(answer.data)

    def require(self, *, path: Mapping[str, object] | None = None) -> ListPage:
        """Return the rows by this request's address. Raises Refused with the API's own status."""
        return self._page(api_client.require(self.operation, path=path, query=self._query_of_page()))

    def send_file(self, operation: View, back: str, **query: str) -> Response:
        """Return all rows of the filter as a file of `operation`; a refused filter redirects `back`."""
        try:
            return api_client.forward_file(operation, query={**self.filter_query(), **query})
        except Refused as refused:
            if refused.status != 400:
                raise
            return screens.redirect(back)

    def filtered_address(self, path: str) -> str:
        """Return a path with the filter of this request's address."""
        typed = self._typed_values()
        return f"{path}?{urlencode(typed)}" if typed else path

    def filter_query(self) -> dict[str, str | None]:
        """Return the filter of this request's address as the operation takes it."""
        typed = {name: read_filter(name) for name in (*self.filters, *self.sorts)}
        return typed | {name: time_fields.parse_day_start(typed[name]) for name in self.days}

    def is_narrowed(self) -> bool:
        """Return whether this request's address has a filter or a cursor."""
        return any(read_filter(name) for name in (*self.filters, "cursor"))

    def form_from_refusal(self, answer: ApiResult) -> FormState:
        """Return the filter form with its errors."""
        assert answer.refusal is not None
        fields, message = answer.refusal.fields, answer.refusal.message
        if not self.marks_fields:
            return FormState(alert=" ".join(fields.values()) or message, status=answer.status)
        errors = {name: error for name, error in fields.items() if name != "cursor"}
        alert = fields.get("cursor") or (None if errors else message)
        return FormState(forms.form_from_query().values, errors, alert, status=answer.status)

    def _page(self, data: Mapping[str, Any]) -> ListPage:
        return ListPage(data["items"], data["nextCursor"], self.is_narrowed(), views=self._views())

    def _views(self) -> list[Mapping[str, object]]:
        typed = self._typed_values()
        return [
            {"label": view.label, "query": urlencode(view.query), "is_current": typed == view.query}
            for view in self.views
        ]

    def _typed_values(self) -> dict[str, str]:
        return {name: value for name in (*self.filters, *self.sorts) if (value := read_filter(name))}

    def _query_of_page(self) -> dict[str, object]:
        return {**self.filter_query(), "cursor": read_filter("cursor"), **self.query}


def read_filter(name: str) -> str | None:
    """Return a field of the filter in this request's address; None if it is empty."""
    return request.args.get(name, "").strip() or None

"""Pages with forms: each form is declared once, and every page shows, sends, refuses and redirects in the same way.

A page is a function that renders it, with the refused form or with None. `Form` declares a form that one operation of
the API takes; `CustomForm` is for one that needs code of its own.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from flask import Blueprint, Response, g, request

from api.access.persons import PersonKind
from pages import api_client, forms, pending_forms, screens
from pages.api_client import ApiResult, View
from pages.forms import FormState

Body = Mapping[str, Any]

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NAME = re.compile(r"<(\w+)>")
_MALFORMED, _UNPROCESSABLE = 400, 422


@dataclass(frozen=True, slots=True)
class Form:
    """A form that one operation takes, at `path` below its page.

    `body` is the body for the operation, or the function that reads it from the request; the function may return the
    form with errors that the page itself found. A success redirects `to` an address, which may contain fields of the
    path and of the answer, else to the page; `done` tells the page what was done. `names` maps fields of the API to
    fields of the form where they differ, and `id` distinguishes the forms of one page. A form that `shows_all` comes
    back with every refusal, even one that no correction of the form can resolve.
    """

    path: str
    operation: View
    body: Body | Callable[[], Body | FormState] | None = None
    done: str = ""
    to: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    id: str = ""
    max_bytes: int = screens.MAX_FORM_BYTES
    shows_all: bool = False

    @property
    def uses(self) -> tuple[View, ...]:
        """The operations that it uses in addition to those of its page."""
        return (self.operation,)

    @property
    def name(self) -> str:
        """The name of its view, distinct from the names of operations."""
        return f"{self.operation.__name__}_form"

    def take(self, page: str, **path: str) -> Response | FormState:
        """Return the redirect to the next page, or the form with its errors."""
        body = self.body() if callable(self.body) else self.body
        if isinstance(body, FormState):
            return body
        return send_form(
            self.operation,
            path=path,
            body=body,
            to=f"{self.to or page}?done={self.done}" if self.done else self.to or page,
            names=self.names,
            form_id=self.id.format_map(path),
            shows_all=self.shows_all,
        )


@dataclass(frozen=True, slots=True)
class CustomForm:
    """A form at `path` below its page that `handle` takes, with the parameters of the path.

    `handle` returns the response, or the form with its errors, to be shown on the page.
    """

    path: str
    handle: Callable[..., Response | FormState]
    uses: Sequence[View] = ()
    max_bytes: int = screens.MAX_FORM_BYTES

    @property
    def name(self) -> str:
        """The name of its view, distinct from the names of operations."""
        return f"{self.handle.__name__.lstrip('_')}_form"

    def take(self, page: str, **path: str) -> Response | FormState:
        """Return the result of `handle`."""
        return self.handle(**path)


def send_form(
    operation: View,
    *,
    to: str,
    path: Mapping[str, object] = _NOTHING,
    body: Body | None = None,
    names: Mapping[str, str] = _NOTHING,
    form_id: str = "",
    shows_all: bool = False,
) -> Response | FormState:
    """Send a form to an operation; return the redirect `to` the next page, or the form with its errors.

    The arguments are as in `Form`. Raises Refused where correcting the form cannot help, unless it `shows_all`.
    """
    answer = send(operation, path=path, body=body, shows_all=shows_all)
    if answer.refusal is not None:
        return forms.form_from_refusal(answer, names, form_id)
    fields = answer.data if isinstance(answer.data, dict) else {}
    return screens.redirect(to.format_map({**fields, **path}))


def send(
    operation: View,
    *,
    path: Mapping[str, object] = _NOTHING,
    query: Mapping[str, object] | None = None,
    body: Body | None = None,
    shows_all: bool = False,
) -> ApiResult:
    """Call an operation under the form's Idempotency-Key; a body that it takes is empty by default.

    Raises Refused where correcting the form cannot help, unless it `shows_all`.
    """
    if body is None and operation.operation.takes is not None:  # type: ignore[attr-defined]  # views of the API have it
        body = {}
    call = api_client.call if shows_all else api_client.submit
    return call(operation, path=path, query=query, body=body, key=forms.idempotency_key())


def form_page(
    blueprint: Blueprint,
    kind: PersonKind,
    address: str,
    *page_forms: Form | CustomForm,
    uses: Sequence[View] = (),
    restores: bool = False,
) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Declare a page for people of one kind, with its forms.

    The decorated function renders the page: it takes the refused form, or None, and the parameters of the address.
    `uses` are the operations for rendering it; its template may check permission for these and for those of its
    forms. A page that `restores` shows the values typed before a fresh login.
    """

    def declare(show: Callable[..., Response]) -> Callable[..., Response]:
        @functools.wraps(show)
        def show_page(**path: str) -> Response:
            return show(pending_forms.restore() if restores else None, **path)

        operations = (*uses, *(operation for form in page_forms for operation in form.uses))
        view = screens.screen(kind, uses=operations)(show_page)
        blueprint.add_url_rule(address, view_func=view)
        for form in page_forms:
            taker = screens.screen(kind, uses=operations, max_bytes=form.max_bytes)(_take(kind, address, form, show))
            taker.form_of = _NAME.sub(r"{\1}", address)  # type: ignore[attr-defined]  # read for a GET of its address
            endpoint = f"{form.name} {form.path}"
            blueprint.add_url_rule(f"{address}{form.path}", endpoint=endpoint, view_func=taker, methods=["POST"])
        return view

    return declare


def _take(
    kind: PersonKind, address: str, form: Form | CustomForm, show: Callable[..., Response]
) -> Callable[..., Response]:
    """Return the view that takes a form of the page at `address`."""
    names, pattern = _NAME.findall(address), _NAME.sub(r"{\1}", address)

    def take_form(**path: str) -> Response:
        g.page_address = pattern.format_map(path)
        answer = form.take(pattern, **path)
        if isinstance(answer, Response):
            return answer
        form_to_show = replace(answer, status=_status_for(kind, answer.status))
        return show(form_to_show, **{name: path[name] for name in names})

    take_form.__name__ = form.name
    return take_form


def _status_for(kind: PersonKind, status: int) -> int:
    """Return the status of a refused form: in the portal and the console a malformed value is 422."""
    if kind == "operator" or (kind == "account" and status == _MALFORMED):
        return _UNPROCESSABLE
    return status


def read_texts(*names: str) -> Callable[[], Body]:
    """Return a function that reads these fields of the form as typed, for the body of a `Form`."""
    return lambda: {name: request.form.get(name, "") for name in names}

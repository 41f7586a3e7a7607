"""Pages with forms: each form is declared once, and every page shows, sends, refuses and leads on in the same way.

A page is a function that shows it, with the form that came back or with None. `Form` declares a form that one operation
of the API takes; `CustomForm` is for one that needs a decision of its own.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from flask import Blueprint, Response, g, request

from api.access.persons import PersonKind
from pages import calls, forms, kept, screens
from pages.calls import CallAnswer, View
from pages.forms import FormState

Body = Mapping[str, Any]

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NAME = re.compile(r"<(\w+)>")
_MALFORMED, _UNPROCESSABLE = 400, 422


@dataclass(frozen=True, slots=True)
class Form:
    """A form that one operation takes, at `path` below its page.

    `body` is what the operation is sent, or the function that reads it from the request; it may return the form with
    what the page itself found wrong. A success leads `to` an address, which may name fields of the path and of the
    answer, else to the page; `done` says there what was done. `names` are the names in the form of the API's fields
    that it calls otherwise, and `id` tells forms of one page apart. A form that `shows_all` comes back with every
    refusal, also one that nothing in it can mend.
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
        """The operations that it uses besides those of its page."""
        return (self.operation,)

    @property
    def name(self) -> str:
        """The name of its view, which no operation has."""
        return f"{self.operation.__name__}_form"

    def take(self, page: str, **path: str) -> Response | FormState:
        """Return what answers the form: the way to the next page, or the form with what is wrong."""
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
    """A form at `path` below its page that `handle` takes, with the names in the path.

    `handle` returns the answer, or the form with what is wrong, to be shown on the page.
    """

    path: str
    handle: Callable[..., Response | FormState]
    uses: Sequence[View] = ()
    max_bytes: int = screens.MAX_FORM_BYTES

    @property
    def name(self) -> str:
        """The name of its view, which no operation has."""
        return f"{self.handle.__name__.lstrip('_')}_form"

    def take(self, page: str, **path: str) -> Response | FormState:
        """Return what `handle` returns."""
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
    """Send a form to an operation; return the way `to` the next page, or the form with what was refused.

    The arguments are as in `Form`. Raises Refused where nothing in the form can be mended, unless it `shows_all`.
    """
    answer = send(operation, path=path, body=body, shows_all=shows_all)
    if answer.refusal is not None:
        return forms.form_from_refusal(answer, names, form_id)
    fields = answer.data if isinstance(answer.data, dict) else {}
    return screens.sent_on(to.format_map({**fields, **path}))


def send(
    operation: View, *, path: Mapping[str, object] = _NOTHING, body: Body | None = None, shows_all: bool = False
) -> CallAnswer:
    """Ask an operation for what a form asks for, under the key of the form; a body that it takes is empty by default.

    Raises Refused where nothing in the form can be mended, unless it `shows_all`.
    """
    if body is None and operation.operation.takes is not None:  # type: ignore[attr-defined]  # views of the API have it
        body = {}
    ask = calls.call if shows_all else calls.tried
    return ask(operation, path=path, body=body, key=forms.key())


def form_page(
    blueprint: Blueprint,
    kind: PersonKind,
    address: str,
    *page_forms: Form | CustomForm,
    uses: Sequence[View] = (),
    restores: bool = False,
) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Declare a page for people of one kind, with its forms.

    The function below it shows the page: it takes the form that came back, or None, and the names in the address.
    `uses` are the operations that show it; its template may ask about these and those of its forms. A page that
    `restores` shows what was typed before a fresh login.
    """

    def declare(show: Callable[..., Response]) -> Callable[..., Response]:
        @functools.wraps(show)
        def show_page(**path: str) -> Response:
            return show(kept.form() if restores else None, **path)

        operations = (*uses, *(operation for form in page_forms for operation in form.uses))
        view = screens.screen(kind, uses=operations)(show_page)
        blueprint.add_url_rule(address, view_func=view)
        for form in page_forms:
            taker = screens.screen(kind, uses=operations, most_bytes=form.max_bytes)(_take(kind, address, form, show))
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
    """Return the status of a form that came back: in the portal and the console what is malformed can be mended."""
    if kind == "operator" or (kind == "account" and status == _MALFORMED):
        return _UNPROCESSABLE
    return status


def read_texts(*names: str) -> Callable[[], Body]:
    """Return what reads these fields of the form as they were typed, for the body of a `Form`."""
    return lambda: {name: request.form.get(name, "") for name in names}

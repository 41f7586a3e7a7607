"""Pages with forms that `form_page` declares."""

import re

import pytest
from flask import Blueprint, Response

from api.programs.partner_groups import create_partner_group
from app import create_app
from pages import forms, session
from pages.form_pages import CustomForm, Form, form_page
from tests.support.api_description import ApiDescriptionChecker
from tests.support.operators import Operator
from tests.support.outside.visitor import Visitor
from tests.support.pages import screens

_PAGE = "/dashboard/test-of-forms/<program_id>"
_GROUP = {"name": "Gold", "commissionType": "Percentage", "commissionValue": 25}


def _read_nothing():
    return forms.form_with_errors({"name": "This field is required."})


@pytest.fixture(scope="module")
def app():
    """The application with one more page; it shows its form as text."""
    blueprint = Blueprint("test_of_forms", __name__)
    declared = (
        Form("", create_partner_group, _GROUP, to="/dashboard/{program_id}/{id}", done="made"),
        Form("/refused", create_partner_group, {**_GROUP, "name": ""}, names={"name": "title"}, id="{program_id}-"),
        Form("/empty", create_partner_group, _read_nothing),
        CustomForm("/<other>/custom", lambda program_id, other: Response(f"{program_id} {other}")),
    )

    @form_page(blueprint, "member", _PAGE, *declared)
    def show_test_of_forms(form, program_id):
        state = (form.errors, form.alert, form.id) if form else session.require_person().kind
        return Response(repr(state), status=form.status if form else 200)

    application = create_app()
    application.register_blueprint(blueprint)
    application.extensions["description"] = ApiDescriptionChecker(application)
    return application


@pytest.fixture
def owner(visitor, links):
    visitor.open(links("owner"))
    return visitor


@pytest.fixture
def page(brand):
    return f"/dashboard/test-of-forms/{brand.program()}"


def test_page_is_shown_without_a_form(owner, page):
    assert owner.open(page).text == "'member'"


def test_success_redirects_with_path_and_answer_values(owner, page, brand):
    answer = owner.send(page, {"_key": "k1"})

    ((group_id,),) = brand.rows("select id from partner_group")
    program_id = page.rpartition("/")[2]
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/dashboard/{program_id}/{group_id}?done=made"


def test_refusal_shows_the_page_with_each_error_at_its_field(owner, page):
    answer = owner.send(f"{page}/refused", {"_key": "k2", "title": ""})
    program_id = page.rpartition("/")[2]

    assert answer.status_code == 400
    assert answer.text.startswith("({'title': ")
    assert answer.text.endswith(f", None, '{program_id}-')")


def test_form_reader_can_refuse_the_form(owner, page, brand):
    answer = owner.send(f"{page}/empty", {"name": ""})

    assert (answer.status_code, answer.text) == (422, "({'name': 'This field is required.'}, None, '')")
    assert brand.rows("select count(*) from partner_group") == [(0,)]


def test_custom_form_gets_every_name_of_its_address(owner, page):
    assert owner.send(f"{page}/b/custom").text == f"{page.rpartition('/')[2]} b"


def test_braces_in_an_address_are_accepted(app, brand):
    operator = Operator(app)
    people = {}
    for kind, (account, _) in screens.KINDS.items():
        arguments = {"member": ("--org", brand.id), "account": ("--email", "ben@example.com"), "operator": ()}[kind]
        people[kind] = Visitor(app)
        people[kind].open(operator.json("sign-in", account, *arguments)["url"])
    for kind, rule in screens.list_rules(app, "POST"):
        address = re.sub(r"<(?:\w+:)?\w+>", "{x}", rule)
        if address != rule and "test-of-forms" not in rule:
            assert people[kind].send(address, {"_key": "k", "act": "offer"}).status_code < 500, rule

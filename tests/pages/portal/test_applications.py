"""Application forms of programs on the portal: the first form and the second step."""

import re

from tests.support.api.applications import apply, build_form, build_question, build_two_step_form, list_events

_PROGRAMS = "/portal/programs"


def _stored_answers(brand):
    return brand.rows("select application_data from affiliate where source = 'Public' order by created_at")


def test_affiliate_applies_by_the_programs_form(rita):
    brand = rita.payroll.brand
    questions = (
        build_question("team", required=True, label="Your <b>team</b>?"),
        build_question("place", "choice", options=["Blog", "News & more"]),
        build_question("reach", "number"),
        build_question("story", "long"),
        build_question("site", "url"),
    )
    program = brand.program(name="Autumn", application_form=build_form(*questions))
    address = f"{_PROGRAMS}/{program}/apply"
    assert f'href="{address}"' in rita.open_page(_PROGRAMS)

    page = rita.open_page(address)
    assert "Your &lt;b&gt;team&lt;/b&gt;?</label>" in page
    assert '<option value="News &amp; more">' in page
    refused = rita.send(address, **{"answers.place": "Blog", "answers.reach": "many", "answers.team": ""})
    assert refused.status_code == 422
    assert 'href="#answers.team"' in refused.text
    assert 'value="many"' in refused.text
    assert '<option value="Blog" selected>' in refused.text
    assert _stored_answers(brand) == []

    form = {"answers.team": "Tea", "answers.place": "News & more", "answers.reach": "5"}
    assert rita.send(address, **form).status_code == 303
    assert _stored_answers(brand) == [({"team": "Tea", "place": "News & more", "reach": 5},)]
    assert rita.open_page(address, 404)


def test_second_step_is_submitted_changed_and_read_only_after_approval(rita):
    brand = rita.payroll.brand
    brand.program(name="Autumn", application_form=build_two_step_form())
    apply(brand, email=rita.email, answers={"team": "Tea"})
    (address,) = re.findall(
        r'href="(/portal/applications/[^"]+)">Answer follow-up questions', rita.open_page(_PROGRAMS)
    )

    assert 'name="answers.team"' not in rita.open_page(address)
    refused = rita.send(address, **{"answers.reach": "", "answers.plan": "Tea <b>"})
    assert (refused.status_code, "Tea &lt;b&gt;</textarea>" in refused.text) == (422, True)
    assert rita.send(address, **{"answers.reach": "12.5", "answers.plan": "Tea\r\n<b>"}).status_code == 303
    assert "Edit your answers" in rita.open_page(_PROGRAMS)
    assert 'value="12.5"' in rita.open_page(address)
    assert rita.send(address, **{"answers.reach": "7"}).status_code == 303
    brand.rows("update affiliate set status = 'Approved' where source = 'Public' returning id")

    html = rita.open_page(address)
    assert '<span class="said">7</span>' in html
    assert 'name="answers.' not in html
    assert rita.send(address, **{"answers.reach": "8"}).status_code == 409
    assert _stored_answers(brand) == [({"team": "Tea", "reach": 7},)]
    completed = [
        data["applicationAnswers"] for type, data in list_events(brand) if type == "affiliate.application_completed"
    ]
    assert completed == [{"team": "Tea", "reach": 12.5, "plan": "Tea\n<b>"}, {"team": "Tea", "reach": 7}]


def test_other_affiliates_application_returns_404(rita):
    brand = rita.payroll.brand
    brand.program(application_form=build_two_step_form())
    apply(brand, email=f"eve-{rita.email}", answers={"team": "Tea"})
    ((other,),) = brand.rows("select id from affiliate where source = 'Public'")

    for affiliate_id in (other, rita.affiliate_id, "x"):
        address = f"/portal/applications/{affiliate_id}"
        assert rita.visitor.open(address).status_code == 404
        assert rita.send(address, **{"answers.reach": "1"}).status_code == 404

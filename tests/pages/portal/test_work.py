"""An affiliate's links, programs, codes, recruits and deals on the portal. Source: the pages' interface, "Portal"."""

import base64
import re
from uuid import uuid4

import pytest
import segno

from pages.times import day_words
from tests.support.job_queues import drain
from tests.support.outside.visitor import Visitor
from tests.support.rows.deal_scene import URLS, DealScene
from tests.support.rows.images import png
from tests.support.rows.program_rows import insert_conversion, time_ago

_LINKS = "/portal/links"


def _share_links(html):
    return re.findall(
        r'<label for="[^"]*">(Your link[^<]*)</label>.*?<input id="[^"]*" value="([^"]*)" readonly>', html, re.DOTALL
    )


def test_home_shows_the_share_link_of_each_program(rita):
    ((label, address),) = _share_links(rita.open_page("/portal"))
    assert (label, address.endswith("/rita")) == ("Your link", True)

    autumn = rita.payroll.brand.program(name="Autumn <i>sale</i>")
    rita.payroll.brand.affiliate("rita", program_id=autumn, email=rita.email, email_normalized=rita.email)
    shared = dict(_share_links(rita.open_page("/portal")))
    assert set(shared) == {"Your link in Autumn &lt;i&gt;sale&lt;/i&gt;, Brand", "Your link in Campaign, Brand"}


def test_daily_earnings_have_a_chart_for_each_currency(rita):
    assert 'aria-label="Commission in' not in rita.open_page("/portal")
    for currency, cents in (("EUR", 300), ("USD", 500), ("USD", 250)):
        insert_conversion(rita.payroll.brand, rita.affiliate_id, currency=currency, commission_cents=cents)
    html = rita.open_page("/portal")

    labels = re.findall(r'<svg class="chart"[^>]* aria-label="([^:]+): ', html)
    assert labels == ["Sales", "Commission in EUR", "Commission in USD"]
    for currency, amount in (("EUR", "3.00 EUR"), ("USD", "7.50 USD")):
        table = re.search(rf'<table aria-label="Commission in {currency}" role="table">(.*?)</table>', html, re.DOTALL)[
            1
        ]
        days = re.findall(r'rowheader">(\d+ \w+ \d+)</th><td class="num"[^>]*>([^<]+)</td>', table)
        assert len(days) == 30
        assert [day for day in days if day[1] != f"0.00 {currency}"] == [
            (day_words.describe_day(time_ago(days=1).date()), amount)
        ]


def test_affiliate_without_programs_sees_the_next_step(app, flask):
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "affiliate", "--email", f"{uuid4().hex}@example.com")["url"])

    home = visitor.open("/portal").text
    assert "Your link appears here as soon as a brand approves you." in home
    assert 'href="/portal/programs"' in home
    assert "No programs yet" in visitor.open("/portal/programs").text


def test_link_is_created_and_deactivated(rita):
    program_id = str(rita.payroll.brand.programs[-1])
    answer = rita.send(_LINKS, programId=program_id, customAlias="rita-tv", format="Short")
    assert (answer.status_code, answer.headers["Location"]) == (303, _LINKS)
    html = rita.open_page(_LINKS)
    assert "/rita-tv" in html

    delete_path = re.search(r'action="(/portal/links/[^"]+/delete)"', html)[1]
    assert html.count("/delete") == 1  # the default link cannot be deleted
    assert rita.send(delete_path).status_code == 303
    assert "/rita-tv" not in rita.open_page(_LINKS)
    assert rita.send(delete_path).status_code == 404


def test_double_submit_creates_one_link(rita):
    form = {"programId": str(rita.payroll.brand.programs[-1]), "_key": "one-form"}
    codes = [rita.send(_LINKS, **form).status_code for _ in range(2)]

    assert codes == [303, 303]
    assert rita.payroll.brand.rows("select count(*) from tracking_link") == [(2,)]


def test_invalid_link_name_keeps_the_form(rita):
    answer = rita.send(_LINKS, programId=str(rita.payroll.brand.programs[-1]), customAlias="No Way!")

    assert answer.status_code == 422
    assert "customAlias-error" in answer.text
    assert 'value="No Way!"' in answer.text
    assert rita.payroll.brand.rows("select count(*) from tracking_link") == [(1,)]


def test_number_as_link_is_refused_at_its_field(rita):
    answer = rita.send(_LINKS, programId=str(rita.payroll.brand.programs[-1]), customAlias="54830")

    assert (answer.status_code, 'value="54830"' in answer.text) == (422, True)
    assert "customAlias-error" in answer.text
    assert "Digits alone could be an order number" in answer.text


def test_link_has_a_qr_code_of_its_address(rita):
    ((link_id,),) = rita.payroll.brand.rows("select id from tracking_link")
    ((_, address),) = _share_links(rita.open_page("/portal"))

    answer = rita.visitor.open(f"{_LINKS}/{link_id}/qr.svg")
    assert answer.headers["Content-Type"].startswith("image/svg+xml")
    qr_path = re.search(r'stroke="#000" d="([^"]+)"', answer.text)[1]
    assert qr_path == re.search(r' d="([^"]+)"', segno.make(address, error="m", micro=False).svg_inline(scale=8))[1]
    assert rita.visitor.open(f"{_LINKS}/{uuid4()}/qr.svg").status_code == 404


def test_programs_show_commissions_and_accept_applications(rita):
    program_id = rita.payroll.brand.program(name="Autumn")
    hidden_id = rita.payroll.brand.program(name="Hidden", is_publicly_discoverable=False)

    html = rita.open_page("/portal/programs")
    assert "20 % of each payment." in html
    assert "Hidden" not in html
    assert rita.send(f"/portal/programs/{program_id}/apply").status_code == 303
    assert '<span class="chip wait">Pending</span>' in rita.open_page("/portal/programs")
    assert rita.send(f"/portal/programs/{hidden_id}/apply").status_code == 404
    assert rita.send(f"/portal/programs/{program_id}/apply").status_code == 404


def test_codes_are_listed_and_revoked(rita):
    assert "No codes yet" in rita.open_page("/portal/coupons")
    answer = rita.payroll.brand.post(
        f"/api/v1/affiliates/{rita.affiliate_id}/coupons", {"code": "TRAIL20", "external": True}
    )
    assert answer.status_code == 201

    html = rita.open_page("/portal/coupons")
    assert "<code>TRAIL20</code>" in html
    assert rita.send(re.search(r'action="(/portal/coupons/[^"]+/delete)"', html)[1]).status_code == 303
    assert '<span class="chip off">Revoked</span>' in rita.open_page("/portal/coupons")


def test_affiliate_without_mintable_coupons_sees_a_message(rita):
    assert "Your programs don't let affiliates create codes." in rita.open_page("/portal/coupons")
    answer = rita.send("/portal/coupons", campaignCouponId=str(uuid4()))
    assert (answer.status_code, 'role="alert"' in answer.text) == (404, True)


def test_recruits_are_listed_with_the_recruiting_link(rita):
    assert "No recruits yet" in rita.open_page("/portal/recruits")
    rita.payroll.brand.affiliate("eva", recruited_by_affiliate_id=rita.affiliate_id)
    rita.payroll.execute("update program set sub_affiliate_enabled = true, sub_affiliate_percent = 10")

    html = rita.open_page("/portal/recruits")
    assert '<th scope="row" role="rowheader">Eva</th>' in html
    assert "10\N{NO-BREAK SPACE}% of your recruits' commission" in html


def test_deal_is_accepted_and_its_work_submitted(app, flask):
    work = DealScene.create(app)
    deal_id = work.create_offered(50_000)
    visitor = Visitor(app)
    ((email,),) = work.brand.rows("select email from affiliate where id = %s", work.affiliate_id)
    visitor.open(flask.json("sign-in", "affiliate", "--email", email)["url"])

    assert visitor.send(f"/portal/deals/{deal_id}/accept").status_code == 303
    assert visitor.send(f"/portal/deals/{deal_id}/accept").status_code == 409
    work.act(deal_id, "fund")
    drain("payouts")
    submit_path = f"/portal/deals/{deal_id}/milestones/1/submit"
    refused = visitor.send(submit_path, {"urls": "nowhere"})
    assert (refused.status_code, ">\nnowhere</textarea>" in refused.text) == (422, True)
    assert visitor.send(submit_path, {"urls": "\n".join(URLS)}).status_code == 303
    assert work.list_statuses(deal_id) == ["Submitted"]


def test_submitted_milestone_is_disputed_by_its_affiliate(app, flask):
    work = DealScene.create(app)
    deal_id = work.create_funded()
    visitor = Visitor(app)
    ((email,),) = work.brand.rows("select email from affiliate where id = %s", work.affiliate_id)
    visitor.open(flask.json("sign-in", "affiliate", "--email", email)["url"])
    assert work.submit(deal_id).status_code == 200
    dispute_path = f"/portal/deals/{deal_id}/milestones/1/dispute"

    refused = visitor.send(dispute_path, {"reason": "They say nothing.", "proposedResolution": " "})
    assert refused.status_code in (400, 422)
    assert ">\nThey say nothing.</textarea>" in refused.text
    assert work.list_statuses(deal_id) == ["Submitted"]

    assert visitor.send(dispute_path, {"reason": "They say nothing.", "proposedResolution": "Pay."}).status_code == 303
    assert work.list_statuses(deal_id) == ["Disputed"]
    assert "Open the dispute" not in visitor.open("/portal/deals").text


def test_texts_are_copied_and_images_downloaded(rita):
    assert "No assets yet" in rita.open_page("/portal/assets")
    owner = rita.payroll.brand.person("Owner")
    picture = {"name": "Banner", "dataBase64": base64.b64encode(png(64, 64)).decode()}
    owner.post("/api/v1/assets", {"name": "Post <b>1</b>", "text": "Try </textarea><b>it"})
    asset_of_other_program = owner.post(
        "/api/v1/assets", picture | {"programId": str(rita.payroll.brand.program())}
    ).json
    asset = owner.post("/api/v1/assets", picture).json

    html = rita.open_page("/portal/assets")
    assert ">Post &lt;b&gt;1&lt;/b&gt;</h2>" in html
    assert "readonly>\nTry &lt;/textarea&gt;&lt;b&gt;it</textarea>" in html
    assert html.count(">Banner</h2>") == 1
    file_path = f"/portal/assets/{asset['id']}/file"
    assert f'href="{file_path}" download' in html
    assert rita.visitor.open(file_path).data == png(64, 64)
    rita.open_page(f"/portal/assets/{asset_of_other_program['id']}/file", status=404)
    assert "No assets match this filter." in rita.open_page(f"/portal/assets?programId={uuid4()}")
    rita.open_page("/portal/assets?cursor=x", status=400)


def test_portal_of_one_brand_uses_its_logo_and_colour(rita):
    rita.payroll.execute("update organization set primary_brand_color = '#ffee00' where id = %s", rita.payroll.brand.id)

    html = rita.open_page("/portal")
    address = re.search(r'<link rel="stylesheet" href="(/portal/theme/[^"]+)">', html)[1]
    sheet = rita.visitor.open(address)
    assert sheet.headers["Content-Type"] == "text/css; charset=utf-8"
    assert html.count('rel="stylesheet"') == 1
    assert sheet.text.startswith("@layer tokens, base, layout, parts, screens;")
    assert re.search(
        r"@layer tokens \{ :root \{ --accent: light-dark\(#[0-9a-f]{6}, #ffee00\);"
        r" --on-accent: light-dark\(#(000000|ffffff), #000000\) \} \}\n$",
        sheet.text,
    )
    assert rita.visitor.open(f"/portal/theme/{uuid4()}.css").status_code == 404


def test_portal_of_two_brands_is_unbranded(rita, rival):
    rita.payroll.execute("update organization set primary_brand_color = '#ffee00' where id = %s", rita.payroll.brand.id)
    rival.program()
    rival.affiliate("rita", email=rita.email, email_normalized=rita.email)

    assert "/portal/theme/" not in rita.open_page("/portal")


@pytest.mark.parametrize("path", ["assets", "recruits", "deals", "coupons"])
def test_empty_screen_shows_a_message(rita, path):
    assert 'class="empty"' in rita.open_page(f"/portal/{path}")

"""One conversion on the dashboard: when it is payable, why it is credited, and decisions on it.

Source: the pages' interface, "Conversion".
"""

import html
import re

import pytest

from pages.template_filters import state_colour
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.recruits import Recruits
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_conversion

_HERE = "/dashboard/conversions"
_STEPS = [
    "Coupon that overrides",
    "Carried referral",
    "Customer's history",
    "Coupon",
    "Email match",
    "Platform look-up",
]


@pytest.fixture
def campaign(brand):
    """The brand with one campaign at 20 % and the affiliate Ada."""
    brand.program(name="Spring")
    brand.affiliate("ada", full_name="Ada Ek")
    return brand


@pytest.fixture
def sale_id(campaign, drain):
    """The id of a signed sale of Ada's."""
    conversion_id = campaign.sale(affiliateSlug="ada", externalEventId="order-1", customerName="Cleo <C>").json[
        "conversionId"
    ]
    drain()
    return conversion_id


def _steps(html_text):
    steps = re.search(r'<ol class="why"[^>]*aria-labelledby="why">(.*?)</ol>', html_text, re.DOTALL)[1]
    return re.findall(r"<li[^>]*><b>(.*?)</b>(.*?)</li>", steps, re.DOTALL)


def _status(brand, conversion_id):
    return brand.rows("select status from conversion where id = %s", conversion_id)[0][0]


def test_conversion_shows_its_status_and_payable_date(campaign, sale_id, people):
    html = people("Viewer").open(f"{_HERE}/{sale_id}").text
    (hold_until,) = campaign.rows("select hold_until from conversion where id = %s", sale_id)[0]

    assert '<span class="chip wait">Pending</span>' in html
    assert re.search(rf'payable <time datetime="{hold_until:%Y-%m-%dT%H:%M:%S}Z">', html)
    assert "100.00 USD" in html
    assert "20.00 USD" in html
    assert "20\N{NO-BREAK SPACE}%" in html
    assert "program rate" in html
    assert "Cleo &lt;C&gt;" in html


def test_attribution_shows_six_steps_with_the_decisive_one(sale_id, people):
    steps = _steps(people().open(f"{_HERE}/{sale_id}").text)

    assert [name for name, _ in steps] == _STEPS
    assert [name for name, detail in steps if ">decided<" in detail] == ["Carried referral"]
    assert [name for name, detail in steps if ">skipped<" in detail] == _STEPS[2:]


def test_recruiting_share_names_recruiter_recruit_and_order(brand, people, drain):
    brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
    rita = brand.affiliate("rita", full_name="Rita Rec")
    brand.affiliate("ben", full_name="Ben Blog", recruited_by_affiliate_id=rita)
    brand.sale(affiliateSlug="ben", externalEventId="order-7")
    drain()
    ((share,),) = brand.rows("select id from conversion where parent_id is not null")
    html = people("Viewer").open(f"{_HERE}/{share}").text

    assert "<h1>Recruiter's share of order-7</h1>" in html
    assert "Rita Rec recruited Ben Blog, who was credited with this sale." in html
    assert ">Sale order-7</a>" in html
    assert ":override:" not in html
    assert ":override:" not in people("Viewer").open(_HERE).text


def test_conversion_without_a_payment_shows_its_source(campaign, people):
    (program,), (affiliate,) = campaign.rows("select id from program")[0], campaign.rows("select id from affiliate")[0]
    body = {"programId": str(program), "affiliateId": str(affiliate), "kind": "bonus", "commissionCents": 500}
    conversion_id = campaign.post("/api/v1/conversions", body).json["conversion"]["id"]
    html = people().open(f"{_HERE}/{conversion_id}").text

    assert "Recorded by hand with an API key" in html
    assert [name for name, _ in _steps(html)] == _STEPS
    assert not any(">decided<" in detail for _, detail in _steps(html))
    assert "<h1>Bonus" in html


def test_refunds_are_in_the_history(campaign, sale_id, people, drain):
    campaign.refund("order-1", 4_000)
    drain()
    html = people().open(f"{_HERE}/{sale_id}").text

    assert '<table aria-label="History" role="table">' in html
    assert "refund" in html
    assert "40.00 USD" in html
    assert "12.00 USD" in html


def test_conversion_names_its_payout(app, flask, visitor):
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    sale_id = payroll.sell("ann")
    payroll.execute("update conversion set hold_until = now() where id = %s", sale_id)
    payroll.run()
    visitor.open(flask.json("sign-in", "owner", "--org", payroll.brand.id)["url"])
    ((payout,),) = payroll.payouts("id")

    html = visitor.open(f"{_HERE}/{sale_id}").text
    assert f'<a href="/dashboard/payouts/{payout}">20.00 USD</a>' in html


@pytest.mark.parametrize(
    ("action", "status"), [("approve", "Approved"), ("invalidate", "Invalidated"), ("deny", "Denied")]
)
def test_manager_decides_with_a_reason(campaign, sale_id, people, action, status):
    visitor = people("Manager")
    answer = visitor.send(f"{_HERE}/{sale_id}", {"_key": "k", "action": action, "reason": "Asked <them>"})

    assert (answer.status_code, answer.headers["Location"]) == (303, f"{_HERE}/{sale_id}")
    assert f'<span class="chip {state_colour(status)}">{status}</span>' in visitor.open(f"{_HERE}/{sale_id}").text
    ((after,),) = campaign.rows("select after from audit_entry where entity_id = %s", sale_id)
    assert (after["status"], after["reason"]) == (status, "Asked <them>")


def test_invalidated_conversion_is_validated_again(campaign, sale_id, people):
    visitor = people()
    for action, status in (("invalidate", "Invalidated"), ("validate", "Pending")):
        assert visitor.send(f"{_HERE}/{sale_id}", {"_key": action, "action": action}).status_code == 303
        assert _status(campaign, sale_id) == status


def test_double_click_decides_once(campaign, sale_id, people):
    visitor = people()
    for _ in range(2):
        assert visitor.send(f"{_HERE}/{sale_id}", {"_key": "same", "action": "approve"}).status_code == 303
    assert campaign.rows("select count(*) from audit_entry where action = 'conversion.approved'") == [(1,)]


def test_decision_on_a_decided_conversion_is_refused(campaign, sale_id, people):
    visitor = people()
    visitor.send(f"{_HERE}/{sale_id}", {"_key": "a", "action": "deny"})
    answer = visitor.send(f"{_HERE}/{sale_id}", {"_key": "b", "action": "approve", "reason": "late"})

    assert answer.status_code == 409
    assert 'role="alert"' in answer.text
    assert "cannot be approve" in answer.text
    assert _status(campaign, sale_id) == "Denied"


@pytest.mark.parametrize("form", [{}, {"action": "pay"}, {"action": ""}])
def test_form_without_an_action_shows_an_error(campaign, sale_id, people, form):
    answer = people().send(f"{_HERE}/{sale_id}", {"_key": "k", "reason": "kept"} | form)

    assert answer.status_code == 422
    assert "kept</textarea>" in answer.text
    assert _status(campaign, sale_id) == "Pending"


def test_too_long_reason_shows_an_error_at_its_field(campaign, sale_id, people):
    answer = people().send(f"{_HERE}/{sale_id}", {"_key": "k", "action": "deny", "reason": "x" * 1_001})

    assert answer.status_code == 400
    assert re.search(r'<textarea id="reason"[^>]* aria-invalid="true"', answer.text)


def test_viewer_decides_nothing(campaign, sale_id, people):
    visitor = people("Viewer")

    assert f'action="{_HERE}/{sale_id}"' not in visitor.open(f"{_HERE}/{sale_id}").text
    assert visitor.send(f"{_HERE}/{sale_id}", {"_key": "k", "action": "deny"}).status_code == 403
    assert _status(campaign, sale_id) == "Pending"


def test_final_status_offers_no_decisions(campaign, people):
    conversion_id = insert_conversion(campaign, campaign.rows("select id from affiliate")[0][0], status="Denied")

    html = people().open(f"{_HERE}/{conversion_id}").text
    assert f'action="{_HERE}/{conversion_id}"' not in html
    assert "payable <time" not in html


@pytest.mark.parametrize("unknown", ["x", "01890000-0000-7000-8000-000000000000"])
def test_unknown_conversion_returns_404(campaign, people, unknown):
    visitor = people()
    assert visitor.open(f"{_HERE}/{unknown}").status_code == 404
    assert visitor.send(f"{_HERE}/{unknown}", {"_key": "k", "action": "deny"}).status_code == 404


def _forms(html_text):
    return re.findall(r'<form [^>]*aria-label="(.*?)"', html_text.partition("<main")[2])


def test_manager_refunds_a_part_with_reason_and_note(campaign, sale_id, people):
    visitor = people("Manager")
    form = {"_key": "k", "action": "refund", "amount": "40.00", "reason": "chargeback", "note": "Bank <7>"}
    answer = visitor.send(f"{_HERE}/{sale_id}", form)

    assert (answer.status_code, answer.headers["Location"]) == (303, f"{_HERE}/{sale_id}")
    html = visitor.open(f"{_HERE}/{sale_id}").text
    assert "Chargeback: Bank &lt;7&gt;" in html
    assert "refund the remaining 60.00 USD" in html
    assert _forms(html) == ["Refund", "Change the commission"]


def test_empty_amount_refunds_the_remainder_and_a_double_click_refunds_once(campaign, sale_id, people):
    visitor = people("Manager")
    for _ in range(2):
        form = {"_key": "same", "action": "refund", "amount": " ", "reason": "refunded"}
        assert visitor.send(f"{_HERE}/{sale_id}", form).status_code == 303
    assert campaign.rows("select count(*), max(amount_cents) from refund") == [(1, 10_000)]
    assert _status(campaign, sale_id) == "Refunded"


def test_admin_undoes_a_refund_once(campaign, sale_id, people):
    visitor = people("Admin")
    visitor.send(f"{_HERE}/{sale_id}", {"_key": "a", "action": "refund", "reason": "mistake"})
    assert "Undo the refund" in _forms(visitor.open(f"{_HERE}/{sale_id}").text)

    assert visitor.send(f"{_HERE}/{sale_id}", {"_key": "b", "action": "restore"}).status_code == 303
    html = visitor.open(f"{_HERE}/{sale_id}").text
    assert "Refund reversed" in html
    assert "Undo the refund" not in _forms(html)
    answer = visitor.send(f"{_HERE}/{sale_id}", {"_key": "c", "action": "restore"})
    assert (answer.status_code, 'role="alert"' in answer.text) == (409, True)


def test_manager_changes_the_commission(campaign, sale_id, people):
    visitor = people("Manager")
    form = {"_key": "k", "action": "adjust", "commission": "12.34", "reason": "other", "note": "Agreed"}
    assert visitor.send(f"{_HERE}/{sale_id}", form).status_code == 303

    html = visitor.open(f"{_HERE}/{sale_id}").text
    assert "12.34 USD" in html
    assert "Other: Agreed" in html
    assert "commission changed manually" in html
    assert "program rate" not in html


@pytest.mark.parametrize(
    ("status", "field", "form"),
    [
        (400, "refund-reason", {"action": "refund", "amount": "40", "reason": ""}),
        (400, "refund-amount", {"action": "refund", "amount": "forty", "reason": "other"}),
        (400, "refund-note", {"action": "refund", "amount": "1", "reason": "other", "note": "x" * 1_001}),
        (400, "adjust-commission", {"action": "adjust", "commission": "", "reason": "other"}),
        (400, "adjust-commission", {"action": "adjust", "commission": "-1", "reason": "other"}),
        (422, "adjust-commission", {"action": "adjust", "commission": "500.01", "reason": "other"}),
    ],
)
def test_mistake_in_a_correction_is_shown_at_its_field(sale_id, people, status, field, form):
    answer = people("Manager").send(f"{_HERE}/{sale_id}", {"_key": "k"} | form)

    assert answer.status_code == status
    assert re.search(rf'id="{field}"[^>]* aria-invalid="true"', answer.text)


def test_refund_above_the_sale_shows_an_alert_and_keeps_the_amount(campaign, sale_id, people):
    form = {"_key": "k", "action": "refund", "amount": "100.01", "reason": "other"}
    answer = people("Manager").send(f"{_HERE}/{sale_id}", form)

    assert (answer.status_code, 'role="alert"' in answer.text, 'value="100.01"' in answer.text) == (422, True, True)


def test_corrections_need_manager_and_undo_needs_admin(campaign, sale_id, people):
    people("Manager").send(f"{_HERE}/{sale_id}", {"_key": "a", "action": "refund", "reason": "other", "amount": "1"})
    manager = people("Manager")
    assert _forms(manager.open(f"{_HERE}/{sale_id}").text) == ["Refund", "Change the commission"]
    assert manager.send(f"{_HERE}/{sale_id}", {"_key": "b", "action": "restore"}).status_code == 403
    viewer = people("Viewer")
    assert _forms(viewer.open(f"{_HERE}/{sale_id}").text) == []
    for action in ("refund", "restore", "adjust"):
        answer = viewer.send(f"{_HERE}/{sale_id}", {"_key": action, "action": action, "reason": "other"})
        assert answer.status_code == 403, action


def test_bonus_has_no_refund_amount_field(campaign, people):
    (program,), (affiliate,) = campaign.rows("select id from program")[0], campaign.rows("select id from affiliate")[0]
    body = {"programId": str(program), "affiliateId": str(affiliate), "kind": "bonus", "commissionCents": 500}
    bonus = campaign.post("/api/v1/conversions", body).json["conversion"]["id"]
    html = people("Manager").open(f"{_HERE}/{bonus}").text

    assert "only be refunded in full" in html
    assert 'id="refund-amount"' not in html


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("earn", ["You can change how self-referrals are handled in Settings."]),
        ("hold", ["It won't be paid until a Manager approves it.", "needs approval"]),
        ("deny", ["It was denied and earns no commission."]),
    ],
)
def test_self_referral_shows_its_outcome(campaign, drain, people, policy, words):
    campaign.set(selfReferrals=policy)
    self_referral = campaign.sale(affiliateSlug="ada", customerEmail="ada@example.com").json["conversionId"]
    other = campaign.sale(affiliateSlug="ada", customerEmail="cleo@example.com").json["conversionId"]
    drain()

    visitor = people("Manager")
    text = html.unescape(visitor.open(f"{_HERE}/{self_referral}").text)

    assert "Self-referral: the buyer's email address is the affiliate's own." in text
    assert [word for word in words if word not in text] == []
    assert "Self-referral" not in visitor.open(f"{_HERE}/{other}").text
    assert visitor.open(_HERE).text.count("Self-referral") == 1
    if policy == "hold":
        assert "needs approval" in visitor.open(_HERE).text
        visitor.send(f"{_HERE}/{self_referral}", {"action": "approve"})
        assert "payable with the next run" in visitor.open(f"{_HERE}/{self_referral}").text


def test_share_in_a_held_self_referral_shows_the_reason(brand, drain, people):
    brand.set(selfReferrals="hold")
    recruits = Recruits.create(brand)
    recruits.sell(customerEmail="ben@example.com")
    drain()

    ((share,),) = recruits.overrides("id")

    assert "The sale behind this share is a self-referral." in people("Manager").open(f"{_HERE}/{share}").text


def test_locked_history_is_marked_in_list_and_page(campaign, people):
    import_sales(campaign, build_past_sale(affiliateSlug="ada"))
    ((conversion_id,),) = campaign.rows("select id from conversion")

    visitor = people("Viewer")

    assert "history, not paid out" in visitor.open(_HERE).text
    assert "history, not paid out" in visitor.open(f"{_HERE}/{conversion_id}").text

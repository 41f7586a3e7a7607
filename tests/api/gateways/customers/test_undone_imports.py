"""An undone import leaves no trace of its customers' ids and emails."""

from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.job_queues import drain


def test_undone_import_leaves_no_customer_emails(brand):
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    brand.affiliate("ben")
    rows = [
        build_past_sale(processorCustomerId="cus_1", customerEmail=email, externalId=email)
        for email in ("old@example.com", "new@example.com")
    ]
    job = import_sales(brand, *rows).json["jobId"]
    assert brand.person("Admin").post(f"/api/imports/{job}/undo").status_code == 200
    assert brand.rows("select customer_key from program_customer") == []

    for event, customer in [("1", {"customerId": "cus_2"}), ("2", {})]:
        response = brand.sale(affiliateSlug="ben", externalEventId=event, customerEmail="old@example.com", **customer)
        assert response.status_code == 200
    drain()

    assert brand.rows("select customer_key, payments from program_customer where joined_to is null") == [
        ("id:cus_2", 2)
    ]

"""The mail fleet is killed between an event and its notification, and between the notification and its email."""

from uuid import UUID

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop


def _announce_next_sale(machine: Machine, shop: Shop) -> None:
    machine.execute("update organization set first_sale_at = null where id = %s", shop.id)


def _count_results(machine: Machine, organization_id: UUID) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the notifications by kind, and the emails by recipient."""
    notifications = "select kind, sum(event_count)::int from notification where organization_id = %s group by 1"
    emails = (
        "select recipient, count(*)::int from mail_message where organization_id = %s and kind like 'notification.%%'"
        " group by 1"
    )
    return machine.rows(notifications, organization_id), machine.rows(emails, organization_id)


def test_kill_9_between_the_sale_and_its_notification_notifies_once(machine: Machine, shop: Shop) -> None:
    # given: the job has recorded the first sale and waits with its transaction open
    _announce_next_sale(machine, shop)
    machine.start("mail")
    with machine.hold_locks("lock table notification_counter in exclusive mode"):
        shop.sell()
        machine.wait_for_table_lock("notification_counter")

        # when
        machine.kill("mail")

    # then
    machine.start("mail")
    outcome.check(machine, shop)
    assert _count_results(machine, shop.id) == ([("first_sale", 1)], [("owner@example.com", 1)])


def test_kill_9_between_the_notification_and_its_email_emails_once(machine: Machine, shop: Shop) -> None:
    # given: the job has marked its notification and waits with its email staged
    _announce_next_sale(machine, shop)
    machine.start("mail")
    with machine.hold_locks("lock table mail_message in exclusive mode"):
        shop.sell()
        machine.wait_for_table_lock("mail_message")

        # when
        machine.kill("mail")

    # then
    machine.start("mail")
    outcome.check(machine, shop)
    assert _count_results(machine, shop.id) == ([("first_sale", 1)], [("owner@example.com", 1)])


def test_event_that_two_fleets_get_three_times_counts_once(machine: Machine, shop: Shop) -> None:
    # given
    machine.lengthen_leases()
    triple_delivery = ["tests.support.installation.triple_delivery"]
    machine.start("mail", "mail-2", modules=triple_delivery)
    _announce_next_sale(machine, shop)

    # when
    shop.sell()
    outcome.check(machine, shop)

    # then
    assert _count_results(machine, shop.id) == ([("first_sale", 1)], [("owner@example.com", 1)])

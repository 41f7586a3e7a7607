"""The check at the end of every fault test: everything that the service accepted has happened, exactly once."""

from collections import defaultdict

from tests.support.installation import invariants
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop


def check(machine: Machine, shop: Shop) -> None:
    """Wait until no work is left, then compare the database and the broker with the client and the receiver."""
    machine.wait_until_settled()
    assert [name for name, process in machine.processes.items() if process.has_ended] == []
    assert invariants.list_violations(machine.rows, organization_id=shop.id) == []
    assert _list_dramatiq_dead_letters(machine) == []
    assert 500 not in shop.statuses
    _check_accepted_requests(machine, shop)
    _check_receiver(machine, shop)


def _check_accepted_requests(machine: Machine, shop: Shop) -> None:
    """Assert that the database has exactly the sales and refunds that the client received a response for."""
    sales = machine.rows(
        "select external_event_id, id::text, refunded_cents from conversion"
        " where organization_id = %s and parent_id is null",
        shop.id,
    )
    assert sorted(event_id for event_id, _, _ in sales) == sorted(shop.sold)
    answers = {event_id: conversion_id for event_id, conversion_id in shop.sold.items() if conversion_id}
    assert answers == {event_id: conversion_id for event_id, conversion_id, _ in sales if event_id in answers}
    assert {event_id: cents for event_id, _, cents in sales if cents} == dict(shop.refunded_cents)


def _check_receiver(machine: Machine, shop: Shop) -> None:
    """Assert that each endpoint received every event, and each repetition with the same delivery id and bytes."""
    received_versions: defaultdict[tuple[str, str], set[tuple[str, bytes]]] = defaultdict(set)
    for received in list(shop.receiver.received):
        key = (received.path, received.event["id"])
        received_versions[key].add((received.headers["x-service-delivery-id"], received.body))
    assert [key for key, versions in received_versions.items() if len(versions) > 1] == []
    deliveries = machine.rows(
        "select regexp_replace(w.url, '^https://[^/]*', ''), 'evt_' || replace(d.event_id::text, '-', ''), d.id::text,"
        " d.status from delivery d join webhook_endpoint w on w.id = d.endpoint_id where d.organization_id = %s",
        shop.id,
    )
    assert {status for _, _, _, status in deliveries} <= {"Delivered"}
    arrived = {(path, event_id, delivery_id) for (path, event_id), ((delivery_id, _),) in received_versions.items()}
    assert {(path, event_id, delivery_id) for path, event_id, delivery_id, _ in deliveries} == arrived


def _list_dramatiq_dead_letters(machine: Machine) -> list[bytes]:
    return list(machine.valkey().scan_iter("finderfee:*.XQ*"))

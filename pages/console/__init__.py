"""The console: the screens of the operator. One module per screen.

status        open work, health, and the queues; pause and resume
dead_letters  failed jobs: view, replay and discard, one or all of a filter
schedule      scheduled jobs
ledger        the checks of the ledger
payouts       runs to review, payouts in doubt, events of payment providers
rates         the age of exchange rates; a file, the feed
mail          emails, and the text of one
tenants       organizations and their settings
programs      suspended and resumed
network       programs to list in the creator network
disputes      disputes about milestones of deals
connections   gateways and platforms with problems
style         every part of a page, to look at
"""

from pages.console import (
    connections,
    dead_letters,
    disputes,
    ledger,
    mail,
    network,
    payouts,
    programs,
    rates,
    schedule,
    status,
    style,
    tenants,
)

BLUEPRINTS = (
    status.blueprint,
    dead_letters.blueprint,
    schedule.blueprint,
    ledger.blueprint,
    payouts.blueprint,
    rates.blueprint,
    mail.blueprint,
    tenants.blueprint,
    programs.blueprint,
    network.blueprint,
    disputes.blueprint,
    connections.blueprint,
    style.blueprint,
)

"""The console: what the operator sees. One module per screen.

now          what waits, health, and the queues; pause and resume
dead         dead letters: look, replay, discard, replay of a filter
schedule     what is done by the clock
ledger       whether the money adds up
payouts      runs to review, payouts in doubt, words of rails
rates        how old the rates are; a file, the feed
mail         letters, and the text of one
tenants      organizations and their settings
programs     suspended and resumed
network      programs that are to be listed in the creator network
disputes     about milestones of deals; settled
connections  gateways and platforms in trouble
style        every part of a page, for people to look at
"""

from pages.console import (
    connections,
    dead,
    disputes,
    ledger,
    mail,
    network,
    now,
    payouts,
    programs,
    rates,
    schedule,
    style,
    tenants,
)

BLUEPRINTS = (
    now.blueprint,
    dead.blueprint,
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

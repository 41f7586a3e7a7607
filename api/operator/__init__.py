"""The operators' interface to the installation and to every organization.

operator_guards  the guards of these routes
attention        counts of everything that waits for an operator
queues           workers and backlog of queues; pause and resume
dead_letters     failed jobs: read, replay, discard
schedule         scheduled tasks, and late ones
ledger           the checks of the ledger
payouts          runs to review, payouts with an unknown outcome, events of rails
rates            the age of exchange rates; load a file, request the feed
mail             emails: sent, stored and failed
tenants          organizations, and the settings that only operators change
programs         suspend and resume; review for the creator network
disputes         disputes about milestones of deals: hear both sides, settle
connections      gateways and platforms with problems

Changes are written to the audit log, with the operator and the reason. The commands (`flask jobs`, `flask payout`, …)
use the same pipelines.
"""

from api.operator import (
    attention,
    connections,
    dead_letters,
    disputes,
    ledger,
    mail,
    payouts,
    programs,
    queues,
    rates,
    schedule,
    tenants,
)

BLUEPRINTS = (
    attention.blueprint,
    queues.blueprint,
    dead_letters.blueprint,
    schedule.blueprint,
    ledger.blueprint,
    payouts.blueprint,
    rates.blueprint,
    mail.blueprint,
    tenants.blueprint,
    *programs.BLUEPRINTS,
    disputes.blueprint,
    connections.blueprint,
)

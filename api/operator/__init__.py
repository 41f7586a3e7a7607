"""What operators see and do, of the installation and of every organization.

guarding      who may call what is here
attention     how much of everything waits for an operator
queues        who works on what; pause and resume
dead_letters  jobs that gave up: look, replay, discard
schedule      what is done by the clock, and what is late
ledger        whether the money adds up
payouts       runs to review, payouts that nobody knows the end of, words of rails
rates         how old the rates are; load a file, ask the feed
mail          letters: sent, kept and failed
tenants       organizations, and the settings that are the operator's alone
programs      suspended and resumed; reviewed for the creator network
disputes      about milestones of deals: hear both sides, settle
connections   gateways and platforms in trouble

What is changed is written into the audit log, with who and why. The commands (`flask jobs`, `flask payout`, …) do the
same things by the same pipelines.
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

"""Paying affiliates.

payouts       the list, one of them, and the funding
runs          what a run would pay, and the run
made_runs     runs that were made, and where their payouts stand
decisions     retry, void, paid by hand
drafts        what a cadence has proposed to an Owner
mass_pay      a run as a CSV file for a payment by hand
account       where the affiliate who signed in is paid
rail_events   what rails tell of their payments

A run that waits for a review is approved or rejected by the operator: `api.operator.payouts`, `flask payout review`.
"""

from api.payouts import account, decisions, drafts, mass_pay, payouts, rail_events, run_history, runs

BLUEPRINTS = (
    payouts.blueprint,
    runs.blueprint,
    run_history.blueprint,
    decisions.blueprint,
    drafts.blueprint,
    mass_pay.blueprint,
    account.blueprint,
    rail_events.blueprint,
)

"""Payouts to affiliates.

payouts       the list of payouts, one payout, and the funding
export        the list as a CSV file
runs          the preview of a run, and the run
run_history   past runs with the status of their payouts
decisions     retry, void, mark as paid
drafts        the runs that automatic payouts propose to an Owner
mass_pay      a run as a CSV file for payments by hand
account       the signed-in affiliate's payout account
rail_events   events from payout rails about their payments

A run that waits for a review is approved or rejected by the operator: `api.operator.payouts`, `flask payout review`.
"""

from api.payouts import account, decisions, drafts, export, mass_pay, payouts, rail_events, run_history, runs

BLUEPRINTS = (
    payouts.blueprint,
    export.blueprint,
    runs.blueprint,
    run_history.blueprint,
    decisions.blueprint,
    drafts.blueprint,
    mass_pay.blueprint,
    account.blueprint,
    rail_events.blueprint,
)

"""Paying affiliates from the dashboard.

listing      runs, payouts, drafts of the payout schedule, and whether the brand may pay
states       the state of a payout in words, and the decisions that it allows
run_preview  the amounts that a run would pay now, and the figures that a person confirmed
new_run      the preview, and the confirmation by typing the total
run          the live progress of a run
payout       one payout: its lines, and an Owner's decisions
"""

from pages.brand.payouts import listing, new_run, payout, run

BLUEPRINTS = (listing.blueprint, new_run.blueprint, run.blueprint, payout.blueprint)

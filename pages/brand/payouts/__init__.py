"""Paying affiliates from the dashboard.

desk       runs, payouts, what a cadence prepared, and whether the brand may pay
states     what a payout's state is called, what is said of it, and what it allows
planned    what a run would pay now, made ready to be looked at, and what somebody confirmed of it
new_run    the preview, and the confirmation by typing the total
run        a run as it goes on, live
payout     one payout: its lines, and what an Owner decides about it
"""

from pages.brand.payouts import desk, new_run, payout, run

BLUEPRINTS = (desk.blueprint, new_run.blueprint, run.blueprint, payout.blueprint)

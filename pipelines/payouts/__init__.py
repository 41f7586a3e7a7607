"""Pays affiliates, step by step.

Before a run: `choose_account` sets where an affiliate is paid, `run_filters` checks the filters of a run, `run_plan`
plans the payouts, `funding` decides whether the brand may pay.

1. `run`: claims what is due and creates payouts, each Pending. Or `propose`: on the day of a cadence it proposes a run
   and emails the Owners; where an Owner allowed that, it creates the run.
2. `decisions`: an operator reviews a run that waits for it.
3. `transfer`: calls the rail of the payout's method (`rails`, `sandbox_rail`). Processing, then Paid or Failed. Or
   `export`: lists payouts that the brand pays by hand; no rail is called for those.
4. `take_event`: an event that a rail sends settles the payout as the rail's answer would.
5. `decisions`: an Owner retries a Failed payout, voids it, or marks it as paid by hand.
6. `take_back`: a refund, at any time. A payout that was not sent pays less; one that was sent is marked, and the amount
   is held back next time.

Lock order: the organization's payout run lock (a run holds it exclusively; refunds, reviews, lists and decisions share
it), its decision lock, a sale that a refund settles, conversions by id, the run (when it is reviewed), payouts. A line
changes only under its conversion's lock, before its payout or after. A rail's answer takes no advisory lock. A ban
arrives with its affiliate locked, to whom a run only refers.
Jobs: `payout.transfer` one per payout; `payout.prepare` one per organization whose cadence is due.
"""

"""Paying affiliates, act by act.

Before a run: `choose_account` says where somebody is paid, `narrowing` checks what a run is narrowed to, `due` plans
what there is, `funding` says whether the brand may pay.

1. `run`: claims what is due and makes payouts of it, each Pending. Or `propose`, which a cadence begins: it proposes a
   run, and has `run` make it where an Owner allowed that (`letters` tells the Owners).
2. `decisions`: an operator reviews a run that waits for it.
3. `transfer`: asks the rail of the payout's method (`rails`, `sandbox_rail`). Processing, then Paid or Failed. Or
   `export`: lists payouts that the brand pays by hand, and no rail is asked for those.
4. `take_event`: what a rail tells by itself settles the payout as its answer would.
5. `decisions`: an Owner retries a Failed payout, voids it, or says that it was paid by hand.
6. `take_back`: a refund, at any time. What was not sent pays less; what was sent is marked, and held back next time.

Lock order: the organization's payout run lock (a run holds it alone; refunds, reviews, lists and decisions share it),
its decision lock, a sale that a refund settles, conversions by id, the run (when it is reviewed), payouts. A line
changes only under its conversion's lock, before its payout or after. A rail's answer takes no advisory lock. A ban
comes with its affiliate locked, whom a run only refers to.
Jobs: `payout.transfer` one per payout; `payout.prepare` one per organization whose cadence has come round.
"""

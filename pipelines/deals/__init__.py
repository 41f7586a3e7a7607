"""Creator deals: a fixed fee in milestones, held in escrow, act by act.

1. `offer`: a brand drafts a deal, offers it, withdraws it; its affiliate accepts or declines.
2. `fund`: an Owner has the whole deal charged; `ask` asks the source (`sources`, `sandbox_funding`), never twice.
3. `submit`: the affiliate submits a milestone; the brand approves it, or requests changes.
4. `release`: what was approved, or lay for seven days, becomes a payout on the affiliate's rail. When that is Paid,
   `pipelines.payouts.transfer` takes it out of the escrow.
5. `dispute`: either side freezes a milestone; an operator settles it: a part is paid, the rest goes back by `ask`.

Lock order: the organization's payout locks where a payout is let go of, the deal, what its source was asked, payouts.
Jobs: `deal.ask` one per charge or refund; `deals.release` a tick, and `deal.release` one per milestone that is due.
"""

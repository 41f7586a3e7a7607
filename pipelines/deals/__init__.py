"""Creator deals: a fixed fee in milestones, held in escrow, step by step.

1. `offer`: a brand drafts a deal, offers it, withdraws it; its affiliate accepts or declines.
2. `charge`: an Owner charges the whole deal; `funding_calls` calls the source (`sources`), never twice.
3. `submission`: the affiliate submits a milestone; the brand approves it, or requests changes.
4. `release`: a milestone that was approved, or not reviewed for seven days, becomes a payout on the affiliate's rail.
   When that is Paid, `pipelines.payouts.transfer` takes the amount out of the escrow.
5. `dispute`: either side freezes a milestone; an operator settles it: a part is paid, the rest refunded by
   `funding_calls`.

Lock order: the organization's payout locks if a payout is voided, the deal, its funding requests, payouts.
Jobs: `deal.ask` one per charge or refund; `deals.release` a tick, and `deal.release` one per milestone that is due.
"""

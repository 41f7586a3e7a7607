"""Views and decisions of operators, for the installation and for every organization.

attention        counts of everything that waits for an operator
job_queues       queues and dead letters
discards         discarding of dead letters, and the losses that it leaves
payout_reviews   runs to review, payouts without a final answer
restore_release  payouts released after a restore
deal_disputes    disputes about milestones of deals
"""

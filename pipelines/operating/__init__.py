"""What operators look at and decide, of the installation and of every organization.

attention    how much of everything waits for an operator
queue_desk   queues and dead letters
discarding   what a discard of dead letters leaves undone, and the discard
payout_desk  runs to review, payouts whose rail never says
restored     payouts on their way again after a restore
deal_desk    disputes about milestones of deals
"""

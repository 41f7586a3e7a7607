"""Creator deals with their milestones, funding requests and payouts."""

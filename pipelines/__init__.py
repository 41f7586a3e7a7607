"""The steps of each use case: plain functions inside the caller's transaction, a folder for each subject.

The modules at the root serve all subjects:

work           stages jobs; the exceptions by which a job ends early
earnings       writes a new conversion with its history, ledger entry and event
mail           emails: stage, send, record
credentials    credentials of connected services: validate, seal, unseal
fx_intake      exchange rates from a feed or a file, and their age
restore_guard  blocks payouts after a restore until an operator has compared them
ledger_check   checks that every organization's money adds up
owed_days      computes what is owed per program and day
schedule       the cron schedule, and which ticks are overdue
retention      deletes rows past their retention period
partitions     creates monthly partitions ahead, drops empty ones
upkeep         other periodic cleanup
key_rotation   reseals stored secrets with a new SECRET_KEY
"""

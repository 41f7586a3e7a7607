"""What happens: plain functions inside the caller's transaction, a folder for each subject.

At the root is what serves them all:

work           how a job is asked for
earn           what every new conversion brings with it: history, ledger, event
mail           letters: one attempt, or the wait for a slot
credentials    what a brand types of a service that it connects, sealed
fx_intake      rates of currencies, from a feed or a file
whole_books    whether anything may have been forgotten that was paid
ledger_check   whether the money adds up
reckoning      what days of programs owe is kept, for who asks
schedule       what is done by the clock, and what is late
retention      what ends when it is old
partitions     months are made for what grows, and dropped when they are empty
upkeep         what else the service forgets by the clock
resealing      sealing anew with a new SECRET_KEY
"""

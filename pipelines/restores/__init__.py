"""After a restore: compare what rails show as paid with the books, and book what was forgotten.

compare           each transfer of a list: what it is here, and what follows from that
book              writes a forgotten payout again, or marks as paid what is known
listed_attempts   writes the attempt that a rail lists to its payout
paid_milestones   pays a milestone by the transfer that has paid it, now or when its time comes
undo              takes a booking back
charges           names the charges for deals that the books do not have
clean             whether everything was compared, so that payouts may go on
"""

"""After a restore: compares the transfers that rails list with the books, and books forgotten payouts.

compare             compares each transfer of a list with the books, and acts on the result
forgotten_payouts   inserts a forgotten payout again, or marks a known one as paid
listed_attempts     writes the attempt that a rail lists to its payout
milestone_payments  pays a milestone with the transfer that has paid it, now or when it is due
undo                undoes a booking
charges             finds charges for deals that the books do not have
completeness        checks whether everything was compared, so that payouts may continue
"""

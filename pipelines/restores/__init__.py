"""After a restore: compare what rails show as paid with the books, and book what was forgotten.

compare     each transfer of a list: what it is here, and what follows from that
book        writes a forgotten payout again, or marks as paid what is known
clean       whether everything was compared, so that payouts may go on
"""

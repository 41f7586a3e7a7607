"""Host names that brands point at the service: their holders, and the records of their proofs.

holders        who holds a name, and whether it is verified
proof_records  the results of checking its proof
"""

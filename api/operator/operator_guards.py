"""Who may call what is here: operators, and nobody else."""

from api.access.guards import FRESH_S, Guard

READ = Guard(audience="operator")
WRITE = Guard(audience="operator", scope="read_write")
#: What releases money, says where it went or what it is worth, or lets work go for ever: a login of the last hour.
DECIDE = Guard(audience="operator", scope="read_write", fresh_s=FRESH_S)

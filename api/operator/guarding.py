"""Who may call what is here: operators, and nobody else."""

from api.access.guards import Guard

READ = Guard(audience="operator")
WRITE = Guard(audience="operator", scope="read_write")

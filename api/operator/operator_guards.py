"""The guards of the operator routes: only operators may call them."""

from api.access.guards import FRESH_S, Guard

READ = Guard(audience="operator")
WRITE = Guard(audience="operator", scope="read_write")
#: Actions that release, settle or value money, or discard work permanently: they need a login within the last hour.
DECIDE = Guard(audience="operator", scope="read_write", fresh_s=FRESH_S)

"""SQL for the affiliate credited with a sale that refers to another campaign of the same account."""

from models.conditions import SELLING_PROGRAM


def seller_sql(alias: str) -> str:
    """Return SQL for the id of the affiliate who is credited if a sale refers to the affiliate of this table alias.

    The affiliate itself, unless its campaign does not pay for sales and the account has an Approved affiliate in one
    that does: then the oldest of those. An account is identified by its id or, until the person signs in, its email.
    """
    return f"""case when exists (select from program p where p.id = {alias}.program_id and {SELLING_PROGRAM})
    then {alias}.id else coalesce((
      select a.id from affiliate a join program p on p.id = a.program_id
      where a.organization_id = %(org)s and a.status = 'Approved' and a.deleted_at is null and {SELLING_PROGRAM}
        and a.id = any(array(
          select id from affiliate where account_id = {alias}.account_id
          union all
          select id from affiliate where email = {alias}.email and deleted_at is null
        ))
      order by a.created_at, a.id limit 1
    ), {alias}.id) end"""

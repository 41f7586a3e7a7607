"""The affiliate who is credited with a sale that names another campaign of the same account."""

from models.conditions import SELLING_PROGRAM


def seller(named: str) -> str:
    """Return SQL for the id of the affiliate who is credited where a sale names the affiliate with this alias.

    They themselves, unless their campaign does not pay for sales and the account has an Approved affiliate in one that
    does: then the oldest of those. An account is known by its id or, until its person signs in, by the email.
    """
    return f"""case when exists (select from program p where p.id = {named}.program_id and {SELLING_PROGRAM})
    then {named}.id else coalesce((
      select a.id from affiliate a join program p on p.id = a.program_id
      where a.organization_id = %(org)s and a.status = 'Approved' and a.deleted_at is null and {SELLING_PROGRAM}
        and a.id = any(array(
          select id from affiliate where account_id = {named}.account_id
          union all
          select id from affiliate where email = {named}.email and deleted_at is null
        ))
      order by a.created_at, a.id limit 1
    ), {named}.id) end"""

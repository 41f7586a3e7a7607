"""SQL for the links to which a slug or an old token leads, for the statements that credit affiliates."""


def matches_sql(*, organization: str | None, slug: str = "%(slug)s", tokens: str = "%(tokens)s::text[]") -> str:
    """Return SQL for a table of undeleted links, by slug and by old tokens: columns of `tracking_link`, and place.

    `slug` and `tokens` are SQL in lower case, `organization` that of the organization, or None in a statement across
    all. `place` orders them: 0 a token of other text than the slug, 1 the slug, 2 the slug's text as a token. The
    `created_at` of a match by token is the token's. Two index look-ups.
    """
    of_link = "" if organization is None else f" and l.organization_id = {organization}"
    of_token = "" if organization is None else f" and t.organization_id = {organization}"
    return f"""(
    select l.id, l.organization_id, l.program_id, l.affiliate_id, l.slug, l.needs_program, l.created_at, 1 as place
    from tracking_link l where l.slug = {slug}{of_link} and l.deleted_at is null
    union all
    select l.id, l.organization_id, l.program_id, l.affiliate_id, l.slug, false, t.created_at,
      case when t.token = {slug} then 2 else 0 end
    from old_token t join tracking_link l on l.organization_id = t.organization_id and l.id = t.link_id
    where t.token = any({tokens}){of_token} and l.deleted_at is null
  )"""

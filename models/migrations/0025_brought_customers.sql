-- Payments that customers made in the former system count as those of an import do (decision 68): import_customer then
-- has the id of the switch in import_job_id, which therefore is no longer a foreign key.
alter table import_customer drop constraint import_customer_organization_id_import_job_id_fkey;

-- The name under which payments of a name are counted. A name may lead to an email that leads to an id.
create function counted_name(org uuid, program uuid, name text) returns text language plpgsql stable as $$
declare
  next_name text;
begin
  for hop in 1..4 loop
    select joined_to into next_name from program_customer
    where organization_id = org and program_id = program and customer_key = name;
    exit when next_name is null or next_name = name;
    name := next_name;
  end loop;
  return name;
end $$;

-- As before, but an id that was joined to another one by a subscription is counted there.
create or replace function customer_name(org uuid, program uuid, id_name text, other_name text, via text, inbox text)
returns text language plpgsql stable as $$
declare
  known program_customer;
  is_known boolean;
begin
  select * into known from program_customer
  where organization_id = org and program_id = program and customer_key = id_name;
  is_known := found;
  if is_known and known.gateway is not distinct from via then
    return coalesce(known.joined_to, id_name);
  end if;
  if exists (select from program_customer
      where organization_id = org and program_id = program and customer_key = other_name) then
    return other_name;
  end if;
  if not is_known then
    return id_name;
  end if;
  if known.gateway is not null and via is not null then
    return other_name;
  end if;
  if id_name ~ '^(test-)?id:[0-9]+$' and known.email_normalized <> inbox then
    return other_name;
  end if;
  return coalesce(known.joined_to, id_name);
end $$;

-- As before, but a name may lead to an email that leads to an id.
create or replace function customer_payments(
  org uuid, program uuid, id_name text, other_name text, via text, email_name text, inbox text,
  out payments int, out first_paid_at timestamptz
) language plpgsql stable as $$
declare
  by_email program_customer;
  name text;
begin
  select * into by_email from program_customer
  where organization_id = org and program_id = program and customer_key = email_name;
  name := case when id_name is null then coalesce(counted_name(org, program, by_email.joined_to), email_name)
    else customer_name(org, program, id_name, other_name, via, inbox) end;
  select coalesce(sum(c.payments), 0), min(c.first_paid_at) filter (where c.payments > 0)
  into customer_payments.payments, customer_payments.first_paid_at
  from program_customer c
  where c.organization_id = org and c.program_id = program
    and c.customer_key = any(array[name, case when by_email.joined_to is null then email_name end]);
end $$;

-- As before, with the same change.
create or replace function count_payment(
  org uuid, program uuid, id_name text, other_name text, via text, email_name text, inbox text,
  paid_at timestamptz, import_job uuid, expected int,
  out name text, out payments int, out first_paid_at timestamptz
) language plpgsql as $$
declare
  by_email program_customer;
  sold_at timestamptz := case when import_job is null then paid_at end;
  is_new_inbox boolean := false;
begin
  <<counting>>
  begin
    -- Most payments are one of three cases: known by these names, new, or known by the email alone.
    if id_name is null then
      insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, first_sold_at, payments)
      values (org, program, email_name, paid_at, sold_at, 1)
      on conflict (organization_id, program_id, customer_key) do update
      set payments = c.payments + 1, first_sold_at = least(c.first_sold_at, sold_at),
        first_paid_at = case when c.payments > 0 then least(c.first_paid_at, excluded.first_paid_at)
          else excluded.first_paid_at end
      where c.joined_to is null
      returning c.customer_key, c.payments, c.first_paid_at
      into count_payment.name, count_payment.payments, count_payment.first_paid_at;
      exit counting when found;
    else
      update program_customer c
      set payments = c.payments + 1, first_paid_at = least(c.first_paid_at, paid_at),
        first_sold_at = least(c.first_sold_at, sold_at), email_normalized = coalesce(inbox, c.email_normalized)
      where c.organization_id = org and c.program_id = program and c.customer_key = id_name
        and c.payments > 0 and c.gateway is not distinct from via
        and (email_name is null or exists (select from program_customer e where e.organization_id = org
          and e.program_id = program and e.customer_key = email_name and e.joined_to is not null))
      returning c.customer_key, c.payments, c.first_paid_at
      into count_payment.name, count_payment.payments, count_payment.first_paid_at;
      exit counting when found;
      if email_name is not null then
        insert into program_customer (organization_id, program_id, customer_key, first_paid_at, payments, joined_to)
        values (org, program, email_name, paid_at, 0, id_name) on conflict do nothing;
        is_new_inbox := found;
      end if;
      if email_name is null or is_new_inbox then
        insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, first_sold_at,
          payments, gateway, email_normalized)
        select org, program, id_name, paid_at, sold_at, 1, via, inbox
        where not exists (select from program_customer
          where organization_id = org and program_id = program and customer_key = other_name)
        on conflict do nothing
        returning c.customer_key, c.payments, c.first_paid_at
        into count_payment.name, count_payment.payments, count_payment.first_paid_at;
        exit counting when found;
      end if;
    end if;

    if email_name is not null then
      select * into by_email from program_customer
      where organization_id = org and program_id = program and customer_key = email_name for update;
      name := counted_name(org, program, by_email.joined_to);
    end if;
    if id_name is not null then
      insert into program_customer (organization_id, program_id, customer_key, first_paid_at, payments)
      values (org, program, id_name, paid_at, 0) on conflict do nothing;
      perform from program_customer
      where organization_id = org and program_id = program and customer_key = id_name for update;
      name := customer_name(org, program, id_name, other_name, via, inbox);
    end if;
    if id_name is not null and email_name is not null and (by_email.joined_to is null or is_new_inbox) then
      update program_customer set joined_to = count_payment.name, payments = 0
      where organization_id = org and program_id = program and customer_key = email_name;
      with moved as (
        delete from import_customer
        where organization_id = org and program_id = program and customer_key = email_name returning *
      )
      insert into import_customer as i
        (organization_id, program_id, customer_key, import_job_id, first_paid_at, payments)
      select org, program, count_payment.name, import_job_id, m.first_paid_at, m.payments from moved m
      on conflict (organization_id, program_id, customer_key, import_job_id) do update
      set payments = i.payments + excluded.payments, first_paid_at = least(i.first_paid_at, excluded.first_paid_at);
    else
      by_email := null;
    end if;
    insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, first_sold_at, payments,
      gateway, email_normalized)
    values (org, program, count_payment.name,
      least(paid_at, case when by_email.payments > 0 then by_email.first_paid_at end),
      least(sold_at, by_email.first_sold_at), 1 + coalesce(by_email.payments, 0), via, inbox)
    on conflict (organization_id, program_id, customer_key) do update
    set first_paid_at = case when c.payments > 0 then least(c.first_paid_at, excluded.first_paid_at)
        else excluded.first_paid_at end,
      first_sold_at = least(c.first_sold_at, excluded.first_sold_at),
      payments = c.payments + excluded.payments,
      gateway = coalesce(c.gateway, excluded.gateway),
      email_normalized = coalesce(excluded.email_normalized, c.email_normalized)
    returning c.payments, c.first_paid_at into count_payment.payments, count_payment.first_paid_at;
  end counting;

  if count_payment.payments <> expected then
    raise exception 'it is payment % of its customer by now, not %', count_payment.payments, expected
      using errcode = 'serialization_failure';
  end if;
  if import_job is not null then
    insert into import_customer as i (organization_id, program_id, customer_key, import_job_id, first_paid_at, payments)
    values (org, program, count_payment.name, import_job, paid_at, 1)
    on conflict (organization_id, program_id, customer_key, import_job_id) do update
    set payments = i.payments + 1, first_paid_at = least(i.first_paid_at, excluded.first_paid_at);
  end if;
end $$;

-- The customer to whom a payment's subscription leads, unless the payment's own names lead there; name is null then. An
-- id that a gateway uses is not joined to another id, and a subscription of digits is the same one only if the emails
-- agree or one is unknown.
create function subscription_customer(
  org uuid, program uuid, id_name text, other_name text, via text, email_name text, inbox text, subscription_name text,
  out name text, out payments int, out first_paid_at timestamptz
) language plpgsql stable as $$
declare
  owner program_customer;
  own_name text;
  owner_inbox text;
begin
  if subscription_name is null or not exists (select from program_customer
      where organization_id = org and program_id = program and customer_key = subscription_name) then
    return;
  end if;
  select * into owner from program_customer where organization_id = org and program_id = program
    and customer_key = counted_name(org, program, subscription_name);
  if not found or owner.payments = 0 then
    return;
  end if;
  own_name := case when id_name is null then counted_name(org, program, email_name)
    else customer_name(org, program, id_name, other_name, via, inbox) end;
  if owner.customer_key = email_name or owner.customer_key = own_name then
    return;
  end if;
  if id_name is not null and owner.gateway is not null then
    return;
  end if;
  owner_inbox := coalesce(owner.email_normalized, substring(owner.customer_key from '^(?:test-)?email:(.*)$'));
  if subscription_name ~ '^(test-)?subscription:[0-9]+$' and owner_inbox <> inbox then
    return;
  end if;
  name := owner.customer_key;
  payments := owner.payments;
  first_paid_at := owner.first_paid_at;
end $$;

-- As customer_payments, of a payment with a subscription. leads_elsewhere: the payment must be counted by
-- count_subscription_payment, because its subscription leads to a customer to whom its own names don't lead.
create function paying_customer(
  org uuid, program uuid, id_name text, other_name text, via text, email_name text, inbox text, subscription_name text,
  out payments int, out first_paid_at timestamptz, out leads_elsewhere boolean
) language plpgsql stable as $$
declare
  owner record;
  own record;
begin
  select * into owner from subscription_customer(
    org, program, id_name, other_name, via, email_name, inbox, subscription_name);
  leads_elsewhere := owner.name is not null;
  if id_name is null and owner.name ~ '^(test-)?(id|of):' then
    select * into own from customer_payments(org, program, owner.name, owner.name, null, email_name, inbox);
  elsif id_name is null and (email_name is null or owner.name ~ '^(test-)?email:') then
    select * into own from customer_payments(org, program, null, null, null, owner.name, inbox);
  else
    select c.payments + coalesce(owner.payments, 0) as payments, least(c.first_paid_at, owner.first_paid_at)
      as first_paid_at into own
    from customer_payments(org, program, id_name, other_name, via, email_name, inbox) c;
  end if;
  payments := own.payments;
  first_paid_at := own.first_paid_at;
end $$;

-- Count the payments of one name under another from now on; nothing if it is counted under another already.
create function join_customer(org uuid, program uuid, from_name text, to_name text) returns void
language plpgsql as $$
declare
  former program_customer;
begin
  select * into former from program_customer
  where organization_id = org and program_id = program and customer_key = from_name for update;
  if not found or former.joined_to is not null or from_name = to_name then
    return;
  end if;
  update program_customer set joined_to = to_name, payments = 0, first_sold_at = null
  where organization_id = org and program_id = program and customer_key = from_name;
  if former.payments > 0 then
    insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, first_sold_at, payments)
    values (org, program, to_name, former.first_paid_at, former.first_sold_at, former.payments)
    on conflict (organization_id, program_id, customer_key) do update
    set payments = c.payments + excluded.payments, first_sold_at = least(c.first_sold_at, excluded.first_sold_at),
      first_paid_at = case when c.payments > 0 then least(c.first_paid_at, excluded.first_paid_at)
        else excluded.first_paid_at end;
  end if;
  with moved as (
    delete from import_customer
    where organization_id = org and program_id = program and customer_key = from_name returning *
  )
  insert into import_customer as i (organization_id, program_id, customer_key, import_job_id, first_paid_at, payments)
  select org, program, to_name, m.import_job_id, m.first_paid_at, m.payments from moved m
  on conflict (organization_id, program_id, customer_key, import_job_id) do update
  set payments = i.payments + excluded.payments, first_paid_at = least(i.first_paid_at, excluded.first_paid_at);
end $$;

-- Count a gateway's payment whose subscription leads to a customer to whom its own names don't lead. A payment without
-- an id is counted under that customer; otherwise that customer's payments are counted under the payment's id.
create function count_subscription_payment(
  org uuid, program uuid, id_name text, other_name text, via text, email_name text, inbox text, subscription_name text,
  paid_at timestamptz, expected int
) returns void language plpgsql as $$
declare
  owner text;
begin
  perform from program_customer where organization_id = org and program_id = program
    and customer_key in (id_name, other_name, email_name, subscription_name)
  order by customer_key collate "C" for update;
  select c.name into owner from subscription_customer(
    org, program, id_name, other_name, via, email_name, inbox, subscription_name) c;
  if id_name is null and owner ~ '^(test-)?(id|of):' then
    perform count_payment(org, program, owner, owner, null, email_name, inbox, paid_at, null, expected);
  elsif id_name is null and (email_name is null or owner ~ '^(test-)?email:') then
    perform count_payment(org, program, null, null, null, coalesce(owner, email_name), inbox, paid_at, null, expected);
  else
    if owner is not null then
      perform join_customer(org, program, owner, case when id_name is null then counted_name(org, program, email_name)
        else customer_name(org, program, id_name, other_name, via, inbox) end);
    end if;
    perform count_payment(org, program, id_name, other_name, via, email_name, inbox, paid_at, null, expected);
  end if;
end $$;

-- `is not distinct from` keeps the planner from the index of all customers of an import, which it prefers for new tables.

-- Count the payments of a customer in the former system: the first one as an import counts it, then their number. The
-- subscription leads to the customer from now on, unless it leads to another already.
create function count_brought(
  org uuid, program uuid, id_name text, other_name text, email_name text, inbox text, subscription_name text,
  first_paid_at timestamptz, switch uuid, number int
) returns void language plpgsql as $$
declare
  name text;
begin
  select c.name into name from count_payment(
    org, program, id_name, other_name, null, email_name, inbox, first_paid_at, switch, null) c;
  if number > 1 then
    update program_customer c set payments = c.payments + number - 1
    where c.organization_id = org and c.program_id = program and c.customer_key = name;
    update import_customer c set payments = c.payments + number - 1
    where c.organization_id = org and c.program_id = program and c.customer_key = name and c.import_job_id is not distinct from switch;
  end if;
  if subscription_name <> name then
    insert into program_customer (organization_id, program_id, customer_key, first_paid_at, payments)
    values (org, program, subscription_name, count_brought.first_paid_at, 0) on conflict do nothing;
    perform join_customer(org, program, subscription_name, name);
  end if;
end $$;

-- Take payments back that count_brought counted, also where the customer was joined to another name since. Names that
-- nothing else uses are deleted. Another email that leads to a deleted name stays: a payment with it creates the name
-- again.
create function uncount_brought(
  org uuid, program uuid, id_name text, other_name text, email_name text, subscription_name text, switch uuid,
  number int
) returns void language plpgsql as $$
declare
  candidate text;
  counted import_customer;
  remaining int;
begin
  foreach candidate in array array[id_name, other_name, email_name, subscription_name] loop
    select * into counted from import_customer
    where organization_id = org and program_id = program and import_job_id is not distinct from switch
      and customer_key = counted_name(org, program, candidate) for update;
    exit when found;
  end loop;
  if counted.customer_key is null then
    return;
  end if;
  number := least(number, counted.payments);
  delete from import_customer
  where organization_id = org and program_id = program and import_job_id is not distinct from switch
    and customer_key = counted.customer_key and payments = number;
  update import_customer set payments = payments - number
  where organization_id = org and program_id = program and import_job_id is not distinct from switch
    and customer_key = counted.customer_key and payments > number;
  update program_customer c set payments = greatest(c.payments - number, 0), first_paid_at = coalesce(least(
    c.first_sold_at, (select min(i.first_paid_at) from import_customer i where i.organization_id = org
      and i.program_id = program and i.customer_key = c.customer_key)), c.first_paid_at)
  where c.organization_id = org and c.program_id = program and c.customer_key = counted.customer_key
  returning c.payments into remaining;
  if remaining = 0 then
    delete from program_customer where organization_id = org and program_id = program
      and customer_key in (id_name, other_name, email_name, subscription_name)
      and joined_to is not null and counted_name(org, program, customer_key) = counted.customer_key;
    delete from program_customer c where c.organization_id = org and c.program_id = program
      and c.customer_key = counted.customer_key;
  end if;
end $$;

-- As before, and the old token of another affiliate of the organization is taken, too.
create or replace function slugs_of_others(wanted_slugs text[], for_emails text[])
returns table (wanted_slug text, for_email text) language sql stable set app.any_org = 'on' as $$
  with own as (
    select l.slug, a.email, a.deleted_at is not null as is_gone from tracking_link l
    join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
    where l.organization_id = nullif(current_setting('app.org', true), '')::uuid
      and l.slug = any(wanted_slugs) and l.deleted_at is null
    union all
    select t.token, a.email, a.deleted_at is not null from old_token t
    join tracking_link l on l.organization_id = t.organization_id and l.id = t.link_id
    join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
    where t.organization_id = nullif(current_setting('app.org', true), '')::uuid
      and t.token = any(wanted_slugs) and l.deleted_at is null
  )
  select w.slug, w.email from unnest(wanted_slugs, for_emails) as w (slug, email)
  where exists (select from own where own.slug = w.slug and (own.email <> w.email or own.is_gone))
     or not exists (select from own where own.slug = w.slug)
        and (exists (select from affiliate_account a where a.slug = w.slug)
             or exists (select from tracking_link l where l.slug = w.slug and l.deleted_at is null))
$$;

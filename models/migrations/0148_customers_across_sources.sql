-- One customer is one customer, whichever way a payment comes (decision 68). A row is a name of a customer in a program:
-- an id (`id:…`), an id that is another customer's too (`of:<gateway>:…`), or an inbox (`email:…`).
--
-- joined_to is the name under which this one's payments are counted; null where they are counted here.
-- gateway is the gateway that calls the customer by this id, null until one does; email_normalized their newest inbox.
-- first_sold_at is their first payment that no import brought. What was there before is filled in by 0163.
alter table program_customer add column joined_to text;
alter table program_customer add column gateway text;
alter table program_customer add column email_normalized text;
alter table program_customer add column first_sold_at timestamptz;
-- contract: program_customer CHECK ((payments >= 0)): wider than what stood, so it refuses nothing
alter table program_customer drop constraint program_customer_payments_check;
alter table program_customer add constraint program_customer_payments_check check (payments >= 0) not valid;

-- The name under which an id is counted: the id itself, unless that is another customer's. Two gateways' ids are two
-- customers. An id without a gateway is the customer whom any gateway calls by it; one of digits only where their
-- inboxes agree, or one of them is not known.
create function customer_name(org uuid, program uuid, id_name text, other_name text, via text, inbox text)
returns text language plpgsql stable as $$
declare
  known program_customer;
  is_known boolean;
begin
  select * into known from program_customer
  where organization_id = org and program_id = program and customer_key = id_name;
  is_known := found;
  if is_known and known.gateway is not distinct from via then
    return id_name;
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
  return id_name;
end $$;

-- How often a customer has paid in a program, by all their names, and since when (null: never).
create function customer_payments(
  org uuid, program uuid, id_name text, other_name text, via text, email_name text, inbox text,
  out payments int, out first_paid_at timestamptz
) language plpgsql stable as $$
declare
  by_email program_customer;
  name text;
begin
  select * into by_email from program_customer
  where organization_id = org and program_id = program and customer_key = email_name;
  name := case when id_name is null then coalesce(by_email.joined_to, email_name)
    else customer_name(org, program, id_name, other_name, via, inbox) end;
  select coalesce(sum(c.payments), 0), min(c.first_paid_at) filter (where c.payments > 0)
  into customer_payments.payments, customer_payments.first_paid_at
  from program_customer c
  where c.organization_id = org and c.program_id = program
    and c.customer_key = any(array[name, case when by_email.joined_to is null then email_name end]);
end $$;

-- Counts a payment of a customer: returns the name that has the count, which payment it is, and since when they pay.
-- Who is known by an inbox alone is joined to whoever pays with an id and that inbox. The names are locked, the inbox
-- before the id, until the transaction ends. Fails where this is not the expected payment (null: whichever it is), since
-- others were counted meanwhile.
create function count_payment(
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
    -- Most are one of three: known by these names already, new, or known by the inbox alone.
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
      name := by_email.joined_to;
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

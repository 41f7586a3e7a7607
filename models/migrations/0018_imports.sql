-- Conversions of an import are known by their job, and an import can be taken back as a whole.

alter table conversion
  add column import_job_id uuid,
  add constraint conversion_import_job foreign key (organization_id, import_job_id)
    references import_job (organization_id, id);
create index conversion_imported on conversion (organization_id, import_job_id) where import_job_id is not null;

alter table import_job
  add column undone_at timestamptz,
  add constraint import_job_undone check ((status = 'Undone') = (undone_at is not null));

-- What an import says of a program's customers, so that it can be taken out again.
create table import_customer (
  organization_id uuid not null,
  program_id uuid not null,
  customer_key text not null,
  import_job_id uuid not null,
  first_paid_at timestamptz not null,
  payments int not null check (payments > 0),
  primary key (organization_id, program_id, customer_key, import_job_id),
  foreign key (organization_id, program_id) references program (organization_id, id),
  foreign key (organization_id, import_job_id) references import_job (organization_id, id)
);
create index import_customer_job on import_customer (organization_id, import_job_id);
select isolate_tenant('import_customer');

-- Whose first payment was when, once an import is out again; and whether a link was used.
create index sale_customer on sale (organization_id, program_id, customer_key, accepted_at)
  where customer_key is not null;
create index click_of_affiliate on click (organization_id, affiliate_id);

-- A ledger entry names a conversion that is there when it is booked. It stays when the conversion is taken out with its
-- import, which is possible only once its entries come to nothing.
alter table ledger_entry drop constraint ledger_entry_organization_id_conversion_id_fkey;
create index ledger_entry_conversion on ledger_entry (organization_id, conversion_id) where conversion_id is not null;

create function ledger_names_conversion() returns trigger language plpgsql as $$
begin
  perform from conversion c where c.organization_id = new.organization_id and c.id = new.conversion_id for key share;
  if not found then
    raise exception 'there is no conversion %', new.conversion_id using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_names_conversion after insert on ledger_entry
  for each row when (new.conversion_id is not null) execute function ledger_names_conversion();

create function conversion_owes_nothing() returns trigger language plpgsql as $$
begin
  if (select sum(l.amount_cents) from ledger_entry l
      where l.organization_id = old.organization_id and l.conversion_id = old.id) <> 0 then
    raise exception 'conversion % is still in the ledger', old.id using errcode = 'foreign_key_violation';
  end if;
  return old;
end $$;
create trigger conversion_owes_nothing before delete on conversion
  for each row execute function conversion_owes_nothing();

-- Customers who were there before 0148, apart from it: its locks on the table would be kept as long as this takes.
set local app.any_org = 'on';
update program_customer c set first_sold_at = c.first_paid_at
where not exists (select from import_customer i where i.organization_id = c.organization_id
  and i.program_id = c.program_id and i.customer_key = c.customer_key);
update program_customer c set first_sold_at = s.first_at
from (
  select organization_id, program_id, customer_key, min(accepted_at) as first_at from sale
  where customer_key is not null group by 1, 2, 3
) s
where c.first_sold_at is null and s.organization_id = c.organization_id and s.program_id = c.program_id
  and s.customer_key = c.customer_key;

-- Ids of gateways were names of their own (`id:stripe:cus_1`); now the id alone is the name, and the first gateway that
-- uses it has it. What the last release counts under an old name while it is replaced is missing in the number of
-- payments afterwards.
create temporary table renamed on commit drop as
select c.organization_id, c.program_id, c.customer_key, part[2] as gateway, c.payments, c.first_paid_at,
  concat(part[1], 'id:', part[3]) as id_name, concat(part[1], 'of:', part[2], ':', part[3]) as other_name,
  part[3] ~ '^[0-9]+$' as is_number,
  row_number() over (partition by c.organization_id, c.program_id, part[1], part[3] order by c.first_paid_at) as place
from program_customer c cross join lateral regexp_match(c.customer_key, concat('^(test-)?id:(stripe|braintree|mollie|',
  'shopify|bigcommerce|wix|woocommerce|paddle|chargebee|recurly|maxio|gumroad|lemonsqueezy|thrivecart|paypal):(.+)$'))
  as part
where part is not null;

update program_customer c set payments = c.payments + r.payments, gateway = r.gateway,
  first_paid_at = least(c.first_paid_at, r.first_paid_at), first_sold_at = least(c.first_sold_at, r.first_paid_at)
from renamed r
where r.place = 1 and not r.is_number and c.organization_id = r.organization_id and c.program_id = r.program_id
  and c.customer_key = r.id_name;
delete from program_customer c using renamed r
where r.place = 1 and not r.is_number and c.organization_id = r.organization_id and c.program_id = r.program_id
  and c.customer_key = r.customer_key and exists (select from program_customer b
    where b.organization_id = r.organization_id and b.program_id = r.program_id and b.customer_key = r.id_name);
update program_customer c set gateway = r.gateway, customer_key = case
  when r.place = 1 and not exists (select from program_customer b where b.organization_id = r.organization_id
    and b.program_id = r.program_id and b.customer_key = r.id_name) then r.id_name
  else r.other_name end
from renamed r
where c.organization_id = r.organization_id and c.program_id = r.program_id and c.customer_key = r.customer_key;

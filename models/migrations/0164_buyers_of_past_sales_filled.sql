-- Apart from 0149: its lock on the table would be kept as long as this takes.
set local app.any_org = 'on';
-- As the service reads addresses, but for domains in other scripts that are written as xn--….
update conversion c set email_normalized = case
  when split_part(read.email, '@', 2) in ('gmail.com', 'googlemail.com')
    then replace(read.inbox, '.', '') || '@gmail.com'
  else read.inbox || '@' || split_part(read.email, '@', 2) end
from conversion o
cross join lateral (select lower(trim(o.customer_email)) as email) lowered
cross join lateral (select lowered.email, coalesce(nullif(split_part(split_part(lowered.email, '@', 1), '+', 1), ''),
  split_part(lowered.email, '@', 1)) as inbox) read
where o.source in ('import', 'manual') and o.customer_email like '%@%'
  and c.organization_id = o.organization_id and c.id = o.id;

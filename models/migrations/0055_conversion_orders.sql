-- Conversions that are held, in the order in which their holds end.
create index conversion_payable_list on conversion (organization_id, hold_until, id) where status = 'Pending';

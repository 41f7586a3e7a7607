-- Whether what a lost dispute took is the same money as the refunds that were made until it was decided.
alter table gateway_dispute add column covers_refunds boolean not null default false;

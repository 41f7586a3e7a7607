-- outside a transaction
alter table refund validate constraint refund_origin;
alter table conversion validate constraint conversion_unreported;

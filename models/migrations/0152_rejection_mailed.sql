-- When an applicant was told by email that their application was turned down, so that it happens once. Null until then.

alter table affiliate add column rejection_mailed_at timestamptz;

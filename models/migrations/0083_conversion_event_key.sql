-- The wider key refuses nothing that the key by id alone let in.
-- contract: conversion_event unique btree (organization_id, id): ids were unique before
-- contract: conversion_event unique btree (id): nothing looks for one by its id without its organization
select key_by_organization('conversion_event', 'conversion_event_key');

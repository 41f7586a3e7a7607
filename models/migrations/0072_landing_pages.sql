-- What a brand says on the landing page of a program, and the picture at its head.

alter table stored_file drop constraint stored_file_kind_check;
alter table stored_file add constraint stored_file_kind_check
  check (kind in ('logo', 'favicon', 'tax_form', 'asset', 'hero'));

-- The picture is named once, in the page's own words, and is there as long as a page names it.
alter table program
  add column landing_page_config jsonb check (jsonb_typeof(landing_page_config) = 'object'),
  add column hero_file_id uuid generated always as ((landing_page_config ->> 'heroImageId')::uuid) stored,
  add constraint program_hero foreign key (organization_id, hero_file_id) references stored_file (organization_id, id);

-- Whether any page names a picture; which pictures of pages a brand has.
create index program_hero_file on program (organization_id, hero_file_id) where hero_file_id is not null;
create index stored_hero on stored_file (organization_id, created_at desc) where kind = 'hero';

-- Programs that strangers may find, in the order of the sitemap.
create index program_discoverable on program (id)
  where is_publicly_discoverable and is_active and archived_at is null and suspended_at is null;

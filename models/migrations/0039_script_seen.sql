-- When a page of a program last ran the script, and where that page was. Of the visitor nothing is kept.
alter table program
  add column script_seen_at timestamptz,
  add column script_origin text;

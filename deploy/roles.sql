-- The database and its roles on a PostgreSQL of your own, once, as a superuser:
--   sudo -u postgres psql -v owner_password=… -v service_password=… < deploy/roles.sql
-- `finderfee` owns the tables and applies the migrations (DATABASE_OWNER_URL). The processes log in as `finderfee_login`
-- (DATABASE_URL), which owns nothing (decision 4).
\set ON_ERROR_STOP on
create role finderfee_app nologin;
create role finderfee login createrole in role finderfee_app password :'owner_password';
create role finderfee_login login in role finderfee_app password :'service_password';
create database finderfee owner finderfee;
-- Functions of the schema set this parameter. PostgreSQL lets only superusers do that, and the roles that it is granted to.
grant set on parameter app.any_org to finderfee;

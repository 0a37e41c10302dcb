-- What services may do, as a role to grant to the user they log in as; that user is never the owner of the tables, so
-- row-level security binds it. Tables made later are covered by the default privileges.
do $$
begin
  create role keelson_service nologin;
exception
  when duplicate_object or unique_violation then null;
end
$$;

grant usage on schema identity, platform, agent to keelson_service;
grant select, insert, update, delete on all tables in schema identity, platform, agent to keelson_service;
grant execute on all functions in schema identity to keelson_service;
alter default privileges in schema identity, platform, agent
  grant select, insert, update, delete on tables to keelson_service;
alter default privileges in schema identity grant execute on functions to keelson_service;

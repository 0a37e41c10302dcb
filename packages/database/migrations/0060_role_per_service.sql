-- A role for each service, so that a service reads no more than it works with: agent-api no credential, platform-api no
-- trace, the deployer no API key. keelson_service, which may do what all of them may, stays for one user serving all.
do $$
declare
  name text;
begin
  foreach name in array array['keelson_platform_api', 'keelson_agent_api', 'keelson_deployer'] loop
    begin
      execute format('create role %I nologin', name);
    exception
      when duplicate_object or unique_violation then null;
    end;
  end loop;
end
$$;

grant usage on schema identity to keelson_platform_api, keelson_agent_api, keelson_deployer;
grant usage on schema platform to keelson_platform_api, keelson_deployer;
grant usage on schema agent to keelson_agent_api;

grant select, insert, update, delete on all tables in schema identity to keelson_platform_api, keelson_agent_api;
revoke update, delete on identity.audit_log, identity.audit_seals from keelson_platform_api, keelson_agent_api;
grant execute on all functions in schema identity to keelson_platform_api, keelson_agent_api;
-- What revealing a credential to a vendor needs.
grant select on identity.accounts, identity.account_keys, identity.key_canary to keelson_deployer;
grant select, insert on identity.audit_log to keelson_deployer;

grant select, insert, update, delete on all tables in schema platform to keelson_platform_api;
grant select on platform.credentials, platform.credential_versions to keelson_deployer;
grant select, insert, update, delete on platform.models, platform.deployments to keelson_deployer;
grant select, insert, update, delete on all tables in schema agent to keelson_agent_api;

alter default privileges in schema platform grant select, insert, update, delete on tables to keelson_platform_api;
alter default privileges in schema agent grant select, insert, update, delete on tables to keelson_agent_api;
alter default privileges in schema identity
  grant select, insert, update, delete on tables to keelson_platform_api, keelson_agent_api;
alter default privileges in schema identity grant execute on functions to keelson_platform_api, keelson_agent_api;

-- Binds itself to the account and makes a credential, its first version and the audit row; null when the name is taken.
-- One call a credential, so that the credentials of many requests share a statement and its commit.
create function platform.create_credential(
  of_account text, new_id text, new_name text, new_description text, new_type text, new_metadata text, new_sealed bytea,
  actor_key_id text, actor_identity_id text, actor_identity_type text, of_request text
)
returns timestamptz
language plpgsql volatile
as $$
declare
  made_at timestamptz;
begin
  perform pg_catalog.set_config('keelson.account_id', of_account, true);
  insert into platform.credentials (account_id, id, name, description, type, credential_metadata,
    created_by_identity_type, created_by_user_id)
  values (of_account, new_id, new_name, new_description, new_type, new_metadata, actor_identity_type, actor_identity_id)
  on conflict on constraint credentials_name_unique do nothing
  returning created_at into made_at;
  if made_at is not null then
    insert into platform.credential_versions (account_id, credential_id, version, sealed)
    values (of_account, new_id, 1, new_sealed);
    insert into identity.audit_log (account_id, key_id, identity_id, identity_type, action, target_type, request_id,
      target_id, target_version, outcome)
    values (of_account, actor_key_id, actor_identity_id, actor_identity_type, 'credential.create', 'credential', of_request,
      new_id, 1, 'done');
  end if;
  return made_at;
end
$$;

revoke all on function
  platform.create_credential(text, text, text, text, text, text, bytea, text, text, text, text) from public;
grant execute on function
  platform.create_credential(text, text, text, text, text, text, bytea, text, text, text, text)
  to keelson_service, keelson_platform_api;

-- The deployer reveals to vendors by the function that reveals to callers.
grant execute on function platform.reveal_credential(text, text, text, text, text, text, text, text) to keelson_deployer;

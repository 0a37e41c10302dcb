-- Binds itself to the account, reads the ciphertext of a credential by id or by name, and writes the audit row: one
-- statement for the caller, whose parts cost a third of what they cost as one query of common table expressions.
create function platform.reveal_credential(
  of_account text, by_id text, by_name text, claimed_id text,
  actor_key_id text, actor_identity_id text, actor_identity_type text, of_request text
)
returns table (id text, current_version integer, sealed bytea)
language plpgsql volatile
as $$
declare
  found_id text;
  found_version integer;
begin
  perform pg_catalog.set_config('keelson.account_id', of_account, true);
  if by_id is not null then
    select c.id, c.current_version into found_id, found_version
    from platform.credentials c where c.account_id = of_account and c.id = by_id;
  else
    select c.id, c.current_version into found_id, found_version
    from platform.credentials c where c.account_id = of_account and c.name = by_name;
  end if;
  insert into identity.audit_log (account_id, key_id, identity_id, identity_type, action, target_type, request_id,
    target_id, target_version, outcome)
  values (of_account, actor_key_id, actor_identity_id, actor_identity_type, 'credential.reveal', 'credential', of_request,
    coalesce(found_id, claimed_id), found_version, case when found_id is null then 'not_found' else 'granted' end);
  if found_id is not null then
    return query select found_id, found_version, (
      select v.sealed from platform.credential_versions v
      where v.account_id = of_account and v.credential_id = found_id and v.version = found_version);
  end if;
end
$$;

grant execute on function platform.reveal_credential(text, text, text, text, text, text, text, text) to keelson_service;
revoke all on function platform.reveal_credential(text, text, text, text, text, text, text, text) from public;

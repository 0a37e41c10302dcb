-- Why a reveal was refused, in words of its own: for the rate limit, another account, a repetition, or a bad request.
alter table identity.audit_log
  drop constraint audit_log_outcome_check,
  add constraint audit_log_outcome_check check (
    outcome in ('done', 'granted', 'account_mismatch', 'rate_limited', 'missing_scope', 'request_in_progress',
      'idempotency_key_reused', 'invalid_request', 'not_found', 'integrity_failure', 'unavailable')
  ) not valid;

-- The audit rows of reveals that were refused, bound to each account in its turn: many refusals share a commit, so that
-- whoever is refused for asking too often costs little.
create function platform.record_refused_reveals(
  of_accounts text[], target_ids text[], outcomes text[],
  actor_key_ids text[], actor_identity_ids text[], actor_identity_types text[], of_requests text[]
)
returns void
language plpgsql volatile
as $$
declare
  bound_account text;
begin
  for bound_account in select distinct a from pg_catalog.unnest(of_accounts) a loop
    perform pg_catalog.set_config('keelson.account_id', bound_account, true);
    insert into identity.audit_log (account_id, key_id, identity_id, identity_type, action, target_type, request_id,
      target_id, target_version, outcome)
    select bound_account, r.key_id, r.identity_id, r.identity_type, 'credential.reveal', 'credential', r.request_id,
      r.target_id, null, r.outcome
    from unnest(of_accounts, target_ids, outcomes, actor_key_ids, actor_identity_ids, actor_identity_types,
      of_requests) as r (account_id, target_id, outcome, key_id, identity_id, identity_type, request_id)
    where r.account_id = bound_account;
  end loop;
end
$$;

revoke all on function
  platform.record_refused_reveals(text[], text[], text[], text[], text[], text[], text[]) from public;
grant execute on function
  platform.record_refused_reveals(text[], text[], text[], text[], text[], text[], text[])
  to keelson_service, keelson_platform_api;

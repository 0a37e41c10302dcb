-- Answers to requests that carried an Idempotency-Key, kept for a day. A row without an answer is a request under way,
-- or one whose process died.
create table identity.idempotency_keys (
  account_id text collate "C" not null references identity.accounts,
  operation text collate "C" not null,
  key text collate "C" not null,
  fingerprint text not null,
  started_at timestamptz not null default now(),
  status integer,
  body text,
  primary key (account_id, operation, key),
  constraint idempotency_keys_answer_check check ((status is null) = (body is null))
);

create index idempotency_keys_by_age on identity.idempotency_keys (account_id, started_at);

alter table identity.idempotency_keys enable row level security;
create policy own_account on identity.idempotency_keys
  using (account_id = nullif(current_setting('keelson.account_id', true), ''))
  with check (account_id = nullif(current_setting('keelson.account_id', true), ''));

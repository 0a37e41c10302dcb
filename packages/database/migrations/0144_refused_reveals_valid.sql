alter table identity.audit_log validate constraint audit_log_outcome_check;

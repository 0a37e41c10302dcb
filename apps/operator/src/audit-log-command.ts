import '@keelson/identity/audit-log-command'

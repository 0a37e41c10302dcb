import '@keelson/identity/keys-command'

import '@keelson/identity/keyring-command'

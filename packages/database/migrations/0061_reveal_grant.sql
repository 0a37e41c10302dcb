-- The function that reveals a credential works with the rights of its caller, who still must be allowed to call it.
grant execute on function platform.reveal_credential(text, text, text, text, text, text, text, text) to keelson_platform_api;

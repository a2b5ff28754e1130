# Words that every verb uses
total = total
no-table = This answer has no table; use --format text or json.
schema-name = name
schema-about = content
schema-unknown = Unknown schema '{ $name }'. `whichkernel schema` lists all schemas.
mcp-not-held = The Linux kernel does not enforce read-only access for this server ({ $why }); its tools are read-only by design.

# Words that every verb uses
error-next = What to do: { $action }
total = total
no-table = This answer is no table: it has text and json only.
schema-name = name
schema-about = what it is
schema-unknown = No answer is called '{ $name }'. `whichkernel schema` lists them.
mcp-not-held = The kernel does not hold this server to looking ({ $why }); its tools still only look.

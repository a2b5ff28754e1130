launch-trace-magic = this is not a launch trace: it does not begin with "WKTRACE1"
launch-trace-short = the trace has { COUNT($len, "byte", "bytes") }, which is less than its header needs
launch-bad-filter = `{ $text }` is neither a kernel's name nor a valid regular expression: { $why }
launch-table-error = the kernel table is damaged at byte { $at } ({ $field }); delete the table, and whichkernel creates it again

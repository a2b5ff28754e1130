# report: the pages
report-written = Report: { $path } ({ $size })
report-problem = The ledger could not be read whole; the report says so on its first page: { $what }
report-at = Report: { $path }
report-not-written = The report was not written: { $why }
report-not-opened = The report was not opened: { $why }
report-bundled = Bundle: { $path } with { $observations } observations and { $evidence } pieces of raw evidence. Left out: { $left } rows that are a person's words, { $evidenceleft } pieces that are no text. Look through it before you attach it.
report-serving = Serving until interrupted (only on this machine, only with this address): { $url }
report-launches-unplaced = { $count } launches have no moment: they were counted and not seen one by one, so they are not in it.
report-launches-endless = Whether these are all is not known: the trace has no end that says what was counted.
report-launches-missing = { $count } launches are not in it: lines that could not be read, or launches that the recorder lost.
report-writing = Writing the report

# report: the pages
report-written = Report: { $path } ({ $size })
report-problem = Part of the ledger could not be read; the first page of the report says so: { $what }
report-at = Report: { $path }
report-not-written = The report was not written: { $why }
report-not-opened = The report was not opened: { $why }
report-published = Names of users and machines, local paths and addresses are replaced. Left out: { $left } rows of text written by people, { $evidence } raw files that are not text. Look through the pages before you publish them.
report-published-grades = { $changed } claims have another grade in the published report, because they depend on a replaced name or on evidence that was left out.
report-bundled = Bundle: { $path } with { $observations } observations and { $evidence } raw evidence files. Left out: { $left } rows of text written by people, { $evidenceleft } non-text files. Review it before you attach it.
report-serving = Serving until interrupted, on this machine only, and only under this address: { $url }
report-launches-unplaced = { $count } { $count ->
    [one] launch has
   *[other] launches have
} no timestamp, because they were only counted; they are left out.
report-launches-endless = The trace has no end record with totals, so launches may be missing.
report-launches-missing = { $count } { $count ->
    [one] launch is
   *[other] launches are
} left out: their lines could not be read, or the recorder lost them.
report-writing = Writing the report

# report: the pages
report-written = Report: { $path } ({ $size })
report-problem = Part of the ledger could not be read; the first page of the report says so: { $what }
report-at = Report: { $path }
report-not-written = The report was not written: { $why }
report-not-opened = The report was not opened: { $why }
report-published = Names of users and machines, local paths and addresses were replaced. Left out: { COUNT($left, "row", "rows") } of text written by people, { COUNT($evidence, "non-text raw file", "non-text raw files") }. Review the pages before you publish them.
report-published-grades = { COUNT($changed, "claim has", "claims have") } a different grade in the published report, because a name was replaced or evidence was left out.
report-bundled = Bundle: { $path } with { COUNT($observations, "observation", "observations") } and { COUNT($evidence, "raw evidence file", "raw evidence files") }. Left out: { COUNT($left, "row", "rows") } of text written by people, { $evidenceleft } non-text files. Review it before you attach it.
report-serving = Serving until interrupted, to this machine only and only at this address: { $url }
report-launches-unplaced = { $count ->
    [one] One launch has no timestamp, because it was only counted; it is
   *[other] { $count } launches have no timestamp, because they were only counted; they are
} left out.
report-launches-endless = The trace has no end record with totals, so launches may be missing.
report-launches-missing = { $count ->
    [one] One launch is left out: its line could not be read, or the recorder lost it.
   *[other] { $count } launches are left out: their lines could not be read, or the recorder lost them.
}
report-writing = Writing the report

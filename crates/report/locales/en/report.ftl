# report: the pages
report-written = Report: { $path } ({ $size })
report-problem = The ledger could not be read whole; the report says so on its first page: { $what }

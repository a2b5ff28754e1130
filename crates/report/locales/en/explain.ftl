# explain
explain-answer = { $gpu }, { $type }, { $columns } columns: { $kernel } (rules of { $version })
explain-stretch = The same from { $from } to { $to } columns.
explain-stretch-open = The same from { $from } columns up; the table goes to { $most }.
explain-build = Build: { $preset } at { $commit }: { $defines }
explain-otherwise = If it were otherwise:
explain-columns = columns
explain-gpu = GPU
explain-version = version
explain-column-what = What
explain-column-instead = Instead

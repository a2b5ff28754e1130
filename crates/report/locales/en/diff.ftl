# diff
diff-source-same = Both choose the same for everything that was asked.
diff-source-lines = The conditions where the two part:
diff-runtime-what = What
diff-runtime-same = Nothing is selected differently: { $cells } cells of type and column count compared.
diff-runtime-different = { $different } of { $cells } cells of type and column count are selected differently.

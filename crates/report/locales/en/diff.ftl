# diff
diff-source-same = Both choose the same for everything that was asked.
diff-source-lines = The conditions where the two part:

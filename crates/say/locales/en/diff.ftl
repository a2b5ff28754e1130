# diff
diff-source-lines = The decisions where the two part:
diff-source-more = { " " }and { $count } more
diff-source-causes = { $count } more causes: --format json has them all.
diff-runtime-what = What
diff-kernel-none = no kernel of that name in either
diff-kernel-kernel = kernel
diff-kernel-what = what
diff-kernel-summary = Kernels in both: { $both } ({ $same } without a difference in what was compared, { $differ } different). Only in A: { $a }, only in B: { $b }
diff-kernel-only-a = Only in A:
diff-kernel-only-b = Only in B:
diff-source-rows = { $count } rows: every range of columns that differs
diff-kernel-differs = differs

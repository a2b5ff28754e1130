# diff
diff-source-same = Both choose the same for everything that was asked.
diff-source-lines = The conditions where the two part:
diff-runtime-what = What
diff-runtime-same = Nothing is selected differently: { $cells } cells of type and column count compared.
diff-runtime-different = { $different } of { $cells } cells of type and column count are selected differently.
diff-kernel-none = no kernel of that name in either
diff-kernel-kernel = kernel
diff-kernel-what = what
diff-kernel-summary = { $both } kernels in both: { $same } with the same counts and registers, { $differ } differ; { $a } only in A, { $b } only in B

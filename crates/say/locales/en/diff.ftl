# diff
diff-source-lines = The conditions that decide differently:
diff-source-more = { " " }and { $count } more
diff-source-causes = { $count } more causes (--format json lists them all).
diff-runtime-what = Item
diff-kernel-none = neither file has a kernel of that name
diff-kernel-kernel = kernel
diff-kernel-what = item
diff-kernel-summary = Kernels in both: { $both } ({ $same } with no difference found, { $differ } different). Only in A: { $a }, only in B: { $b }
diff-kernel-only-a = Only in A:
diff-kernel-only-b = Only in B:
diff-source-rows = { COUNT($count, "row", "rows") }: all column ranges in which the choices differ
diff-kernel-differs = differs
diff-kernel-renamed = { $count ->
    [one] 1 kernel was matched by its parameters, because its name differs between the releases
   *[other] { $count } kernels were matched by their parameters, because their names differ between the releases
}

# diff
diff-source-lines = 両者が分かれる判断:
diff-source-more = { "" }(ほか { $count } 件)
diff-source-causes = 原因はほかに { $count } 件あります。--format json にはすべて含まれます。
diff-runtime-what = 項目
diff-kernel-none = その名前のカーネルはどちらにもありません
diff-kernel-kernel = カーネル
diff-kernel-what = 項目
diff-kernel-summary = 両方にあるカーネル { $both } 個: 比べた範囲で違いのないもの { $same } 個、異なるもの { $differ } 個。A のみ { $a } 個、B のみ { $b } 個
diff-kernel-only-a = A のみにあるもの:
diff-kernel-only-b = B のみにあるもの:
diff-source-rows = 異なる列範囲の一覧({ $count } 行)
diff-kernel-differs = 異なる

# diff
diff-source-lines = 結果が分かれる条件:
diff-source-more = { "" }（ほか { $count } 件）
diff-source-causes = 原因はほかに { $count } 件あります（--format json ですべて表示）。
diff-runtime-what = 項目
diff-kernel-none = その名前のカーネルはどちらのファイルにもありません
diff-kernel-kernel = カーネル
diff-kernel-what = 項目
diff-kernel-summary = 両方にあるカーネル { $both } 個: 比較した範囲で差のないもの { $same } 個、異なるもの { $differ } 個。A のみ { $a } 個、B のみ { $b } 個
diff-kernel-only-a = A のみにあるもの:
diff-kernel-only-b = B のみにあるもの:
diff-source-rows = 異なる列範囲の一覧（{ $count } 行）
diff-kernel-differs = 異なる
diff-kernel-renamed = { $count } 個のカーネルは、リリース間で名前が異なるため、パラメーターで対応付けました

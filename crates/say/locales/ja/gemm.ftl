# explain gemm, diff --gemm, map --library, inspect --lint
gemm-asked = { $product }、{ $gpu }（{ $target }）、{ $runtime } の { $library } { $version }
gemm-chosen = ソリューション { $index }
gemm-set = { $count } 個のソリューションのいずれか。このサイズの行がどの表にもないため、ライブラリはメモリ上で先にあるものを選びます
gemm-none = ソリューションなし。この積に使えるものがないか、ライブラリが呼び出しを拒否します
gemm-gemv = rocBLAS は Tensile のソリューションではなく自身の gemv カーネルを呼び出します
gemm-not-computed = 計算できません: { $why }
gemm-why-version = { $version } の規則は実際のライブラリと比較されていません
gemm-why-node = カタログの木に未対応の { $kind } ノードがあります
gemm-why-predicate = 述語 { $name } に対応していません
gemm-why-missing = { $file } がありません
gemm-why-damaged = { $file } を読めません
gemm-why-solution = カタログが参照するソリューション { $index } が存在しません
gemm-why-call = { $what }
gemm-kernel = カーネル
gemm-tile = タイル
gemm-tile-text = { $m } x { $n } x { $k }
gemm-tile-matrix = { $m } x { $n } x { $k }、行列命令 { $instruction }
gemm-groups = ワークグループ
gemm-groups-text = { $groups } 個（各 { $threads } スレッド）
gemm-code = コードオブジェクト
gemm-code-text = VGPR { $vgprs }、SGPR { $sgprs }、LDS { $lds } バイト、ウェーブ { $wave }
gemm-code-absent = このランタイムにはありません
gemm-matrix = 命令
gemm-matrix-none = 行列命令なし
gemm-why = 理由
gemm-why-row = { $leaf } の { $table } の行（{ $key }）
gemm-why-only = この型の唯一のソリューション（{ $leaf }）
gemm-rejected = 除外
gemm-rejected-text = ソリューション { $index }: { $predicate }
gemm-rejected-more = ほか { $count } 件
gemm-runner-up = 次点
gemm-otherwise = 選択が変わる条件
gemm-same = 同じ
gemm-of-runtime = { $runtime } の { $library } { $version }
gemm-column-what = 条件
gemm-column-id = 積
gemm-column-verdict = 判定
gemm-column-index = 番号
gemm-column-tile = タイル
gemm-column-kernel = カーネル
gemm-column-candidates = 候補
gemm-verdict-set = { $count } 個のいずれか
gemm-verdict-none = なし
gemm-verdict-gemv = gemv
gemm-verdict-not-computed = 計算不可
gemm-limits = カタログから計算した、ライブラリが選ぶカーネルです。速度は測定していません
gemm-diff-summary = { $total ->
   *[other] 積 { $total } 個: 同じ { $same }、別のタイル { $tile }、タイルは同じで別のカーネル { $kernel }、その他の変化 { $other }、計算不可 { $unknown }
}
gemm-diff-none = 比較した積はありません
gemm-diff-change = 変化
gemm-diff-tile = 別のタイル
gemm-diff-kernel = 別のカーネル
gemm-diff-other = 別の答え
gemm-diff-unknown = 計算不可
gemm-diff-more = { $count ->
   *[other] ほかに { $count } 個の積が異なります。--format csv ですべて表示します
}
gemm-map-title = { $runtime } の { $library } { $version }、{ $gpu }（{ $target }）: { $type } { $trans }、K = { $k }
gemm-map-axes = 行は M、列は N、セルはマクロタイルの M x N
gemm-lint-title = { $target } 用の { $library } カタログ: { $count ->
    [0] 指摘なし
   *[other] 候補 { $count } 件
}
gemm-lint-island = 孤立した行: タイルがすべての隣接行の 16 分の 1 以下
gemm-lint-duplicate = キーの重複: 1 つのサイズに複数のソリューション。使われるのは最初の 1 つだけ
gemm-lint-never-named = どの表からも参照されないソリューション
gemm-lint-no-fallback = 完全一致の表のみ: それ以外のサイズの答えはメモリアドレスの順で決まる
gemm-lint-other-units = 特定の計算ユニット数だけを対象とする行
gemm-lint-unreadable = 読めないファイル
gemm-lint-row = （{ $key }）タイル { $tile }、隣接 { $neighbours }（{ $leaf }）
gemm-lint-keys = （{ $key }）ソリューション { $solutions }（{ $leaf }）
gemm-lint-solutions = { $count ->
   *[other] ソリューション { $count } 個
}（{ $leaf }）
gemm-lint-more = ほか { $count } 件。--format csv ですべて表示します
gemm-lint-note = 速度は測定していません。各行はライブラリの作者に確認すべき候補であり、実測された欠陥ではありません
gemm-lint-column-kind = 種類
gemm-lint-column-leaf = ファイル
gemm-lint-column-key = キー
gemm-lint-column-detail = 詳細

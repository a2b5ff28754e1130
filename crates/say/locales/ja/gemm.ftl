# explain gemm, diff --gemm, map --library, inspect --lint
gemm-asked = { $product }、{ $gpu }（{ $target }）、{ $runtime } の { $library } { $version }
gemm-chosen = ソリューション { $index }
gemm-set = { $count } 個のソリューションのいずれか。このサイズの行がどの表にもないため、ライブラリは、たまたまメモリ上で先頭にあるものを使います
gemm-none = ソリューションなし。この行列積に使えるものがないか、ライブラリが呼び出しを拒否します
gemm-gemv = rocBLAS は Tensile のソリューションではなく自身の gemv カーネルを呼び出します
gemm-not-computed = 計算できません: { $why }
gemm-why-version = { $version } の規則は、実際のライブラリとの比較を行っていません
gemm-why-node = カタログの木構造に未対応の { $kind } ノードがあります
gemm-why-predicate = 述語 { $name } には対応していません
gemm-why-missing = { $file } がありません
gemm-why-solution = カタログが参照しているソリューション { $index } が、カタログに含まれていません
gemm-why-damaged = { $file } を読めません（{ $why }）
gemm-why-altered = { $file } はパッケージのファイルと異なります。ランタイムを取得し直してください
gemm-why-hands-over = この rocBLAS は hipBLASLt とリンクされており、カタログの外の規則で一部の行列積を hipBLASLt に渡します
gemm-why-empty = サイズに 0 があります
gemm-why-too-large = ライブラリのインターフェースで表せないサイズがあります
gemm-why-pointers = ポインター配列による hipBLASLt の呼び出しには対応していません
gemm-why-grouped = グループ化された行列積には対応していません
gemm-why-unclear = 行列積の指定の一部を解釈できません
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
gemm-catalog = カタログ
gemm-catalog-checked = ファイルはパッケージのチェックサムと一致しています
gemm-catalog-unchecked = チェックサムを記載したパッケージがないため、値が変更されていても検出できません
gemm-rejected = 除外
gemm-rejected-text = ソリューション { $index }: { $predicate }
gemm-rejected-more = ほか { $count } 件
gemm-runner-up = 次点
gemm-otherwise = 選択が変わる条件
gemm-same = 同じ
gemm-of-runtime = { $runtime } の { $library } { $version }
gemm-column-what = 条件
gemm-column-id = 行列積
gemm-column-verdict = 判定
gemm-column-index = 番号
gemm-column-tile = タイル
gemm-column-kernel = カーネル
gemm-column-candidates = 候補
gemm-verdict-set = { $count } 個のいずれか
gemm-verdict-none = なし
gemm-verdict-gemv = gemv
gemm-verdict-not-computed = 計算不可
gemm-limits = ライブラリがどのカーネルを選ぶかをカタログから計算した結果です。速度は示しません
gemm-diff-summary = { $total ->
   *[other] 行列積 { $total } 個: 同じ { $same }、別のタイル { $tile }、タイルは同じで別のカーネル { $kernel }、その他の変化 { $other }、計算不可 { $unknown }
}
gemm-diff-none = 比較した行列積はありません
gemm-diff-change = 変化
gemm-diff-tile = 別のタイル
gemm-diff-kernel = 別のカーネル
gemm-diff-other = 別の答え
gemm-diff-unknown = 計算不可
gemm-diff-more = { $count ->
   *[other] ほかに { $count } 個の行列積が異なります。--format csv ですべて表示します
}
gemm-map-title = { $runtime } の { $library } { $version }、{ $gpu }（{ $target }）: { $type } { $trans }、K = { $k }
gemm-map-axes = 行は M、列は N、セルはマクロタイルの M x N
gemm-lint-title = { $target } 用の { $library } カタログ: { $count ->
    [0] 指摘なし
   *[other] 候補 { $count } 件
}
gemm-lint-island = 孤立した行: タイルがすべての隣接行の 16 分の 1 以下
gemm-lint-duplicate = キーの重複: 1 つのサイズに複数のソリューション。使われるのは最初の 1 つだけ
gemm-lint-never-named = どの表からも参照されていないソリューション
gemm-lint-no-fallback = 完全一致の表のみ: それ以外のサイズでは、メモリ上のアドレスの順で選択が決まる
gemm-lint-other-units = 特定の演算ユニット数だけを対象とする行
gemm-lint-unreadable = 読めないファイル
gemm-lint-row = （{ $key }）タイル { $tile }、隣接 { $neighbours }（{ $leaf }）
gemm-lint-row-copied = （{ $key }）タイル { $tile }、隣接 { $neighbours }（{ $leaf } と、同じ表を持つほか { $more } 個のリーフ）
gemm-lint-keys = （{ $key }）ソリューション { $solutions }（{ $leaf }）
gemm-lint-solutions = { $count ->
   *[other] ソリューション { $count } 個
}（{ $leaf }）
gemm-lint-more = ほか { $count } 件。--format csv ですべて表示します
gemm-lint-note = 速度は測定していません。各行は、ライブラリの作者が確認すべき候補であり、実測で判明した欠陥ではありません
gemm-lint-column-kind = 種類
gemm-lint-column-leaf = ファイル
gemm-lint-column-leaves = リーフ数
gemm-lint-column-key = キー
gemm-lint-column-detail = 詳細
gemm-library = { $library } { $version }
gemm-section = ランタイムのカタログから計算した BLAS カーネル。ソリューションはカタログでの番号です（rocBLAS の API では 1 大きくなります）:
gemm-launched-section = ライブラリのカタログにある BLAS カーネル:
gemm-launched-row = { $kernel }: ソリューション { $solutions }、{ $leaf }（{ $catalog }）の { $rows } 行が参照
gemm-source-no-catalog = BLAS の行のカーネルは rocBLAS が選びますが、計算に使うカタログがありません（{ $why }）。カタログを取得した後のコマンド: { $command }
gemm-source-open = ツリー内の BLAS 呼び出しのうち { $count } 件は、行列積を決める引数が不明なため、カーネルまで追跡できませんでした
gemm-launched-other = ライブラリは別のカーネルを起動しました: { $kernel }
gemm-page-title = { $target } における { $library } のマクロタイル（K = { $k }）
gemm-page-lead = { $gpu }（{ $target }）、{ $runtime } の { $library }: { $type } { $trans }、K = { $k }。行が M、列が N です。各セルは、その行列積に対してライブラリが選ぶマクロタイルです。
gemm-page-shade = 色が濃いほどタイルが大きくなります。
gemm-page-set = 複数のソリューションから、メモリ上の順序で 1 つが選ばれます
gemm-page-none = ソリューションなし、または rocBLAS 自身の gemv カーネル
gemm-page-unknown = 計算できません
gemm-page-tiles = タイル
gemm-page-count = 行列積の数
gemm-page-written = 書き出しました: { $index }

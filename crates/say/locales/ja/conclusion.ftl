# 結論: 問い、回答、欠落、対象外から作られる (evidence::Conclusion)
conclusion-found = { $unit } { $answered } 件のうち { $count } 件で該当。
conclusion-found-with-gaps = { $unit } { $answered } 件のうち { $count } 件で該当。ほかにもある可能性あり（{ $gaps }）。
conclusion-nothing-whole = { $unit } { $answered } 件すべてを調べ、該当なし。
conclusion-nothing-alone = { $unit } { $answered } 件には該当なし。{ $alone }。
conclusion-nothing-answered = { $unit } { $answered } 件には該当なし。不明: { $gaps }。
conclusion-nothing-unknown = 不明: { $gaps }。
conclusion-same-whole = { $unit } { $answered } 件すべてで同じ。
conclusion-same-alone = { $unit } { $answered } 件で同じ。{ $alone }。
conclusion-same-answered = 結果が得られた { $unit } { $answered } 件では同じ。不明: { $gaps }。
conclusion-same-unknown = 不明: { $gaps }。
conclusion-different = { $unit } { $answered } 件のうち { $count } 件で異なる。
conclusion-different-with-gaps = { $unit } { $answered } 件のうち { $count } 件で異なる。不明: { $gaps }。
conclusion-all-whole = { $unit } { $answered } 件すべて。
conclusion-all-alone = { $unit } { $answered } 件すべて。{ $alone }。
conclusion-all-answered = 結果が得られた { $unit } { $answered } 件すべて。不明: { $gaps }。
conclusion-all-unknown = 不明: { $gaps }。
conclusion-not-all = { $unit } { $answered } 件のうち { $count } 件は該当しない。
conclusion-not-all-with-gaps = { $unit } { $answered } 件のうち { $count } 件は該当しない。不明: { $gaps }。
conclusion-complete-whole = 完全: { $unit } { $answered } 件をすべて確認。
conclusion-complete-alone = { $unit } { $answered } 件。{ $alone }。
conclusion-complete-answered = 不完全: { $gaps }。
conclusion-complete-unknown = 不明: { $gaps }。
conclusion-incomplete = 不完全: { $gaps }。
conclusion-chosen-whole = { $choices }
conclusion-chosen-alone = { $choices }（{ $alone }）
conclusion-chosen-answered = 結果が得られた { $unit } { $answered } 件では { $choices }。不明: { $gaps }
conclusion-chosen-unknown = 不明: { $gaps }

# 全体についての文と、それを裏付ける別の手段
conclusion-agreed = { $text }別の手段でも確認: { $accounts }。
# 数えたのは観測手段だけ
alone-unchecked = { $by } だけの結果で、これですべてかどうかは別の手段で確認していない
alone-blind = { $by } だけの結果で、次のものは観測できない: { $spots }

# 観測手段から見えないもの (evidence::Blind)
blind-named = { $kind }（{ $names }）
blind-direct-calls = 動的リンカーを経由しない呼び出し
blind-processes = アタッチできなかったプロセス
blind-device-launches = カーネルから起動されるカーネル
blind-before = アタッチ前の起動
blind-unknown-bytes = 未知の形式のバイト列
blind-other-files = 指定されなかったファイル
blind-unnamed-code = ファイルに属さないメモリ上のコード
blind-late-registrations = コンストラクター以外で登録されるカーネル
blind-server-cache = ほかのクライアントのプロンプトによるサーバーのキャッシュ
blind-hidden-devices = Linux またはコンテナが隠しているデバイス
blind-other-processes = ほかのコンテナやほかのマシンのプロセス

# 別の手段 (evidence::Witness)
witness-question = 指定された一覧
witness-process-tree = 全プロセスの実行ファイルとライブラリ
witness-byte-map = ファイルの全バイトの内訳
witness-graph-nodes = プログラムが計算したグラフ
witness-server-count = サーバー自身のトークン数
witness-symbol-sizes = シンボルテーブルのサイズ
witness-build-list = ビルドのソース一覧
witness-writer-count = 書き込んだ側が記録した合計
witness-pci-bus = PCI バス（ドライバーの有無を問わない）

answer-yes = はい
answer-no = いいえ
answer-partly = 一部
answer-not-known = 不明

gap-nothing-asked = 調べる対象の指定なし
gap-lost = { $count } 件が欠落
gap-unanswered = { $count } 件は結果なし
gap-named = { $what }（{ $why }）
gap-counted = { $what } の { $count } { $unit }（{ $why }）
gap-more = ほか { $count } 件
gap-rung = 「{ $rung }」の段階（観測なし）
gap-separator = 、

left-out-not-asked = 指定なし
left-out-unreadable = 読み取り不可
left-out-undetermined = 規則では決まらない
left-out-failed = 実行失敗
left-out-refused = システムが拒否
left-out-lost = 欠落
left-out-out-of-view = 観測範囲外
left-out-other-target = このターゲット用のコードがなく、別のターゲットのメタデータで代用
left-out-in-part = 一部のみ観測
left-out-inferred = 推論（直接の観測なし）
left-out-only-told = このファイルの記述だけが根拠で、検証できない
left-out-unsteady = 観測なしの実行どうしでも不一致
left-out-untold = 報告なし
left-out-disagrees = 2 つの手段の件数が不一致
left-out-stopped = 途中で停止
left-out-clock = 時計が戻ったため、日付の順序が不明

unit-bytes = バイト
unit-calls = 呼び出し
unit-cells = セル
unit-claims = 主張
unit-commits = コミット
unit-files = ファイル
unit-instructions = 命令
unit-kernels = カーネル
unit-launches = 起動
unit-libraries = ライブラリ
unit-machines = マシン
unit-observers = 観測手段
unit-points = 項目
unit-probes = プローブ
unit-rows = 行
unit-settings = 設定
gap-list = { $first } ほか { $count } 件

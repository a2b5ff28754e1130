# watch: 実行中プロセスのカーネル起動

watch-phase = フェーズ
watch-kernel = カーネル
watch-family = ファミリー
watch-type = 型
watch-columns = 列数
watch-launches = 起動回数
watch-share = 割合
watch-phase-prefill = プリフィル
watch-phase-decode = デコード
watch-phase-other = その他
watch-per-token = デコードした 1 トークンあたり（{ $tokens } トークン観測）: { $all } 回起動。内訳 { $list }
watch-fallback = 警告: { $phase } でフォールバック: { $kernel }（{ $count } 回）。重みがその型専用のカーネルで乗算されていません
watch-rejected = 拒否された起動（起動には数えません）: { $list }
watch-account = 観測: 起動 { $seen } 回、BLAS 呼び出し { $calls } 回。取りこぼし: { $lost }。名前不明: { $unnamed }。観測時間: { $seconds } 秒
watch-unknown-replays = アタッチ前に作られたグラフの再実行が { $count } 回: 何が起動されたかは分かりません
watch-gap = 視野外: { $what }: { $why }
watch-canary-target = 対象プロセス内のカナリア: { $what }
watch-canary-child = 子プロセスでのカナリア: { $what }。不在の主張は最大でも Limited です
watch-canary-none = カナリアなし: 見えなかったことは何の証拠にもなりません
watch-cost = 1 起動あたりの追加時間（実測）: { $ns } ns
watch-rung-launched = 段: Launched（実デバイス）
watch-rung-selected = 段: Selected（実デバイスなし）
watch-recorded = 観測 { $count } 件を { $place } に記録しました
watch-armed = 観測中です。Ctrl-C で終了し、要約を表示します。
watch-line = { $seconds } 秒: 起動 { $seen } 回、デコード { $tokens } トークン、1 トークンあたり { $each } 回

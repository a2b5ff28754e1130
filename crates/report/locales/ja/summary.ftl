# 動詞なし: 一文の要約
summary-sentence = { $gpu }、{ $server }、{ $path }。次: { $next }
summary-gpu = { $gpus } があり
summary-no-gpu = GPU はなく
summary-server = { $url } の { $server } { $version } が { $models } をロード中で
summary-server-idle = { $url } の { $server } { $version } にモデルはロードされておらず
summary-server-silent = { $server }(pid { $pid })は動いているが応答せず
summary-server-unasked = { $server }(pid { $pid })は動いているが、権限がないため待ち受け先は見えず
summary-no-server = サーバーは動いておらず
summary-path = 台帳によれば { $about } は { $path } です({ $subject }: { $rung }、{ $grade }。実行は観測されていません)
summary-path-live = 台帳によれば { $about } は { $path } です({ $subject }: { $rung }、{ $grade })
summary-no-path = 行列積がどの経路を通るかはまだ台帳にありません
summary-ledger-broken = 台帳を読めません(理由は `whichkernel ledger verify`)

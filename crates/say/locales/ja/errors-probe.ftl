probe-interrupted = シグナルで停止しました
probe-busy = サーバーが混み合っています。{ $status } の応答が { $times } 回続きました（{ $said }）
probe-too-many = リクエストが { $most } 件を超えました
probe-request-lost = リクエストが失われました
probe-unprepared = 準備ができていません
probe-still-loading = llama-server はモデルをロード中です。ロードが終わってから試してください
probe-first-prompt = 最初のプロンプト: { $why }
probe-no-counts = サーバーがプロンプトのトークン数を報告しないため、長さを決められません
probe-no-process = サーバーのプロセスがこのマシンにないため、観測できません
probe-cold-only-ollama = リクエストに応じてモデルをアンロードできるのは Ollama だけです。このサーバーは終了するまでモデルを保持します
probe-few-slots = サーバーが同時に評価するのは { $slots } 件までのため、残りはスロットが空くのを待ちました
probe-missing-unread = 索引にありますが、読めません

# レーン
probe-lane-form = { $text } はレーンではありません。NAME='VARIABLE=VALUE ...' と書いてください。何も設定しないレーンは NAME= とします
probe-lane-twice = { $name } という名前のレーンが 2 つあります。レーンごとに別の名前を付けてください
probe-lane-alone = レーンが 1 つでは比較できません。--lane を 2 つ以上指定してください
probe-lane-port = コマンドでポートが指定されていますが（{ $words }）、レーンごとに別のポートが必要です。そこに {"{"}port{"}"} と書くか、ポートの指定を省いてください
probe-lane-unset = コマンドに {"{"}{ $variable }{"}"} がありますが、レーン { $lane } は { $variable } を設定していません
probe-serving-port = サーバー用のポート
probe-serving-log = サーバーのログ
probe-serving-guard = サーバーのプロセスグループ
probe-serving-no-command = サーバーを起動するコマンドが指定されていません
probe-serving-ended = サーバーが応答の前に終了しました（{ $status }）: { $said }
probe-serving-silent = http://{ $to } から { $seconds } 秒以内に応答がありません。コマンドは {"{"}port{"}"} で待ち受けていますか
probe-serving-no-log = 出力がありません

# 記録
probe-replay-form = リクエストと応答の記録がありません。記録はオブジェクトかリストの形で必要です
probe-replay-too-many = リクエストと応答の記録が多すぎます
probe-replay-empty = リクエストとステータスのそろった記録がありません

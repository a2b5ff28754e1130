why-no-server = このマシンで動作中のサーバーが見つかりません。`whichkernel why URL` でサーバーを、`whichkernel why --model FILE --gpu CARD` でモデルファイルを指定してください
why-several = 複数のサーバーが動作しています。1 つを指定してください: { $list }
why-no-process = プロセス ID { $pid } のサーバーは動作していません
why-typed = { $given } はアドレスではありません。次のコマンドを試してください: { $command }
why-no-name = { $name } という名前のサーバーは動作していません
why-no-answer = { $url } が応答しません: { $why }
why-needs-gpu = { $path } にはカードの指定が必要です: whichkernel why --model { WORD($path) } --gpu rx-9070-xt
why-gpu-needs-model = --gpu には --model FILE が必要です
why-no-such-fix = 対処 { $n } はありません（今回の対処は { $count } 件）。確認するには: whichkernel why
why-fix-no-change = 対処 { $n } はプロセスには適用できません。コマンドを手動で実行してください
why-fix-command = プロセス { $pid } のコマンドラインを読めないため、何も変更していません
why-fix-busy = プロセス { $pid } がリクエストを処理中のため、何も変更していません。処理が終わってから再実行してください
why-fix-no-stop = プロセス { $pid } が { $seconds } 秒以内に停止しなかったため、何も変更していません
why-fix-remote = { $url } はこのマシンのサーバーではないため、何も変更していません
why-fix-user = プロセス { $pid } はユーザー { $user } のものなので、何も変更していません。先頭に sudo -u { $user } を付けて、同じコマンドをそのユーザーとして実行してください
why-undo-none = 有効な対処 { $n } はありません。`whichkernel why --fix 1 --measure --yes` は、速くなった場合に対処を残します
why-undo-gone = 対処 { $n } が起動したプロセス { $pid } は終了しています。取り消すものはありません
why-yes-needs-fix = --yes は --fix N --measure または --undo N の計画を実行します。どちらかを指定してください
why-fix-service-root = サービス { $unit } を再起動できるのは root だけです。何も変更していません。同じコマンドを sudo で実行してください
why-fix-service-process = プロセス { $pid } はサービス { $unit } のメインプロセスではありません（systemd によると { $main }）。何も変更していません
why-fix-service-transient = サービス { $unit } にはユニットファイルがないため（systemd-run で起動）、永続的に変更できません。何も変更していません
why-fix-service-left = { $path } が存在します。{ $unit } の別の測定が実行中か、強制終了されています。何も変更していません。実行中でなければ、このファイルを削除し、systemctl daemon-reload のあとサービスを再起動してください
why-fix-service-home = HOME も XDG_CONFIG_HOME も設定されていないため、ユーザーサービスのディレクトリが不明です。何も変更していません
why-fix-service-words = { $unit } のコマンドラインに、ユニットファイルに書けない文字が含まれています。何も変更していません
why-fix-service-prefix = { $unit } の ExecStart= には特殊な接頭辞があり、コマンドラインを変更すると失われます。何も変更していません
why-fix-service-file = { $path } は以前の対処が書いた内容と異なります。何も変更していません。内容を確認し、削除するか名前を変えてください
why-fix-service-overruled = { $unit } は新しい設定なしで起動しました。EnvironmentFile= など、サービスの別のファイルが優先されています
why-undo-changed = { $path } は対処 { $n } のあとに変更されているため、削除しません。内容を確認してください: systemctl cat { WORD($unit) }

# agent: マシン全体のメトリクス

agent-taken = このマシンでは別のエージェントが動いています。2 つ動かすと、すべてのプローブが二重に設置されます。先に停止してください（systemctl stop whichkernel-agent）
agent-listen = { $address }: { $source }。--listen で別のアドレスを指定してください
agent-refused = 起動を数えられません: { $why }
agent-listening = メトリクス: { $url }
agent-cloned = このマシンの ID は別のハードウェアからコピーされたものです。両方のマシンのメトリクスが混ざります。/etc/machine-id を削除し、systemd-machine-id-setup を実行して再起動してください。ハードウェアを意図して交換した場合は、{ $state }/machine.json を削除してください
agent-identity-unknown = マシンまたはハードウェアの ID を読めませんでした。イメージが複製されていても検出できません
agent-state = { $state }: { $error }。イメージが複製されていても検出できません
agent-failed = 現在、起動を数えていません: { $error }。エージェントは 10 秒後に再試行します
agent-status = 起動 { $launches } 回を計数、欠落 { $lost }、GPU ランタイムを使うプロセス { $processes } 個、観測できなかった事項 { $gaps } 件。全起動を順に見る時間の割合 { $share } %。エージェント: 1 コアの { $cpu } %、{ $memory } MB
agent-not-loopback = { $address } には他のマシンから接続できますが、メトリクスにパスワードはありません。意図している場合は --anywhere を付けてください
agent-budget = --cpu には 1 コアの 0.1～100 パーセントを指定してください

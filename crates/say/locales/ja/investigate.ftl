# investigate
investigate-could-fetch = `{ $command }` で取得して調べられます。
investigate-not-fetched = { $what } を取得できませんでした: { $why }
investigate-size = { $date } の時点で約 { $megabytes } MB
investigate-size-unknown = サイズは索引を読むまで不明
investigate-can-close = ここにないもの: { $what }（{ $size }）。これで未確定の主張 { $count } 件を判定できます。
investigate-did-close = { $what } により、判定できる可能性のあった主張 { $of } 件のうち { $count } 件を判定しました。
investigate-step-source = { $name } のソース（{ $commit }）
investigate-step-debian = Debian の ROCm 版 llama.cpp
investigate-could-not-look = 実行できなかった観測手段: { $who }。{ $first }: { $why }
investigate-begun = { $path } を作成しました。内容を確認してから実行してください: whichkernel investigate { WORD($path) }

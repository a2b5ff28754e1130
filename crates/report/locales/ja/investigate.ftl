# investigate
investigate-looked = 観測: { $list }
investigate-seen = 観測 { $seen } 件、新規 { $new } 件
investigate-blocked = 見られず
investigate-no-observers = このビルドで使える観測手段がありません。
investigate-nothing = このマシンにあるものだけでは、確認も反証もできませんでした。
investigate-open = 未確定: 主張 { $claims } 件、問い { $questions } 件({ $why })
investigate-could-fetch = GPU コードを含むランタイムがここにないため、収録内容と選択は未確定のままです。`{ $command }` で Debian の ROCm 版 llama.cpp(約 125 MB)を取得できます。
investigate-not-fetched = ランタイムを取得できませんでした: { $why }

# investigate
investigate-looked = 観測: { $list }
investigate-seen = 観測 { $seen } 件、新規 { $new } 件
investigate-blocked = 見られず
investigate-no-observers = このビルドで使える観測手段がありません。
investigate-nothing = このマシンにあるものだけでは、確認も反証もできませんでした。
investigate-open = 未確定: 主張 { $claims } 件、問い { $questions } 件({ $why })

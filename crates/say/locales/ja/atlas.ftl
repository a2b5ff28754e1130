# アトラス: 全リリースをまとめて見る。
atlas-evaluated = { $name }({ $at } / { $of }): 評価しました
atlas-done = { $releases } リリースのうち、独自の表を持つのは { $tables } 件です。ほかのリリースでは選択も、それを決める行も変わっていません。今回調べたのは { $looked } 件、評価したのは { $evaluated } 件、ディスパッチャを読めなかったのは { $unreadable } 件です。サイトは { $kilobytes } kB: { $index }
atlas-title = リリースごとに選ばれるカーネル
atlas-target-title = { $target } でリリースごとに選ばれるカーネル
atlas-lead = 全 { $releases } リリース。{ $changed } 件ではいずれかのターゲットと型で経路が変わり、さらに { $lines } 件では決める行の位置だけが動きました。読めなかったのは { $unreadable } 件です。列数は 1 から { $columns } までのすべてを調べました。
atlas-first = 最初のリリース
atlas-back = 全リリース
atlas-column-release = リリース
atlas-column-date = 日付
atlas-column-changed = 経路が変わった型の数(ターゲット別)
atlas-unreadable = 読めなかったリリース
atlas-column-why = 理由
atlas-cannot = これで示せないこと: 段階は Declared のみ。調べたのは 4096 × 4096 の重みとの行列積だけで、そのカーネルがバイナリに含まれること、読み込まれたこと、実行されたことは示しません。

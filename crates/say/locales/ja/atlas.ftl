# アトラス: 全リリースをまとめて見る。
atlas-evaluated = { $name }（{ $at } / { $of }）: 評価しました
atlas-done = { $releases } リリースのうち、独自の表を持つのは { $tables } 件です。ほかは、選択もそれを決める行も以前のリリースと同じです。今回調べたのは { $looked } 件、評価したのは { $evaluated } 件、ディスパッチャーを読めなかったのは { $unreadable } 件です。サイトのサイズは { $kilobytes } kB です: { $index }
atlas-title = リリースごとのカーネルの選択
atlas-target-title = { $target } でのリリースごとのカーネルの選択
atlas-lead = 全 { $releases } リリース。{ $changed } 件で、いずれかのターゲットと型の経路が変わりました。ほかに { $lines } 件で、経路を決める行の位置だけが変わりました。読めなかったのは { $unreadable } 件です。列数は 1 から { $columns } まですべて評価しました。
atlas-launches = 起動形状の変更:
atlas-blocks = ブロック（ワープ数）:
atlas-first = 最初のリリース
atlas-back = 全リリース
atlas-column-release = リリース
atlas-column-date = 日付
atlas-column-changed = 経路が変わった型の数（ターゲット別）
atlas-unreadable = 読めなかったリリース
atlas-column-why = 理由
atlas-cannot = 限界: ここに示すのは、4096x4096 の重みとの行列積についてソースが定める規則です（段階: 宣言）。そのカーネルがバイナリに含まれること、ロードされたこと、実行されたことを示すものではありません。

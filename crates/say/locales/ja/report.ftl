# report: ページ群
report-written = レポート: { $path }（{ $size }）
report-problem = 台帳の一部を読めませんでした。レポートの最初のページにも記載しています: { $what }
report-at = レポート: { $path }
report-not-written = レポートを作成できませんでした: { $why }
report-not-opened = レポートを開けませんでした: { $why }
report-published = ユーザー名、マシン名、ローカルパス、アドレスを置き換えました。人が書いた文章 { $left } 行と、テキスト以外の生の証拠 { $evidence } 件は除きました。公開する前にページの内容を確認してください。
report-published-grades = { $changed } 件の主張は、名前の置き換えまたは証拠の除外により、公開用レポートでは確度が異なります。
report-bundled = バンドル: { $path }（観測 { $observations } 件、生の証拠 { $evidence } 件）。人が書いた文章 { $left } 行と、テキスト以外の証拠 { $evidenceleft } 件は除きました。添付する前に内容を確認してください。
report-serving = 中断するまで配信します（閲覧できるのは、このマシンからこのアドレスを開いた場合だけです）: { $url }
report-launches-unplaced = 起動 { $count } 回は、回数を数えただけで時刻がないため、含まれていません。
report-launches-endless = 合計を記した終端の行がトレースにないため、欠けている起動がある可能性があります。
report-launches-missing = 起動 { $count } 回は、行を読めなかったか記録時に失われたため、含まれていません。
report-writing = レポートを作成しています

# report: ページ群
report-written = 報告: { $path }({ $size })
report-problem = 台帳をすべては読めませんでした。報告の最初のページにそう書いてあります: { $what }
report-at = 報告: { $path }
report-not-written = 報告を書けませんでした: { $why }
report-not-opened = 報告を開けませんでした: { $why }
report-bundled = バンドル: { $path }(観測 { $observations } 件、生の証拠 { $evidence } 件)。人の言葉である { $left } 行と、テキストでない証拠 { $evidenceleft } 件は除きました。添付する前に目を通してください。
report-serving = 中断するまで配信します(この機械の中だけ、このアドレスを知る人だけ): { $url }
report-launches-unplaced = 起動 { $count } 件には時刻がありません。数えられただけで個々には観測されておらず、含まれていません。
report-launches-endless = これで全部かどうかは不明です。何が数えられたかを述べる末尾の行がトレースにありません。
report-launches-missing = 起動 { $count } 件は含まれていません(読めない行、または記録側で失われたもの)。
report-writing = レポートを書き出しています

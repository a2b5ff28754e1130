# report: ページ群
report-written = 報告: { $path }（{ $size }）
report-problem = 台帳をすべては読めませんでした。報告の最初のページにそう書いてあります: { $what }

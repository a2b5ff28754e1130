# 履歴
history-column-date = 日付
history-column-tag = タグ
history-column-commit = コミット
history-column-before = 変更前
history-column-after = 変更後
history-none = { $first } から { $last } まで、選択は変わっていません。両端と、その間でバックエンドに触れるコミット計 { $commits } 件で、それぞれ { $cells } 個のセルを比較しました(評価したのは { $evaluated } 件。ほかは、回答の読み取り元に変更がありません)。
history-some = { $first } から { $last } までに、選択を変えたコミットは { $events } 件です。両端と、その間でバックエンドに触れるコミット計 { $commits } 件で、それぞれ { $cells } 個のセルを比較しました(評価したのは { $evaluated } 件。ほかは、回答の読み取り元に変更がありません)。
history-ends = { $first } と { $last } そのもの:
history-unreadable = { $count } 件のコミットは評価できなかったため、そこでの変更は次のコミットに現れることがあります。{ $commit }: { $why }

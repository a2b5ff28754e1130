# Words that every verb uses
total = 合計
no-table = この結果は表ではないため、text か json だけで出力できます。
schema-name = 名前
schema-about = 内容
schema-unknown = 「{ $name }」という名前の結果はありません。一覧は `whichkernel schema` で見られます。
mcp-not-held = このサーバーの動作を閲覧だけに制限する機能がカーネルにない({ $why })。ツール自体は閲覧しかしない。

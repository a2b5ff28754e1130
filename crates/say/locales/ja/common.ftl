# Words that every verb uses
total = 合計
no-table = この結果は表として出力できません。--format text か json を使ってください。
schema-name = 名前
schema-about = 内容
schema-unknown = 「{ $name }」というスキーマはありません。一覧は `whichkernel schema` で表示できます。
mcp-not-held = このサーバーを Linux カーネルの機能で読み取り専用に制限することはできません（{ $why }）。ただし、ツール自体は読み取りしか行いません。

# Words that every verb uses
total = 合計
no-table = この結果は表ではありません。--format text か json を使ってください。
schema-name = 名前
schema-about = 内容
schema-unknown = 「{ $name }」というスキーマはありません。一覧は `whichkernel schema` で表示できます。
mcp-not-held = Linux カーネルの機能では、このサーバーを読み取り専用に制限できません（{ $why }）。ツール自体は読み取りしか行いません。

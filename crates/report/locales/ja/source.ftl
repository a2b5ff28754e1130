# source
source-preset = { $vendor } ビルド({ $preset }): { $defines }
source-open-define = { $name } が定義されるかどうかはビルドファイルからは分からず、答えが変わるため、該当する行は UNDETERMINED です。-D { $name } または -U { $name } で決めてください。
source-skipped = 対象外: { $what }
source-skipped-more = 対象外: ほか { $count } 件
source-column-gpu = GPU
source-column-type = 型
source-column-columns = 列数
source-column-path = 経路
source-column-variant = タイル
source-column-kernel = カーネル
source-why = { $what } 列での理由:
source-narrow = 条件をここに表示するには GPU、型、列数を絞ってください。--format json にはすべて含まれます。
source-bypass = 融合された演算はこの選択を通りません: { $function } が { $calls }({ $path })を { $at } で直接呼び出します。
source-bypass-switch = 環境変数 { $name } で無効にできます。
source-cannot-show = これは、このビルドについてソースが宣言していること(Declared)です。そのカーネルがバイナリに含まれ、読み込まれ、実行されたことを示すものではありません。
source-recorded = { $count } 件の規則を記録しました(Declared)。

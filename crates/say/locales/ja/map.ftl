# map
map-columns = 列数
map-agreement = ソースとドライランの比較（不一致は「ソース ≠ ドライラン」と表示）: { $what }
map-legend-warps = ·8w: 1 ブロックあたり 8 ワープ（ウェーブ）。
map-declared = 宣言のみ: ソースの規則による選択です。プログラムは実行していません。

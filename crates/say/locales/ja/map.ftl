# map
map-columns = 列数
map-agreement = ソースとドライランの比較（ソース ≠ ドライラン）: { $what }
map-legend-warps = ·8w: 1 ブロックあたり 8 ワープ（ウェーブ）。
map-declared = 宣言のみ: ソースの規則による選択です。プログラムは実行していません。

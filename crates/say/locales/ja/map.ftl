# map
map-columns = 列数
map-agreement = ソースとドライランの比較(ソース ≠ ドライラン): { $what }
map-declared = 宣言のみ: ソースがどれを選ぶか。プログラムは実行していません。

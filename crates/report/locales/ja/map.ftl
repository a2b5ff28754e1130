# map
map-columns = 列数
map-disagreements = ソースとドライランが食い違うセルは { $count } 個です(ソース ≠ ドライラン)。

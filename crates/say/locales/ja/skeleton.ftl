# skeleton: 重みのないモデル
skeleton-written = { $file }: { $shape }、{ $layers } 層、{ $mix }（{ $types }）。中身はすべてゼロで { $megabytes } MiB、ディスク上では { $kilobytes } KiB です。このモデルによる計算結果に意味はありません。
skeleton-shape = 形状
skeleton-architecture = アーキテクチャ
skeleton-layers = 層数
skeleton-width = 幅
skeleton-experts = エキスパート
skeleton-mixes = 型の組み合わせ: { $mixes }。またはすべての行列に同じテンソル型（Q4_K、F16 など）。
skeleton-absent = 次の行列は、最終層にしかないか、どの層にもないため、プロンプトの列数では計算されません: { $list }。--layers で層を増やすと含まれます。

# skeleton: 重みのないモデル
skeleton-written = { $file }: { $shape }、{ $layers } 層、{ $mix }（{ $types }）。内容はすべてゼロの { $megabytes } MiB、ディスク上は { $kilobytes } KiB。これを使った計算結果に意味はありません。
skeleton-shape = 形状
skeleton-architecture = アーキテクチャ
skeleton-layers = 層数
skeleton-width = 幅
skeleton-experts = エキスパート
skeleton-mixes = 型の組み合わせ: { $mixes }。またはすべての行列に同じテンソル型（Q4_K、F16 など）。
skeleton-absent = 最終層だけにあるか、どの層にもないため、プロンプトの列数では計算されない行列: { $list }。--layers で層を増やすと含まれます。

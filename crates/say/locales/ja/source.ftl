# source
source-preset = { $vendor } ビルド（{ $preset }）: { $defines }
source-open-define = { $name } を定義するビルドファイルはなく、その有無によって一部の行の答えが変わります。該当する行は UNDETERMINED です。-D { $name } または -U { $name } で指定してください。
source-open-version = { $name } の値が不明で、その値によって一部の行の答えが変わります。該当する行は UNDETERMINED です。-D { $name }=VALUE で指定してください。
source-assumed = 仮定した値: { $list }。-D NAME=VALUE で変更できます。この値で答えが変わる行は UNDETERMINED です。
source-assumed-fixed = 仮定した値: { $list }。ほかの値は試していません（`source` がほかの値を試すのは、結果が 64 行以下の場合だけです）。-D NAME=VALUE で指定できます。
source-assumed-architectures = 仮定: CUDA ビルドには GPU 自身のアーキテクチャのコードが含まれます。変更するには -D __CUDA_ARCH_LIST__=500,610,... を指定してください。
source-environment = 規則が参照する環境変数: { $list }。--env NAME=VALUE で設定できます。
source-env-unset = { $name }（未設定）
source-skipped = 対象外: { $what }
source-skipped-more = 対象外: ほか { $count } 件
source-column-gpu = GPU
source-column-type = 型
source-column-operation = 演算
source-column-columns = 列数
source-column-path = 経路
source-column-variant = タイル
source-column-kernel = カーネル
source-column-grid = グリッド
source-column-block = ブロック
source-column-warps = ワープ数
source-column-shared = 共有メモリ
source-column-differs = 相違点
source-shape-open = { $part } は { $rows } 行で確定できません: { $why }
source-why = { $what } 列での理由:
source-narrow = 条件をここに表示するには GPU、型、列数を絞ってください。--format json にはすべて含まれます。
source-bypass = 融合された演算はこの選択を通りません: { $function } が { $calls }（{ $path }）を { $at } で直接呼び出します。
source-bypass-switch = 環境変数 { $name } で無効にできます。
source-cannot-show = ここに示すのは、このビルドについてソースが定める規則です（段階: 宣言）。そのカーネルがバイナリに含まれること、ロードされたこと、実行されたことを示すものではありません。
source-recorded = { $count } 件の規則を記録しました（段階: 宣言）。
source-pin-taken = { $tree } を、Ollama のツリーが指定するバージョン { $pin } の時点で使います。
source-pin-other = Ollama のツリーが指定する llama.cpp のバージョンは { $pin } ですが、指定された { $tree } をそのまま使います。
source-vulkan-card = { $given }: このカードの Vulkan プロファイルはありません。対応しているカード: { $known }
source-vulkan-env = { $name }: このツリーの Vulkan バックエンドはこの変数を読みません
source-graph-one-gpu = --graph で扱える GPU は 1 つだけです。--gpu で指定してください
source-graph-nodes = ノード: llama 系モデル用に whichkernel が、llama.cpp（2026 年）のビルダーと同じ順序で構成したものです（1 シーケンス、Flash Attention、全層を GPU、トークン埋め込みはホスト）。各ノードの起動は、ツリー自身のコードが決めます。
source-graph-nodes-tree = ノード: モデルのヘッダーに対してツリー自身のプログラムを評価して構成したものです（1 シーケンス、既定のパラメーター、全層を GPU）。各ノードの起動は、ツリー自身のコードが決めます。
source-graph-memory-tree = メモリ: ツリー自身のアロケーターがテンソルを配置したとおりです。
source-graph-nodes-written = ノード: ファイルから、行の順に読み込んだものです。各ノードの起動は、ツリー自身のコードが決めます。
source-graph-has-its-size = グラフファイルの大きさは固定です。--columns と --kv はモデルにだけ使えます
source-graph-memory = メモリ: テンソルごとに別のメモリを使うと仮定しています。ggml のアロケーターはメモリを共有するため、融合が妨げられることがあります。
source-code-target = --code はこのターゲットに対応していません
source-code-one-gpu = --code には GPU を 1 つだけ指定してください（--gpu）
source-code-none = { $file }: { $target } 用のコードがありません。含まれるのは { $has } です
source-graph-nodes-computed = ノード: 模擬 GPU で実行したプログラムから記録したものです。各ノードの起動は、ツリー自身のコードが決めます。
source-graph-memory-placed = メモリ: プログラムがテンソルに割り当てたとおりです。
source-graph-routing-read = ルーティング: これらのグラフの計算中にプログラムが GPU から読み戻したとおりです。
source-graph-routing-even = ルーティング: 指定に従い、トークンごとに次のエキスパートを順番に割り当てています。
source-graph-routing-first = ルーティング: 指定に従い、各トークンに先頭のエキスパートを割り当てています。
source-graph-evaluation-computed = { $target }、{ $backend } 上: ノード { $nodes } 個、予測した起動 { $launches } 回
source-graph-cut = ファイルのグラフのうち { $count } 個は、計算の途中でプログラムが終了したため不完全です。除外しました
source-graph-more = プログラムは、記録された { $count } 個より多くのグラフを計算しました
source-graph-not-compared = トレースの起動のうち { $count } 回はどの評価にも含まれないため、比較していません
source-graph-evaluation = { $target }、{ $columns } 列、KV キャッシュ { $positions } 位置: ノード { $nodes } 個、予測した起動 { $launches } 回
source-graph-evaluation-written = { $target }: ノード { $nodes } 個、予測した起動 { $launches } 回
source-graph-column-node = ノード
source-graph-column-name = 名前
source-graph-column-operations = 演算
source-graph-column-grid = グリッド
source-graph-column-block = ブロック
source-graph-compared = 観測された起動 { $seen } 回（評価 { $evaluations } 回）の内訳: カーネル・グリッド・ブロックまで予測どおり { $exact } 回、カーネルは予測どおりでテンプレート引数の一部が未確定 { $arguments } 回、カーネルは予測どおりでグリッドが未確定 { $without } 回、予測どおりだがドライバーが拒否 { $refused } 回、予測されたがトレースから欠けている可能性あり { $missing } 回、予測なし { $open } 回、予測と異なる { $different } 回。

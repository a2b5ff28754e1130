dryrun-no-runtime = キャッシュにランタイム `{ $name }` がありません。`whichkernel runtime fetch { WORD($name) }` で取得するか、--runtime DIR でディレクトリを指定してください
dryrun-too-many-devices = カード { $count } 枚は、ドライランで区別できる枚数を超えています。16 枚までにしてください
dryrun-not-a-directory = { $path } はディレクトリではありません
dryrun-no-device-code = { $path } に AMD のデバイスコードを含むライブラリがありません。ドライランには HIP バックエンド（libggml-hip.so など）が必要です。中身は `whichkernel inspect { WORD($path) }` で分かります
dryrun-soname = { $library } は { $soname } を必要としますが、模擬 GPU が置き換えられるのは libamdhip64.so.5、.so.6、.so.7 だけです。ROCm 5、6、7 のランタイムを使ってください
dryrun-no-blas = { $place } に、この BLAS 経路に必要な { $library } がありません。取得方法は `whichkernel runtime fetch debian-sid --help` で確認できます。--blas recorded は呼び出しを記録するだけなので、BLAS ライブラリは不要です
dryrun-no-program = PATH に { $program } がありません
dryrun-static = { $program } は静的にリンクされているため、組み込まれた HIP ランタイムを差し替えられません。libamdhip64.so を動的に読み込むビルドを使ってください
dryrun-loader = { $program } が必要とするローダー { $loader } がありません。別の C ライブラリ用のビルドです。プログラムが属するツリーを --runtime DIR で指定するか、この環境用のビルドを使ってください
dryrun-foreign = { $program } は別のプロセッサ用か、別の形式のプログラムです。ドライランには 64 ビット x86 Linux のプログラムが必要です
dryrun-start = { $program } を起動できませんでした: { $source }。別の C ライブラリ用にビルドされたものなら、そのツリーを --runtime DIR で指定してください
dryrun-no-vulkan-card = { $given } は、Mesa の模擬ドライバーが対応しているカードではありません。対応しているもの: { $known }
dryrun-no-vulkan-tree = { $place } は、RADV と Mesa の模擬ドライバー（mesa-vulkan-drivers、mesa-drm-shim）を含む展開済みシステムではありません。`whichkernel runtime fetch debian-sid --parts tools,vulkan` で取得できます
dryrun-host-no-runtime = ここでは HIP ランタイム（libamdhip64.so.6 または .so.7）をロードできません: { $why }。ROCm の HIP ランタイムをインストールするか、--gpu でカードを選んでください
dryrun-host-no-function = HIP ランタイムに { $why } がありません
dryrun-host-no-device = HIP ランタイムから GPU が見えません（エラー { $value }）。原因は `whichkernel doctor` で確認できます
dryrun-host-profile = デバイス { $device }: { $source }
dryrun-sandbox-not-a-tree = { $path } は完全なシステムのツリーではなく（usr/lib がない）、その中でプログラムを実行できません。プログラムを直接実行してください
dryrun-sandbox-pipe = パイプを作れません: { $error }
dryrun-sandbox-refused = { $step } が拒否されました（{ $source }）: { $advice }
dryrun-sandbox-program = { $program } がツリー { $root } にありません（またはローダーがありません）: { $source }
dryrun-no-program-inside = ランタイムの中に { $program } がありません。プログラムはランタイムの /usr/bin から探します
dryrun-no-device-library = { $runtime } にデバイスコードを含むライブラリがありません
dryrun-sandbox-sysctl = ここでは { $name } が { $forbids } です。`sudo sysctl { WORD($name) }={ WORD($allows) }` で許可できます
dryrun-sandbox-policy = 禁止している sysctl はないため、コンテナかセキュリティポリシーが禁止しています（Docker: --security-opt seccomp=unconfined または --cap-add SYS_ADMIN）
dryrun-sandbox-root = root で実行する方法もあります
dryrun-system = ドライランは { $only }

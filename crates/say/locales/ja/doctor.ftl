# doctor: ここで使える観測手段、使えない手段、その理由と直し方

doctor-title = Linux { $kernel }、{ $user }、ケーパビリティ 41 個中 { $capabilities } 個、{ $container }
doctor-user-root = root
doctor-user-uid = ユーザー { $uid }
doctor-user-unknown = ユーザー不明
doctor-no-container = コンテナなし
doctor-in-container = コンテナ内（{ $kind }）
doctor-maybe-container = コンテナの可能性あり（{ $signs }）

doctor-head-gpus = GPU
doctor-head-observers = 観測手段
doctor-head-servers = サーバー
doctor-head-releases = ROCm のリリース
doctor-head-variables = 環境変数
doctor-head-cases = 要確認
doctor-cases-none = GPU デバイスと、見えているサーバーの環境変数・ライブラリに問題は見つかりませんでした
doctor-fix = 対処
doctor-status-works = 使える
doctor-status-blocked = 不可
doctor-status-absent = なし
doctor-status-untested = 未検証
doctor-weight-problem = 問題
doctor-weight-warning = 警告
doctor-weight-note = 参考

doctor-gpu-amd = { $target }  デバイス { $device }、{ $vram } GiB、演算ユニット { $units }、wavefront { $wavefront }
doctor-gpu-integrated = （内蔵）
doctor-gpu-none = なし: AMD の計算ドライバー（/sys/class/kfd）に GPU がなく、NVIDIA のドライバー（/proc/driver/nvidia）もありません。PCI バスにも AMD や NVIDIA のカードはありません
doctor-gpu-none-alone = 見つかりません: AMD の計算ドライバー（/sys/class/kfd）に GPU がなく、NVIDIA のドライバー（/proc/driver/nvidia）もありません。ここからは PCI バスが見えないため、ドライバーのないカードは検出できません
doctor-gpu-nvidia = NVIDIA ドライバー { $driver }: { $cards }
doctor-gpu-nvidia-unopened = /dev/nvidiactl を開けません
doctor-servers-none = Ollama も llama-server もインストールされていません。見える範囲のプロセスにも、動作中のものはありません
doctor-server-unit = { $path }、ユーザー { $user }
doctor-server-running = { $role }、pid { $pid }: { $libraries }{ $ports }
doctor-server-libraries = ライブラリ { $count } 個をマップ
doctor-server-libraries-unseen = 権限がないためライブラリを確認できません
doctor-server-ports = 、ポート { $ports }
doctor-server-answer = { $url }: { $server } { $version }、ロード済み: { $models }
doctor-server-no-model = モデルなし
doctor-environment-unseen = pid { $pid }: 権限がないため環境変数を読めません
doctor-release = { $version }  { $directory }（{ $shown }）
doctor-release-unknown = リリース番号なし
doctor-recorded = 観測 { $count } 件を { $place } に記録しました
doctor-strict-unseen = /sys がないため何も検査できませんでした。終了コードは 1 です（--strict）
doctor-discovery = { $log }: { $devices }

# 各観測手段の理由
doctor-not-tried = 対象が動作中のマシンではなくディレクトリツリーなので、確認できません。
doctor-used-by = `whichkernel { $verb }` で使います。
doctor-not-yet = これを使うコマンドはまだありません（`{ $verb }` を予定）。
doctor-never-used = 観測対象の動作を乱すため、whichkernel は使いません。
doctor-refused = { $call } は拒否されました: { $error }。
doctor-capabilities = { $call } は拒否されました: { $error }。不足: { $missing }。
doctor-capabilities-uprobe = { $call } は拒否されました: { $error }。不足: { $missing }。自分のプロセスならこの 2 つで足ります。ほかのユーザーのプロセスを観測するには root で実行してください。
doctor-lockdown = { $call } は拒否されました: { $error }。Linux カーネルがロックダウンモード（{ $mode }）です。
doctor-lockdown-fix = ファームウェアで Secure Boot を無効にするか、lockdown= なしで起動する（動作中は解除できない）
doctor-uprobe-works = テスト用の関数に設置した uprobe が、すべての呼び出しを数えました（{ $saw }）。
doctor-uprobe-absent = Linux カーネルに uprobe PMU がありません（{ $what } が見つかりません）。
doctor-uprobe-absent-fix = CONFIG_UPROBE_EVENTS=y と CONFIG_PERF_EVENTS=y でビルドした Linux カーネルで起動する
doctor-container-caps-fix = ホストで doctor を実行するか、コンテナを --cap-add SYS_ADMIN --cap-add PERFMON --cap-add BPF --pid host で起動する
doctor-container-ptrace-fix = コンテナを --cap-add SYS_PTRACE で起動する
doctor-container-userns-fix = コンテナを --security-opt seccomp=unconfined --security-opt apparmor=unconfined で起動する
doctor-bpf-works = 小さなテスト用プログラムをロードできました。
doctor-btf = BTF があります。
doctor-no-btf = BTF（/sys/kernel/btf/vmlinux）はありませんが、uprobe 用のプログラムには不要です。
doctor-tracefs-works = { $place } はマウント済みで、uprobe_events に書き込めます。一度ここでプローブを作れば、以後は root なしで使えます。
doctor-tracefs-unmounted = tracefs がマウントされていません。
doctor-tracefs-readonly = { $place } はマウント済みですが、uprobe_events は読み取り専用です。
doctor-tracefs-denied = { $place } はマウント済みですが、このユーザーは uprobe_events を開けません。
doctor-preload-works = テスト用のプログラムが LD_PRELOAD でライブラリを読み込みました（{ $saw }）。
doctor-preload-setuid = ただし { $path } は set-user-ID のため、ローダーが LD_PRELOAD を無視します。
doctor-preload-static = ただし { $path } は静的リンクのため、LD_PRELOAD は効きません。
doctor-preload-missing = { $what } が見つかりません。glibc のシステムではありません。
doctor-preload-missing-fix = 代わりに uprobe を使う（ローダー不要）
doctor-preload-refused = LD_PRELOAD は効きませんでした: { $error }。
doctor-ptrace-works = テスト用のプロセスが、子ではないプロセスにアタッチできました（ptrace_scope { $scope }）。
doctor-ptrace-works-no-yama = テスト用のプロセスが、子ではないプロセスにアタッチできました。この Linux カーネルに Yama はありません。
doctor-ptrace-scope = 子ではないプロセスへの { $call } は拒否されました: { $error }。kernel.yama.ptrace_scope は { $scope } です。
doctor-ptrace-reboot-fix = /etc/sysctl.d で kernel.yama.ptrace_scope を設定して再起動する（3 は動作中に下げられない）
doctor-ptrace-server = /proc/{ $pid }/mem を開けないため、プロセス { $pid } にアタッチできません。
doctor-maps-works = プロセス { $pid } のライブラリ { $count } 個を確認できます。
doctor-maps-denied = プロセス { $pid } は別のユーザーのものなので、/proc/{ $pid }/maps を読めません。
doctor-no-server = 見える範囲のプロセスに、動作中の Ollama や llama-server はありません。
doctor-install-server-fix = Ollama か llama.cpp をインストールし、もう一度 doctor を実行する
doctor-rocprofv3-absent = rocprofv3 は PATH にも /opt/rocm* にもありません。
doctor-rocprofv3-broken = { $path } は起動しません: { $error }。
doctor-rocprofv3-no-gpu = { $path } は起動しますが、AMD GPU がありません。
doctor-rocprofv3-mixed = { $path } は ROCm { $own } のものですが、{ $others } もインストールされています。2 つのリリースを読み込んだプロセスは異常終了し、このプロファイラーを通して起動したサーバーは CPU で動きます。
doctor-rocprofv3-mixed-fix = サーバーと同じリリースの rocprofv3 を使う
doctor-rocprofv3-untested = { $path } は起動します。サーバーの GPU 検出を妨げるかどうかは確認していません。
doctor-attach-ptrace = ptrace が拒否されるため、--attach は失敗します。
doctor-attach-variable = プロセス { $pid } は ROCP_TOOL_ATTACH=1 なしで起動されたため、--attach は成功したように見えても何も記録しません。
doctor-attach-ready = プロセス { $pid } は ROCP_TOOL_ATTACH=1 を設定して起動されています。
doctor-attach-unseen = 権限がないため、プロセス { $pid } が ROCP_TOOL_ATTACH=1 で起動されたかどうかを確認できません。
doctor-log-absent = { $variable } を参照するライブラリが見つかりません。
doctor-log-absent-fix = ライブラリのディレクトリを LD_LIBRARY_PATH かリンカーのキャッシュに追加し、もう一度 doctor を実行する
doctor-log-unknown = { $library } は { $variable } に対応していません。
doctor-log-untested = { $library } は { $variable } に対応しています。サーバーを起動しての確認は行っていません。
doctor-log-set = プロセス { $pid } には { $variable }={ $value } が設定されています。
doctor-proxy-works = { $url } で { $server } { $version } が応答しました。
doctor-proxy-silent = { $url } からサーバーとしての応答がありません: { $error }。
doctor-dryrun-works = テスト用のプロセスが専用のユーザー名前空間とマウント名前空間を作り、その中で chroot できました。
doctor-dryrun-root = ユーザー名前空間は拒否されますが、なくても chroot できます。
doctor-dryrun-refused = { $call } は拒否されました: { $error }。ユーザー名前空間がないと、展開したランタイムに入れるのは root だけです。

# 環境変数
doctor-env-override = すべての AMD GPU を { $target } に見せかける
doctor-env-rocr-visible = ROCm から見える GPU を限定（番号または UUID。HIP が番号を付ける前に適用）
doctor-env-hip-visible = ROCm から見える GPU のうち、HIP から見えるものを限定
doctor-env-cuda-visible = CUDA から見える GPU を限定（HIP にも有効）
doctor-env-rocblas-layer = rocBLAS のログ: { $layers }。trace では rocBLAS の呼び出しごとに 1 行出力
doctor-env-hipblaslt-mask = hipBLASLt のログ: { $layers }
doctor-env-amd-log = HIP がすべての API 呼び出しと起動をカーネル名とともに記録（低速）
doctor-env-amd-log-low = HIP はエラーと警告だけを記録。起動の記録にはレベル 3 以上が必要
doctor-env-tensile-db = Tensile のデバッグビット。0x8000 で選ばれたカーネルを表示
doctor-env-libpath = カーネルのカタログを、ライブラリ付属の場所ではなくこのディレクトリから読む
doctor-env-kpack-disable = kpack アーカイブのデバイスコードを読み込まない
doctor-env-kpack-path = デバイスコードをこれらの kpack アーカイブだけから探す
doctor-env-kpack-prefix = デバイスコードをまずこれらの kpack アーカイブから探す
doctor-env-use-hipblaslt = rocBLAS が GEMM を hipBLASLt に渡してよいか（1: 可、0: 不可）
doctor-env-ollama-debug = Ollama のログレベル。2 では GPU 検出プロセスの出力も記録
doctor-env-llm-library = Ollama はこのライブラリディレクトリだけを試す
doctor-env-ollama-host = Ollama の待ち受けアドレス
doctor-env-num-parallel = 同時にデコードするリクエスト数（列数が合算される）
doctor-env-flash = Flash Attention の有効・無効
doctor-env-vulkan = Ollama が Vulkan も試す
doctor-env-new-engine = llama.cpp ではなく Ollama 自身のエンジンを使う
doctor-env-no-graphs = 起動をグラフに取り込まない
doctor-env-no-fusion = ggml が演算を融合しない
doctor-env-tool-attach = rocprofv3 --attach でこのプロセスにアタッチ可能
doctor-env-tool-libraries = このプロセスに読み込まれるプロファイラーのライブラリ
doctor-env-preload = すべてのプログラムに読み込まれるライブラリ
doctor-env-library-path = ローダーが最初に探すディレクトリ

# よくある事例
doctor-case-card-no-kfd = AMD のカード（{ $slot } の { $device }、ドライバー { $driver }）は PCI バスにありますが、計算ドライバー（KFD）が認識していません。ROCm のランタイムからは使えません。
doctor-case-card-no-nvidia = NVIDIA のカード（{ $slot } の { $device }、ドライバー { $driver }）は PCI バスにありますが、NVIDIA のドライバーがロードされていません。
doctor-case-kfd-missing = Linux カーネルは GPU を認識していますが、/dev/kfd がありません。ROCm のプログラムは GPU を検出できず、CPU で動きます。
doctor-case-kfd-container-fix = コンテナを --device /dev/kfd --device /dev/dri --group-add render で起動する
doctor-case-kfd-denied = このユーザーは /dev/kfd を開けないため（{ $error }）、このユーザーの ROCm プログラムは GPU を見つけられません。
doctor-case-service-group = サービスを動かしているユーザー { $user } は render グループに入っていません。GPU を開けず、CPU で動きます。
doctor-case-integrated = カード（{ $large }）のほかに内蔵 GPU（{ $small }）があります。ランタイムが別のデバイスとして使うことがあります。
doctor-case-leftovers = 以前のプローブが tracefs に { $count } 個残っています。最初のもの: { $first }
doctor-case-override = { $place } に { $name }={ $value } が設定されています。{ $real } は { $target } として扱われ、{ $target } 用のカーネルが選ばれてロードされます。専用のカーネルがあるカードでは、遅くなるか誤った結果になります。
doctor-case-override-idle = { $place } に { $name }={ $value } が設定されていますが、カードはもともと { $target } なので効果はありません。
doctor-case-override-unreadable = { $place } の { $name }={ $value } は、12.0.1 のようなバージョンの形式ではありません。
doctor-case-hidden = { $place } の { $name }="{ $value }" により、{ $count } 個の GPU がすべて見えなくなっています。
doctor-case-shell-only = { $name }={ $value } はこのシェルでは設定されていますが、{ $server }（pid { $pid }）では設定されていません。サービスはシェルの環境変数を引き継ぎません。
doctor-case-shell-only-fix = このシェルからサーバーを起動するか、サーバー側の設定で環境変数を指定する
doctor-case-forced = { $place } に OLLAMA_LLM_LIBRARY={ $value } が設定されています。Ollama はほかのライブラリを試しません。
doctor-case-forced-missing = { $place } に OLLAMA_LLM_LIBRARY={ $value } が設定されていますが、Ollama にその名前のライブラリディレクトリはなく、GPU が見つかりません。
doctor-case-chatty = プロセス { $pid } は { $name }={ $value } で動いています。呼び出しのたびにログを書くため、動作が遅くなります。
doctor-case-unseen = { $server }（pid { $pid }）は別のユーザーのものです。環境変数、ライブラリ、GPU コンテキストは確認していません。
doctor-case-catalog-missing = { $directory } に、{ $library } の { $target } 用のカーネルがありません（あるもの: { $others }）。最初の GEMM が失敗するか、フォールバックします。
doctor-case-catalog-no-index = { $directory } には { $library } の { $target } 用カーネルがありますが、索引 TensileLibrary_lazy_{ $target }.dat がないため、ライブラリから使えません。
doctor-case-catalog-fix = 同じリリースの、このターゲット用のパッケージか、このターゲットに対応したランタイムをインストールする（含まれるターゲットは `whichkernel inspect DIR` で確認できる）
doctor-case-generic-code = { $library } には { $target } 専用のコードがないため、{ $taken } 用のコードが使われます。
doctor-case-no-code = { $library } には { $target } 用のデバイスコードがありません（あるもの: { $others }）。カーネルの起動は "no kernel image is available" で失敗します。
doctor-case-no-code-fix = このターゲット用のコードを含むビルドを使う（含まれるターゲットは `whichkernel inspect LIBRARY` で確認できる）
doctor-case-kpack-missing = { $library } のデバイスコードは別の kpack アーカイブに分かれていますが、{ $paths } に { $target } 用のものがありません（あるもの: { $others }）。カーネルを読み込めません。
doctor-case-kpack-none = { $library } のデバイスコードは別の kpack アーカイブに分かれていますが、{ $paths } にアーカイブがありません。どの GPU でもカーネルを読み込めません。
doctor-case-kpack-fix = このターゲット用の .kpack アーカイブを含む、同じリリースのパッケージをインストールする（検索パスは `whichkernel inspect LIBRARY` で確認できる）
doctor-case-kpack-disabled = ROCM_KPACK_DISABLE が設定されているため（{ $place }）、kpack アーカイブにある { $library } のデバイスコードは読み込まれません。
doctor-case-mixed-process = { $server }（pid { $pid }）は、ROCm { $releases } のライブラリを 1 つのプロセスに読み込んでいます。異常終了するか、GPU が見つからないおそれがあります。
doctor-case-mixed-process-fix = サーバーの LD_LIBRARY_PATH と LD_PRELOAD を解除し、付属のライブラリだけが見つかるようにする
doctor-case-mixed-host = 複数の ROCm リリースがインストールされています（{ $places }）。単独では問題ありませんが、別のリリースのプロファイラーを通して起動したサーバーは異常終了します。
doctor-case-mixed-host-fix = サーバーと同じリリースのプロファイラーを使い、LD_LIBRARY_PATH にほかのリリースを入れない
doctor-case-on-cpu = { $server }（pid { $pid }）は GPU のライブラリも GPU コンテキストも持っておらず、CPU で動いています。`ollama ps` の "100% GPU" は配置の計画であり、実測ではありません。
doctor-case-discovery-timeout = { $log }: GPU の検出がタイムアウトしました（{ $error }）。制限はライブラリディレクトリごとに 30 秒で、時間内に終わらないかクラッシュすると、Ollama は GPU を除外し、モデルを CPU で動かします。
doctor-case-discovery-failure = { $log }: GPU の検出に失敗しました（{ $error }）。Ollama は GPU を除外し、モデルを CPU で動かします。
doctor-case-discovery-cpu = { $log }: このマシンには GPU がありますが、Ollama は検出できませんでした。
doctor-case-discovery-dropped = { $log }: Ollama はデバイス { $device } を検出しましたが、2 回目の確認で初期化が完了しなかったため除外しました。
doctor-case-offloaded = { $log }: { $offloaded }。残りの層は CPU で動きます。
doctor-case-offloaded-fix = すべての層が収まるように、モデルを小さくするか、コンテキスト（num_ctx）を短くするか、並列リクエスト数を減らす

doctor-undo = 元に戻す
doctor-no-processes = ディレクトリツリーにはプロセスがないため、確認していません。
doctor-servers-none-tree = このディレクトリツリーに Ollama も llama-server もインストールされていません。そのマシンで動いているかどうかは、ファイルからは分かりません
doctor-title-tree = ディレクトリツリー、Linux { $kernel }: ファイルだけを調べた結果です。動作の確認はしておらず、実行中のプログラムは見えません
doctor-unset-process-fix = プロセス { $pid } を終了し、{ $name } を設定せずに起動し直す（プロセスは起動時の変数を保持する）
doctor-log-restart-fix = サーバーを停止し、{"`"}{ $variable }={ $value } { $server }{"`"} で起動し直す（別にもう 1 つ起動しても、リクエストは元のサーバーが処理する）
doctor-debug-fix = サーバーを停止し、{"`"}OLLAMA_DEBUG=2 ollama serve{"`"} で起動し直す（GPU 検出の出力がログに残る）
doctor-start-llama-fix = { $path } にモデルを指定して（-m）起動する
doctor-rocprofv3-unregistered = { $path } はインストールされていますが、{ $library } は rocprofiler-register なしでビルドされています。これを使うプロセスはプロファイラーから見えず、トレースはエラーもなく空のままになります。
doctor-rocprofv3-unregistered-fix = rocprofiler-register 対応の ROCr（AMD 公式パッケージ）か、whichkernel watch を使う
doctor-case-wsl = WSL です。プログラムは /dev/dxg を通して GPU を使います。/dev/kfd とトポロジーがないため、doctor は GPU のターゲットを確認できません。
doctor-case-wsl-fix = カードは Windows 側で確認する。ROCm は WSL 用のビルドを使う
doctor-case-amdgpu-loaded-fix = amdgpu はロード済み。計算機能が使えない理由（カードに対して Linux カーネルが古い、HSA_AMD なしでビルドされているなど）は {"`"}sudo dmesg | grep -iE "amdgpu|kfd"{"`"} で確認できる
doctor-case-nvidia-loaded-fix = モジュールはロード済み。ドライバーが応答しない理由は {"`"}sudo dmesg | grep -i nvidia{"`"} で確認できる
doctor-case-container-no-gpu = このコンテナ（{ $kind }）には ROCm のライブラリがありますが、GPU が渡されていません（/dev/kfd もトポロジーもありません）。中のプログラムは CPU で動きます。
doctor-case-override-nowhere = { $place } に { $name }={ $value } が設定されていますが、その番号のノードは GPU ではないため効果はありません（GPU はノード { $nodes }）。
doctor-strict = 問題が { $count } 件あるため、終了コードは 1 です（--strict）
doctor-gpu-unseen = 不明: /sys がありません
doctor-env-vk-visible = ggml が使う Vulkan デバイスを限定: { $value }
doctor-env-vk-drivers = ローダーが開く Vulkan ドライバーを限定: { $value }
doctor-env-vk-layers = すべてのプログラムに読み込む Vulkan レイヤー: { $value }
doctor-case-vulkan-llvmpipe = { $server }（pid { $pid }）がロードしている Vulkan ドライバーは、CPU で計算する lavapipe（llvmpipe）だけです。
doctor-case-vulkan-no-loader = Vulkan を使う設定ですが、ローダー（libvulkan.so.1）がありません。プログラムは警告なしに CPU で動きます。
doctor-case-vulkan-no-driver = Vulkan を使う設定ですが、ドライバーが登録されていません（/usr/share/vulkan/icd.d にも /etc/vulkan/icd.d にもマニフェストがありません）。
doctor-case-vulkan-only-llvmpipe = 登録されている Vulkan ドライバーは、CPU で動く lavapipe（llvmpipe）だけです。GGML_VK_VISIBLE_DEVICES で選ばない限り、ggml はこれを使わず CPU バックエンドで計算します。
doctor-case-vulkan-old = { $manifest } は Vulkan { $api } の RADV です。Mesa 26.2.6 の RADV は Vulkan 1.4 で、{ $target } の行列演算器に対応しています。この古いバージョンがカードと行列演算器に対応しているかどうかは不明です。
doctor-case-vulkan-denied = { $node } を開けず（{ $error }）、ほかのレンダーノードも開けません。Vulkan ドライバーはカードを見つけられず、プログラムは警告なしに CPU で動きます。
doctor-case-vulkan-no-matrices = GGML_VK_DISABLE_COOPMAT={ $value }（{ $place }）: ggml の Vulkan バックエンドは行列演算器を使いません。
doctor-case-vulkan-missing = { $manifest } が指定する Vulkan ドライバーがありません: { $library }
doctor-case-vulkan-hidden = GGML_VK_VISIBLE_DEVICES={ $value }（{ $place }）: ggml に見える Vulkan デバイスはこれだけです。
doctor-case-vulkan-hidden-all = GGML_VK_VISIBLE_DEVICES が空の値に設定されているため（{ $place }）、ggml から Vulkan デバイスが見えません。
doctor-case-vulkan-off = OLLAMA_VULKAN={ $value }（{ $place }）: Ollama は Vulkan を試しません。
doctor-case-vulkan-driver-fix = ディストリビューションの最新の Vulkan ドライバー（Debian、Ubuntu では mesa-vulkan-drivers）をインストールし、もう一度 doctor を実行する
doctor-case-vulkan-loader-fix = Vulkan ローダー（Debian、Ubuntu では libvulkan1）をインストールし、サーバーを再起動する
doctor-answer-key = サーバーが API キーを要求しています
doctor-answer-unknown = HTTP で応答しますが、既知のサーバーではありません
doctor-trial-counted = { $calls } 回の呼び出しのうち { $seen } 回しか数えられませんでした
doctor-trial-exit = プログラムが失敗しました（{ $status }）
doctor-trial-no-answer = { $seconds } 秒以内に応答がありませんでした
doctor-trial-no-mapping = テスト用の関数を含むマッピングがありません
doctor-trial-preload-always = LD_PRELOAD がなくても子プロセスに { $name } があります
doctor-trial-preload-unmapped = 子プロセスが { $name } を読み込みませんでした

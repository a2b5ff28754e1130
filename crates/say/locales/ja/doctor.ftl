# doctor: ここで使える観測手段、使えない手段、その理由と直し方

doctor-title = Linux { $kernel }、{ $user }、ケーパビリティ 41 個中 { $capabilities } 個、{ $container }
doctor-user-root = root
doctor-user-uid = ユーザー { $uid }
doctor-user-unknown = ユーザー不明
doctor-no-container = コンテナなし
doctor-in-container = コンテナ内({ $kind })
doctor-maybe-container = コンテナとは断定できず(痕跡: { $signs })

doctor-head-gpus = GPU
doctor-head-observers = 観測手段
doctor-head-servers = サーバー
doctor-head-releases = ROCm のリリース
doctor-head-variables = 環境変数
doctor-head-cases = 注意すべき点
doctor-cases-none = カーネルが見せるデバイスと、doctor から見えるサーバーの変数とライブラリには該当なし
doctor-fix = 対処
doctor-status-works = 使える
doctor-status-blocked = 不可
doctor-status-absent = なし
doctor-status-untested = 未検証
doctor-weight-problem = 問題
doctor-weight-warning = 警告
doctor-weight-note = 参考

doctor-gpu-amd = { $target }  デバイス { $device }、{ $vram } GiB、演算ユニット { $units }、wavefront { $wavefront }
doctor-gpu-integrated = (内蔵)
doctor-gpu-none = なし: カーネルの計算ドライバーに AMD GPU は見えず(/sys/class/kfd)、NVIDIA のドライバーもなく(/proc/driver/nvidia)、PCI バスにもどちらのカードもありません
doctor-gpu-none-alone = 見つからず: カーネルの計算ドライバーに AMD GPU は見えず(/sys/class/kfd)、NVIDIA のドライバーもありません(/proc/driver/nvidia)。ここでは PCI バスが見えないため、ドライバーのないカードは分かりません
doctor-gpu-nvidia = NVIDIA ドライバー { $driver }: { $cards }
doctor-gpu-nvidia-unopened = /dev/nvidiactl を開けません
doctor-servers-none = Ollama も llama-server も見つからず、ここから見えるプロセスでは動いていません
doctor-server-unit = { $path }、ユーザー { $user }
doctor-server-running = { $role }、pid { $pid }: { $libraries }{ $ports }
doctor-server-libraries = ライブラリ { $count } 個をマップ
doctor-server-libraries-unseen = 権限がないためライブラリは見えません
doctor-server-ports = 、ポート { $ports }
doctor-server-answer = { $url }: { $server } { $version }、ロード済み: { $models }
doctor-server-no-model = モデルなし
doctor-environment-unseen = pid { $pid }: 権限がないため環境変数は読めません
doctor-release = { $version }  { $directory }({ $shown })
doctor-release-unknown = リリース番号なし
doctor-recorded = 観測 { $count } 件を { $place } に記録しました
doctor-strict-unseen = /sys がないため何も確認できませんでした: 終了ステータス 1 (--strict)
doctor-discovery = { $log }: { $devices }

# 各観測手段の理由
doctor-not-tried = ファイルツリーに対しては何も試せません。
doctor-used-by = `whichkernel { $verb }` が使います。
doctor-not-yet = whichkernel にはまだこれを使う動詞がありません(`{ $verb }` を予定)。
doctor-never-used = 対象を乱すため、whichkernel 自身は使いません。
doctor-refused = { $call } は拒否されました: { $error }。
doctor-capabilities = { $call } は拒否されました: { $error }。不足: { $missing }。
doctor-capabilities-uprobe = { $call } は拒否されました: { $error }。不足: { $missing }。自分のプロセスにはこの 2 つで足ります。他のユーザーのプロセスには root で実行してください。
doctor-lockdown = { $call } は拒否されました: { $error }。カーネルがロックダウン中です({ $mode })。
doctor-lockdown-fix = ファームウェアで Secure Boot を切るか、lockdown= なしで起動する(動作中には解除できない)
doctor-uprobe-works = 自分の関数に置いた uprobe が全呼び出しを数えました({ $saw })。
doctor-uprobe-absent = このカーネルには uprobe PMU がありません({ $what } がない)。
doctor-uprobe-absent-fix = CONFIG_UPROBE_EVENTS=y と CONFIG_PERF_EVENTS=y のカーネルで起動する
doctor-container-caps-fix = ホスト側で実行するか、コンテナを --cap-add SYS_ADMIN --cap-add PERFMON --cap-add BPF --pid host で起動する
doctor-container-ptrace-fix = コンテナを --cap-add SYS_PTRACE で起動する
doctor-container-userns-fix = コンテナを --security-opt seccomp=unconfined --security-opt apparmor=unconfined で起動する
doctor-bpf-works = 小さなプログラムをロードできました。
doctor-btf = BTF はあります。
doctor-no-btf = BTF はありません(/sys/kernel/btf/vmlinux)。単純な uprobe 用プログラムには不要です。
doctor-tracefs-works = { $place } はマウント済みで、uprobe_events に書き込めます。ここで一度プローブを作れば、以後は root なしで使えます。
doctor-tracefs-unmounted = tracefs がマウントされていません。
doctor-tracefs-readonly = { $place } はマウント済みですが、uprobe_events は読み取り専用です。
doctor-tracefs-denied = { $place } はマウント済みですが、uprobe_events を開けません。
doctor-preload-works = 子プロセスが、本来使わないライブラリをマップしました({ $saw })。
doctor-preload-setuid = ただし { $path } は set-user-ID なので、ローダーは LD_PRELOAD を無視します。
doctor-preload-static = ただし { $path } は静的リンクなので、ローダーが動きません。
doctor-preload-missing = { $what } が見つかりません。glibc のシステムではありません。
doctor-preload-missing-fix = 代わりに uprobe を使う(ローダー不要)
doctor-preload-refused = LD_PRELOAD は効きませんでした: { $error }。
doctor-ptrace-works = 自分のプロセスが、子ではない別プロセスを seize できました(ptrace_scope { $scope })。
doctor-ptrace-works-no-yama = 自分のプロセスが、子ではない別プロセスを seize できました。このカーネルに Yama はありません。
doctor-ptrace-scope = 子ではないプロセスへの { $call } は拒否されました: { $error }。kernel.yama.ptrace_scope は { $scope } です。
doctor-ptrace-reboot-fix = ptrace_scope 3 は再起動まで下げられない。/etc/sysctl.d で kernel.yama.ptrace_scope を設定する
doctor-ptrace-server = プロセス { $pid } にはアタッチできません(/proc/{ $pid }/mem を開けない)。
doctor-maps-works = プロセス { $pid } のライブラリ { $count } 個が見えます。
doctor-maps-denied = /proc/{ $pid }/maps は別ユーザーのものです。
doctor-no-server = ここから見えるプロセスに Ollama も llama-server もありません。
doctor-install-server-fix = Ollama か llama.cpp を入れてから、もう一度 doctor を実行する
doctor-rocprofv3-absent = rocprofv3 は PATH にも /opt/rocm* にもありません。
doctor-rocprofv3-broken = { $path } は起動しません: { $error }。
doctor-rocprofv3-no-gpu = { $path } は起動しますが、AMD GPU がありません。
doctor-rocprofv3-mixed = { $path } は ROCm { $own } のものですが、{ $others } も入っています。1 つのプロセスに 2 つのリリースが入ると異常終了し、そうして包まれたサーバーは CPU に落ちます。
doctor-rocprofv3-mixed-fix = サーバーと同じリリースの rocprofv3 を使う
doctor-rocprofv3-untested = { $path } は起動します。サーバーの GPU 検出を壊さないかどうかは試していません。
doctor-attach-ptrace = ptrace が拒否されるので --attach は失敗します。
doctor-attach-variable = プロセス { $pid } は ROCP_TOOL_ATTACH=1 なしで起動されたため、--attach は成功と表示しながら何も記録しません。
doctor-attach-ready = プロセス { $pid } は ROCP_TOOL_ATTACH=1 付きで起動されています。
doctor-attach-unseen = プロセス { $pid } が ROCP_TOOL_ATTACH=1 付きかどうかは、権限がないため見えません。
doctor-log-absent = { $variable } を読むライブラリはここにありません。
doctor-log-absent-fix = そのディレクトリを LD_LIBRARY_PATH かリンカーのキャッシュに加えて、もう一度 doctor を実行する
doctor-log-unknown = { $library } は { $variable } を知りません。
doctor-log-untested = { $library } は { $variable } を知っています。この検査のためにサーバーを起動してはいません。
doctor-log-set = プロセス { $pid } には { $variable }={ $value } が設定されています。
doctor-proxy-works = { $url } で { $server } { $version } が応答しました。
doctor-proxy-silent = { $url } はサーバーとして応答しません: { $error }。
doctor-dryrun-works = 子プロセスが独自のユーザー名前空間とマウント名前空間を得て、その中で chroot できました。
doctor-dryrun-root = ユーザー名前空間は拒否されますが、それなしで chroot できます。
doctor-dryrun-refused = { $call } は拒否されました: { $error }。ユーザー名前空間がないと、展開したランタイムに入れるのは root だけです。

# 環境変数
doctor-env-override = すべての AMD GPU を { $target } に見せかける
doctor-env-rocr-visible = ROCm ランタイムが見せる GPU を限る(番号または UUID、HIP より先に効く)
doctor-env-hip-visible = ROCm が見せた GPU のうち HIP が見せるものを限る
doctor-env-cuda-visible = CUDA が見せる GPU を限る(HIP も従う)
doctor-env-rocblas-layer = rocBLAS のログ: { $layers }。trace が入っていれば rocBLAS の呼び出しごとに 1 行出る
doctor-env-hipblaslt-mask = hipBLASLt のログ: { $layers }
doctor-env-amd-log = HIP が全 API 呼び出しと、起動ごとの kernel 名を書き出す(遅くなる)
doctor-env-amd-log-low = HIP はエラーと警告だけを書く。起動が出るのはレベル 3 から
doctor-env-tensile-db = Tensile のデバッグビット。0x8000 で選ばれた kernel を表示
doctor-env-libpath = kernel カタログをライブラリ付属の場所ではなくここから読む
doctor-env-kpack-disable = kpack アーカイブにあるデバイスコードを一切読み込まない
doctor-env-kpack-path = デバイスコードをこの kpack アーカイブだけから探す
doctor-env-kpack-prefix = デバイスコードをまずこの kpack アーカイブから探す
doctor-env-use-hipblaslt = rocBLAS が GEMM を hipBLASLt に渡してよい(1)か、いけない(0)か
doctor-env-ollama-debug = Ollama のログレベル。2 で検出用の子プロセスの出力も残る
doctor-env-llm-library = Ollama はこのライブラリディレクトリだけを試す
doctor-env-ollama-host = Ollama の待ち受け先
doctor-env-num-parallel = 同時にデコードできる要求の数(列数が足し合わされる)
doctor-env-flash = Flash Attention の有無
doctor-env-vulkan = Ollama が Vulkan も試す
doctor-env-new-engine = llama.cpp ではなく Ollama 自身のエンジンを使う
doctor-env-no-graphs = 起動をグラフに取り込まない
doctor-env-no-fusion = ggml が演算を融合しない
doctor-env-tool-attach = rocprofv3 --attach がこのプロセスに入れる
doctor-env-tool-libraries = プロファイラーのライブラリがこのプロセスに入る
doctor-env-preload = これらのライブラリが全プログラムに入る
doctor-env-library-path = ライブラリを最初にここで探す

# よくある事例
doctor-case-card-no-kfd = AMD のカード({ $slot } の { $device }、ドライバー { $driver })はバス上にありますが、計算ドライバーが認識していません。どのランタイムからも見つかりません。
doctor-case-card-no-nvidia = NVIDIA のカード({ $slot } の { $device }、ドライバー { $driver })はバス上にありますが、NVIDIA のドライバーがロードされていません。
doctor-case-kfd-missing = カーネルは GPU を認識していますが、/dev/kfd がありません。ROCm のプログラムには GPU が見えず、CPU に落ちます。
doctor-case-kfd-container-fix = コンテナを --device /dev/kfd --device /dev/dri --group-add render で起動する
doctor-case-kfd-denied = このユーザーは /dev/kfd を開けません({ $error })。このユーザーの ROCm プログラムには GPU が見えません。
doctor-case-service-group = サービスは { $user } で動いていますが、render グループに入っていません。GPU を開けず、CPU で計算します。
doctor-case-integrated = カード({ $large })のほかに内蔵 GPU({ $small })があります。ランタイムが別のデバイスとして数えることがあります。
doctor-case-leftovers = whichkernel のプローブが tracefs に残っています({ $count } 個)。最初のもの: { $first }
doctor-case-override = { $place } に { $name }={ $value } があります。ここの { $real } は { $target } とみなされ、{ $target } の kernel が選ばれてロードされます。自前の kernel があるカードでは遅くなるか、誤動作します。
doctor-case-override-idle = { $place } に { $name }={ $value } がありますが、カードはもともと { $target } です。
doctor-case-override-unreadable = { $place } の { $name }={ $value } は 12.0.1 のような版の形になっていません。
doctor-case-hidden = { $place } の { $name }="{ $value }" が GPU { $count } 個をすべて隠しています。
doctor-case-shell-only = { $name }={ $value } はこのシェルにありますが、{ $server }(pid { $pid })にはありません。シェルで export しても、サービスには届きません。
doctor-case-shell-only-fix = このシェルからサーバーを起動するか、起動する側で変数を設定する
doctor-case-forced = { $place } に OLLAMA_LLM_LIBRARY={ $value } があり、ほかのライブラリは試されません。
doctor-case-forced-missing = { $place } に OLLAMA_LLM_LIBRARY={ $value } がありますが、そのディレクトリは Ollama にありません。GPU は見つかりません。
doctor-case-chatty = プロセス { $pid } は { $name }={ $value } で動いています。呼び出しごとに 1 行書くので、その分遅くなります。
doctor-case-unseen = { $server }(pid { $pid })は別ユーザーのものです。環境変数もライブラリも GPU コンテキストも見えないので、それらについては何も言えません。
doctor-case-catalog-missing = { $directory } の { $library } に { $target } 向けの kernel がありません(あるもの: { $others })。最初の GEMM で失敗するか、別経路に落ちます。
doctor-case-catalog-no-index = { $directory } の { $library } には { $target } 向けの kernel がありますが、索引 TensileLibrary_lazy_{ $target }.dat がないため見つけられません。
doctor-case-catalog-fix = このターゲットを含むパッケージか、別のランタイムを入れる(`whichkernel inspect DIR` で中身を確認できる)
doctor-case-generic-code = { $library } に { $target } 専用のコードはなく、{ $taken } 向けのものが使われます。
doctor-case-no-code = { $library } に { $target } 向けのデバイスコードがありません(あるもの: { $others })。起動は "no kernel image is available" で失敗します。
doctor-case-no-code-fix = このターゲット向けのコードを含むビルドを使う(`whichkernel inspect ライブラリ` で中身を確認できる)
doctor-case-kpack-missing = { $library } のデバイスコードは別ファイル(kpack)に分離されていますが、{ $target } 向けのアーカイブが { $paths } にありません(あるもの: { $others })。kernel は見つかりません。
doctor-case-kpack-none = { $library } のデバイスコードは別ファイル(kpack)に分離されていますが、{ $paths } にアーカイブがありません。どの GPU 向けの kernel もない状態です。
doctor-case-kpack-fix = 同じリリースの、このターゲット向けアーカイブ(.kpack)を含むパッケージを入れる(`whichkernel inspect ライブラリ` で探す場所が分かる)
doctor-case-kpack-disabled = ROCM_KPACK_DISABLE が設定されているため({ $place })、アーカイブにある { $library } のデバイスコードは読み込まれません。
doctor-case-mixed-process = { $server }(pid { $pid })の中に ROCm { $releases } のライブラリが混在しています。異常終了するか、GPU が見つからなくなります。
doctor-case-mixed-process-fix = サーバーの LD_LIBRARY_PATH と LD_PRELOAD を空にして、付属のライブラリだけが見つかるようにする
doctor-case-mixed-host = 複数の ROCm リリースがあります({ $places })。単独では問題ありませんが、別リリースのプロファイラーでサーバーを包むと異常終了します。
doctor-case-mixed-host-fix = サーバーと同じリリースのプロファイラーを使い、LD_LIBRARY_PATH に別リリースを入れない
doctor-case-on-cpu = { $server }(pid { $pid })には GPU のライブラリも GPU コンテキストもありません。CPU で計算しています。`ollama ps` の "100% GPU" は予定であり、実際ではありません。
doctor-case-discovery-timeout = { $log }: GPU の検出が打ち切られました({ $error })。ライブラリディレクトリごとの制限は 30 秒で、その間に終わらないか落ちると GPU は外され、モデルは CPU で動きます。
doctor-case-discovery-failure = { $log }: GPU の検出に失敗しました({ $error })。GPU は外され、モデルは CPU で動きます。
doctor-case-discovery-cpu = { $log }: GPU があるのに、Ollama は見つけていません。
doctor-case-discovery-dropped = { $log }: デバイス { $device } は一度見つかりましたが、2 回目の確認で初期化が終わらず外されました。
doctor-case-offloaded = { $log }: { $offloaded }。残りの層は CPU で動きます。
doctor-case-offloaded-fix = 小さいモデル、短いコンテキスト(num_ctx)、少ない並列数にすれば全層が載る

doctor-undo = 元に戻す
doctor-no-processes = ファイルのツリーにプロセスはありません。プロセスについては何も述べません。
doctor-servers-none-tree = このツリーに Ollama も llama-server も入っていません。そのマシンで動いているかどうかはファイルからは分かりません
doctor-title-tree = ファイルのツリー、Linux { $kernel }: そのマシンでの試行と実行中のものは、ここからは見えません
doctor-unset-process-fix = プロセス { $pid } を終了し、{ $name } が設定されていないところから起動し直してください。プロセスは起動時の値を持ち続けます
doctor-log-restart-fix = サーバーを終了し、{"`"}{ $variable }={ $value } { $server }{"`"} として起動し直してください。並べて起動した二つ目は、実際に応答しているサーバーではありません
doctor-debug-fix = サーバーを終了し、{"`"}OLLAMA_DEBUG=2 ollama serve{"`"} として起動し直してください。検出用の子プロセスの出力がログに残ります
doctor-start-llama-fix = { $path } をモデルを指定して(-m)起動してください
doctor-rocprofv3-unregistered = { $path } はありますが、{ $library } は rocprofiler-register なしでビルドされています。プロファイラーにプロセスを知らせないため、エラーなしに空のトレースになります。
doctor-rocprofv3-unregistered-fix = rocprofiler-register 付きの ROCr(AMD 公式パッケージ)か、whichkernel watch を使ってください
doctor-case-wsl = Windows の中の Linux(WSL)です。GPU は /dev/dxg を通して使われます。/dev/kfd もトポロジーもないため、ターゲットはここでは読めません。
doctor-case-wsl-fix = カードは Windows 側で確認してください。ROCm は WSL 用のビルドが必要です
doctor-case-amdgpu-loaded-fix = amdgpu はすでにロード済みです。{"`"}sudo dmesg | grep -iE "amdgpu|kfd"{"`"} に、計算機能がない理由(カードに対してカーネルが古い、または HSA_AMD なしのビルド)が出ます
doctor-case-nvidia-loaded-fix = モジュールはすでにロード済みです。{"`"}sudo dmesg | grep -i nvidia{"`"} に、ドライバーが応答しない理由が出ます
doctor-case-container-no-gpu = このコンテナー({ $kind })には ROCm のライブラリがありますが、GPU が渡されていません(/dev/kfd もトポロジーもなし)。中の計算はすべて CPU で行われます。
doctor-case-override-nowhere = { $place } に { $name }={ $value } がありますが、トポロジーのその番号のノードは GPU ではありません(GPU はノード { $nodes })。効果はありません。
doctor-strict = 問題が { $count } 件あるため、終了コードは 1 です(--strict)
doctor-gpu-unseen = 不明: 調べるべき /sys がここにありません
doctor-env-vk-visible = ggml が使う Vulkan デバイスはこれだけ: { $value }
doctor-env-vk-drivers = ローダーが開く Vulkan ドライバーはこれだけ: { $value }
doctor-env-vk-layers = すべてのプログラムに付く Vulkan レイヤー: { $value }
doctor-case-vulkan-llvmpipe = { $server }(pid { $pid })がロードしている Vulkan ドライバーは、CPU で計算する lavapipe(llvmpipe)だけです。
doctor-case-vulkan-no-loader = Vulkan を使う設定ですが、ローダー(libvulkan.so.1)がありません。プログラムは何も言わずに CPU で計算します。
doctor-case-vulkan-no-driver = Vulkan を使う設定ですが、ドライバーが登録されていません(/usr/share/vulkan/icd.d にも /etc/vulkan/icd.d にもマニフェストがありません)。
doctor-case-vulkan-only-llvmpipe = 登録されている Vulkan ドライバーは、CPU で計算する lavapipe(llvmpipe)だけです。ggml はこれを外して CPU で計算するか、GGML_VK_VISIBLE_DEVICES に従って使います。
doctor-case-vulkan-old = { $manifest } は Vulkan { $api } の RADV です。Mesa 26.2.6 の RADV は 1.4 で、{ $target } の行列ユニットを使えます。この古い版がそのカードを動かし行列ユニットを使えるかは、ここでは分かりません。
doctor-case-vulkan-denied = { $node } が開けません({ $error })。ほかのレンダーノードも開けません。Vulkan ドライバーはカードを見つけられず、プログラムは何も言わずに CPU で計算します。
doctor-case-vulkan-no-matrices = GGML_VK_DISABLE_COOPMAT={ $value }({ $place }): ggml の Vulkan バックエンドは行列ユニットを使いません。
doctor-case-vulkan-missing = { $manifest } が指す Vulkan ドライバーがありません: { $library }
doctor-case-vulkan-hidden = GGML_VK_VISIBLE_DEVICES={ $value }({ $place }): ggml に見える Vulkan デバイスはこれだけです。
doctor-case-vulkan-hidden-all = GGML_VK_VISIBLE_DEVICES が空に設定されています({ $place })。ggml には Vulkan デバイスがひとつも見えません。
doctor-case-vulkan-off = OLLAMA_VULKAN={ $value }({ $place }): Ollama は Vulkan を試しません。
doctor-case-vulkan-driver-fix = ディストリビューションの現行の Vulkan ドライバー(Debian、Ubuntu では mesa-vulkan-drivers)を入れて、もう一度調べてください。
doctor-case-vulkan-loader-fix = Vulkan ローダー(Debian、Ubuntu では libvulkan1)を入れて、サーバーを再起動してください。

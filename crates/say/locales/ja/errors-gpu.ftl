gpu-profile-toml = デバイスのプロファイルが正しい TOML ではありません: { $why }
gpu-profile-missing = { $card } のプロファイルに `[properties.{ $property }]` がありません。値と出典（origin）を書いてください
gpu-profile-range = { $card } のプロファイルの { $property } = { $value } は、どの GPU にもありえない値です
gpu-profile-set = `--set { $assignment }`: NAME=NUMBER の形で書いてください（例: multiProcessorCount=42）。gcnArchName=TARGET も使えます
gpu-profile-no-such = `--set { $name }`: プロファイルにその項目はありません。使える項目: gcnArchName、{ $known }
gpu-profile-unknown = `{ $wanted }` は既知のカードでもターゲットでもありません。{ $near }一覧は `whichkernel dryrun --list-gpus` で表示できます。プロファイルのファイル（PATH.toml）も指定できます
gpu-profile-nvidia = { $wanted } は NVIDIA のカード（{ $target }）です。ここでは AMD のカードを指定してください。一覧は `whichkernel dryrun --list-gpus` で表示できます
gpu-profile-near = { $near } のことですか。
gpu-profile-no-reference = { $target } には代表となるカードがありません。カード名か、プロファイルのファイル（PATH.toml）を指定してください
gpu-target-wrong = `{ $text }` は GPU ターゲットではありません。ターゲットは gfx1201 や gfx90a:sramecc+:xnack-、カードは rx-9070-xt のような形です。一覧は `whichkernel dryrun --list-gpus` で表示できます
gpu-target-unknown = { $wanted } は既知の GPU ターゲットではありません{ $near }。ターゲットは gfx1201、gfx90a:sramecc+:xnack-、gfx12-generic、sm_90a のような形です
gpu-target-near = （{ $near } のことですか）

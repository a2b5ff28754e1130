gpu-profile-toml = the device profile is not valid TOML: { $why }
gpu-profile-missing = the profile of { $card } lacks `[properties.{ $property }]`: add it with a value and an origin
gpu-profile-range = the profile of { $card } has { $property } = { $value }, which no GPU has
gpu-profile-set = `--set { $assignment }`: write it as NAME=NUMBER, for example multiProcessorCount=42; gcnArchName=TARGET also works
gpu-profile-no-such = `--set { $name }`: a profile has no such property. It has: gcnArchName, { $known }
gpu-profile-unknown = `{ $wanted }` is not a known card or target.{ $near } `whichkernel dryrun --list-gpus` lists the known ones; a profile file (PATH.toml) also works
gpu-profile-nvidia = { $wanted } is an NVIDIA card ({ $target }), but an AMD card is needed here; `whichkernel dryrun --list-gpus` lists them
gpu-profile-near = {" "}Did you mean { $near }?
gpu-profile-no-reference = { $target } has no reference card: specify a card or a profile file (PATH.toml)
gpu-target-wrong = `{ $text }` is not a GPU target. Targets look like gfx1201 or gfx90a:sramecc+:xnack-, and cards like rx-9070-xt; `whichkernel dryrun --list-gpus` lists them
gpu-target-unknown = { $wanted } is not a known GPU target{ $near }; targets look like gfx1201, gfx90a:sramecc+:xnack-, gfx12-generic or sm_90a
gpu-target-near = {" "}(did you mean { $near }?)
